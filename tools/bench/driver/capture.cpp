#include "capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace causeway::bench {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(fmt::format("{}: {}", what, strerror(errno)));
}

// In the child: only calls that are safe after fork.
[[noreturn]] void become(char* const* argv, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);  // it died before the line above
  dup2(output, STDOUT_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n > 0)
      text.append(buffer, static_cast<size_t>(n));
    else if (n == 0 || errno != EINTR)
      return text;
  }
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

int wait_status(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("waitpid");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Captured run_captured(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    fail("fork");
  }
  if (child == 0) become(argv.data(), ends[1], parent);
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  return {wait_status(child), split_lines(text)};
}

std::string executable_path() {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0) fail("/proc/self/exe");
  return std::string(path, static_cast<size_t>(n));
}

std::string measuring_program(const std::string& tool) {
  const std::string program = std::filesystem::path(tool).parent_path().parent_path() /
                              CAUSEWAY_LIBEXECDIR / "causeway" / "causeway-bench";
  if (access(program.c_str(), X_OK) != 0)
    throw std::runtime_error(
        fmt::format("{} is missing; it is built and installed with this tool", program));
  return program;
}

}  // namespace causeway::bench
