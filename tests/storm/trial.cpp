#include "trial.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "../slowdown.h"
#include "end_plan.h"

namespace storm {
namespace {

namespace fs = std::filesystem;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A folder for what a job prints and for last words, which goes with the object.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "storm-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder: " + pattern);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> words_for(const Job& job, const Folder& folder) {
  const auto seconds = [](double s) { return std::to_string(static_cast<int>(s * kSlowdown)); };
  std::vector<std::string> words = {CAUSEWAY_COMMAND,          "run",       "-n",
                                    std::to_string(job.ranks), "--timeout", seconds(job.limit_s)};
  for (const std::string& flag : job.flags()) words.push_back(flag);
  words.push_back("--");
  if (!job.wrapper().empty()) words.push_back(job.wrapper());
  for (const std::string& word :
       {job.program, std::string("--seed"), std::to_string(job.seed), std::string("--ops"),
        print_ops(job.ops), std::string("--steps"), std::to_string(job.steps),
        std::string("--patience"), std::to_string(static_cast<int>(job.limit_s * 0.6))})
    words.push_back(word);
  if (job.ops >> static_cast<unsigned>(Family::ends) & 1) {
    words.push_back("--words");
    words.push_back(folder.path());
  }
  return words;
}

[[noreturn]] void become(std::vector<std::string> words, const Job& job, const Folder& folder) {
  ::setpgid(0, 0);
  for (const char* name : {"CAUSEWAY_RANKS", "CAUSEWAY_SET", "CAUSEWAY_CONFIG"}) ::unsetenv(name);
  for (const auto& [name, value] : job.environment()) ::setenv(name.c_str(), value.c_str(), 1);
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  const int out = ::open(folder.file("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  ::dup2(out, 1);
  ::dup2(out, 2);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(125);
}

// Its status as a shell shows it; -1 when the launcher did not end it in time.
int run_words(const Job& job, const Folder& folder) {
  const std::vector<std::string> words = words_for(job, folder);
  const pid_t pid = ::fork();
  if (pid == 0) become(words, job, folder);
  const double limit = now() + (job.limit_s + 30) * kSlowdown;
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (now() > limit) {
      ::kill(-pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The first line of a rank that says what was wrong; wrong data before hangs.
std::string first_line(const std::string& output, uint32_t& step, bool& named) {
  for (const char* word : {"FAIL rank ", "CRASH rank ", "HANG rank "}) {
    size_t at = output.find(word);
    while (at != std::string::npos && at != 0 && output[at - 1] != '\n')
      at = output.find(word, at + 1);
    if (at == std::string::npos) continue;
    const std::string line = output.substr(at, output.find('\n', at) - at);
    unsigned rank = 0;
    named = std::sscanf(line.c_str(), "%*s rank %u step %u", &rank, &step) == 2;
    return line;
  }
  return "";
}

// The missing part of the last words that ranks wrote before their own ends.
std::string missing_words(const Job& job, const EndPlan& plan, const std::string& output,
                          const Folder& folder) {
  for (uint32_t rank = 0; rank < job.ranks; ++rank) {
    if (!plan.orderly() && rank != plan.rank) continue;
    const std::string words = words_of(rank);
    if (read_file(folder.file(std::to_string(rank))) != words)
      return "the file with the " + words + " is missing";
    if (output.find(words + "\n") == std::string::npos)
      return "the line with the " + words + " is missing";
  }
  return "";
}

}  // namespace

Verdict run_trial(const Job& job) {
  const Folder folder;
  Verdict verdict;
  const double start = now();
  const int status = run_words(job, folder);
  verdict.seconds = now() - start;
  verdict.output = read_file(folder.file("out"));
  Options options;
  options.seed = job.seed;
  options.ops = job.ops;
  const EndPlan plan = end_of(options, job.ranks);
  verdict.reason = first_line(verdict.output, verdict.step, verdict.named);
  const std::string end = ", though " + describe(plan);
  if (verdict.reason.empty() && status == -1) {
    verdict.reason = "the launcher did not end the job within its time limit";
  } else if (verdict.reason.empty() && status != plan.status) {
    verdict.reason =
        "status " + std::to_string(status) + ", expected " + std::to_string(plan.status) + end;
  } else if (verdict.reason.empty() && options.has(Family::ends)) {
    verdict.reason = missing_words(job, plan, verdict.output, folder);
    if (!verdict.reason.empty()) verdict.reason += end;
  }
  verdict.good = verdict.reason.empty();
  return verdict;
}

}  // namespace storm
