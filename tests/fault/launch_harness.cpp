#include "launch_harness.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace launch_test {
namespace {

namespace fs = std::filesystem;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void nap() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// "State" and "comm" of a process; false when it is gone or dead.
bool alive(pid_t pid, std::string& name, pid_t& parent) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const size_t open = stat.find('('), close = stat.rfind(')');
  if (close == std::string::npos) return false;
  name = stat.substr(open + 1, close - open - 1);
  std::istringstream rest(stat.substr(close + 1));
  char state = 'Z';
  rest >> state >> parent;
  return state != 'Z' && state != 'X';
}

}  // namespace

std::string run_command() {
  return CAUSEWAY_COMMAND;
}

Command::Command(std::vector<std::string> words,
                 std::vector<std::pair<std::string, std::string>> environment)
    : words_(std::move(words)), environment_(std::move(environment)) {
  std::string pattern = (fs::temp_directory_path() / "launch-test-XXXXXX").string();
  directory_ = ::mkdtemp(pattern.data());
  mark_ = "LAUNCH_TEST_MARK=" + directory_;
  fs::create_directory(directory_ + "/tmp");
  out_path_ = directory_ + "/out";
  stdin_path_ = "/dev/null";
}

Command::~Command() {
  for (const pid_t pid : marked()) ::kill(pid, SIGKILL);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

Command& Command::stdin_text(const std::string& text) {
  stdin_path_ = directory_ + "/in";
  std::ofstream(stdin_path_, std::ios::binary) << text;
  return *this;
}

Command& Command::stdout_to(const std::string& path) {
  captures_out_ = false;
  close_out_ = path == "-";
  if (!close_out_) out_path_ = path;
  return *this;
}

void Command::become_command() {
  ::setenv("LAUNCH_TEST_MARK", directory_.c_str(), 1);
  ::setenv("TMPDIR", (directory_ + "/tmp").c_str(), 1);
  for (const char* name : {"CAUSEWAY_RANKS", "CAUSEWAY_SET", "CAUSEWAY_CONFIG"}) ::unsetenv(name);
  for (const auto& [name, value] : environment_) ::setenv(name.c_str(), value.c_str(), 1);
  ::dup2(::open(stdin_path_.c_str(), O_RDONLY), 0);
  ::dup2(::open(out_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
  ::dup2(::open((directory_ + "/err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600), 2);
  if (close_out_) ::close(1);
  std::vector<char*> argv;
  for (std::string& word : words_) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(125);
}

void Command::start() {
  started_ = now();
  pid_ = ::fork();
  if (pid_ == 0) become_command();
}

pid_t Command::keeper() const {
  for (const pid_t pid : marked()) {
    std::string name;
    pid_t parent = 0;
    if (alive(pid, name, parent) && parent == pid_) return pid;
  }
  return 0;
}

bool Command::wait_for_output(const std::string& text, size_t times, double limit_s) {
  const double limit = now() + limit_s * kSlowdown;
  while (count(read_file(out_path_), text) < times) {
    if (now() > limit) return false;
    nap();
  }
  return true;
}

Result Command::wait(double limit_s) {
  Result result;
  const double limit = now() + limit_s * kSlowdown;
  int wait_status = 0;
  while (::waitpid(pid_, &wait_status, WNOHANG) == 0) {
    if (now() > limit) {
      ADD_FAILURE() << "still running after " << limit_s * kSlowdown
                    << " s: " << read_file(out_path_);
      ::kill(pid_, SIGKILL);
    }
    nap();
  }
  pid_ = -1;
  result.seconds = now() - started_;
  result.status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  result.out = captures_out_ ? read_file(out_path_) : "";
  result.err = read_file(directory_ + "/err");
  return result;
}

std::vector<pid_t> Command::marked() const {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (pid <= 0) continue;
    const std::string environment = read_file(entry.path().string() + "/environ");
    if (environment.find(mark_) != std::string::npos) found.push_back(pid);
  }
  return found;
}

std::vector<std::pair<pid_t, std::string>> Command::processes() const {
  std::vector<std::pair<pid_t, std::string>> found;
  for (const pid_t pid : marked()) {
    std::string name;
    pid_t parent = 0;
    if (alive(pid, name, parent)) found.emplace_back(pid, name);
  }
  return found;
}

std::vector<std::string> Command::left_processes(double patience_s) const {
  std::vector<std::string> left;
  // When the front is killed, the keeper needs a moment.
  for (const double limit = now() + patience_s; now() < limit; nap()) {
    left.clear();
    for (const auto& [pid, name] : processes()) left.push_back(std::to_string(pid) + " " + name);
    if (left.empty()) break;
  }
  return left;
}

std::vector<std::string> Command::left_files() const {
  std::vector<std::string> left;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(directory_ + "/tmp", ignored))
    left.push_back(entry.path().string());
  return left;
}

std::vector<std::string> job(int ranks, std::vector<std::string> words,
                             std::vector<std::string> flags) {
  std::vector<std::string> all{run_command(), "run", "-n", std::to_string(ranks)};
  all.insert(all.end(), flags.begin(), flags.end());
  all.push_back("--");
  all.push_back(rank_program());
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size()))
    ++found;
  return found;
}

void expect_clean(const Command& command, double patience_s) {
  const std::vector<std::string> left = command.left_processes(patience_s);
  EXPECT_TRUE(left.empty()) << left.front();
  EXPECT_TRUE(command.left_files().empty()) << command.left_files().front();
}

}  // namespace launch_test
