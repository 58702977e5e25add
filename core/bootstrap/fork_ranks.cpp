// How the processes come about, and who is what in the end:
//
//   the program --fork--> its child --fork--> rank 0, rank 1 ...
//     |                     |
//     executes `causeway`   executes `causeway`, when the first has
//     the launcher          the keeper
//
// The ranks wait for their environment, which the keeper gives them.
#include "bootstrap/fork_ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/own_path.h"
#include "spawn/caller.h"
#include "spawn/handover.h"
#include "spawn/job_id.h"
#include "spawn/limits.h"
#include "spawn/pipes.h"
#include "spawn/rank_process.h"
#include "spawn/signal_block.h"

namespace causeway {
namespace {

// ThreadSanitizer's runtime has a thread of its own, which survives fork.
#if defined(__SANITIZE_THREAD__)
constexpr size_t kThreadsAllowed = 2;
#else
constexpr size_t kThreadsAllowed = 1;
#endif

// Bytes of the program's own words, which a list of processes shows behind the command's.
constexpr size_t kShownWords = 4096;

size_t count_threads() {
  std::error_code ignored;
  size_t count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/task", ignored), end; it != end;
       it.increment(ignored))
    ++count;
  return count;
}

std::vector<std::string> words_of_program() {
  std::vector<std::string> words;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  size_t size = 0;
  for (std::string word; std::getline(file, word, '\0');) {
    size += word.size() + 1;
    if (size > kShownWords) break;
    words.push_back(word);
  }
  if (words.empty()) words.emplace_back(program_invocation_name);
  return words;
}

// The command, which has to be there before anything is forked.
std::string find_command(uint32_t ranks) {
  const std::string path = own_command("causeway");
  if (path.empty())
    throw Error(CWY_ERR_UNREACHABLE,
                "a program that starts its own {} ranks needs the command `causeway` beside its "
                "library, and the system does not tell where that lies; use `causeway run -n {}`",
                ranks, ranks);
  if (::access(path.c_str(), X_OK) == 0) return path;
  throw Error(
      CWY_ERR_UNREACHABLE,
      "a program that starts its own {} ranks needs the command `causeway` at '{}', beside its "
      "library: {}; install it there, or use `causeway run -n {}`",
      ranks, path, std::strerror(errno), ranks);
}

// The standard descriptors as `causeway` is to have them, whatever the program meant for programs
// that it executes itself.
class StandardDescriptorsKept {
 public:
  StandardDescriptorsKept() {
    for (int fd = 0; fd <= 2; ++fd) {
      before_[fd] = ::fcntl(fd, F_GETFD);
      if (before_[fd] > 0) ::fcntl(fd, F_SETFD, before_[fd] & ~FD_CLOEXEC);
    }
  }
  ~StandardDescriptorsKept() {
    for (int fd = 0; fd <= 2; ++fd)
      if (before_[fd] > 0) ::fcntl(fd, F_SETFD, before_[fd]);
  }
  StandardDescriptorsKept(const StandardDescriptorsKept&) = delete;
  StandardDescriptorsKept& operator=(const StandardDescriptorsKept&) = delete;

 private:
  int before_[3];
};

bool keeps_action(int signal) {
  constexpr int kKept[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP,  SIGTTIN, SIGTTOU, SIGCHLD, SIGSEGV,
                           SIGBUS, SIGFPE,  SIGILL,  SIGTRAP, SIGABRT, SIGSYS,  SIGKILL, SIGSTOP};
  return only_passed_on(signal) ||
         std::find(std::begin(kKept), std::end(kKept), signal) != std::end(kKept);
}

// Signals that the program handles are ignored from now on: their default action, which execve(2)
// gives them back, would end the launcher where it had run a handler. The program's timers so do no
// harm. The signals that the launcher blocks and reads (SignalBlock), and those of faults, keep
// their actions. The destructor restores the handlers of a process that goes on.
class HandlersAside {
 public:
  HandlersAside() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction now {};
      if (keeps_action(signal) || ::sigaction(signal, nullptr, &now) != 0) continue;
      if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) continue;
      if (::sigaction(signal, &ignore, nullptr) == 0) before_.emplace_back(signal, now);
    }
  }
  ~HandlersAside() {
    for (const auto& [signal, action] : before_) ::sigaction(signal, &action, nullptr);
  }
  HandlersAside(const HandlersAside&) = delete;
  HandlersAside& operator=(const HandlersAside&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

// Returns errno when it has failed.
int execute(const std::string& command, const char* role, const Handover& handover) {
  const UniqueFd source = hand_over(handover);
  std::vector<std::string> words = {command, role, std::to_string(source.get())};
  for (std::string& word : words_of_program()) words.push_back(std::move(word));
  const HandlersAside handlers;
  const StandardDescriptorsKept descriptors;
  const std::vector<char*> argv = pointers_to(words);
  ::execv(command.c_str(), argv.data());
  return errno;
}

// Orphans below this process become its children.
class Subreaper {
 public:
  Subreaper() {
    ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, before_); }
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;

 private:
  int before_ = 0;
};

// Waits until the other end closes, as it does when its process executes `causeway`, or ends. False
// when that could not be executed, and the process goes on.
bool launcher_executed(const UniqueFd& launcher) {
  char byte = 0;
  ssize_t n = 0;
  while ((n = ::recv(launcher.get(), &byte, 1, 0)) < 0 && errno == EINTR) {
  }
  return n == 0;
}

[[noreturn]] void end_ranks(const std::vector<RankProcess>& ranks) {
  for (const RankProcess& rank : ranks)
    if (rank.running) ::kill(rank.pid, SIGKILL);
  for (const RankProcess& rank : ranks)
    if (rank.running) ::waitpid(rank.pid, nullptr, 0);
  ::_exit(1);
}

struct Start {
  std::string command;
  uint32_t ranks;
  Handover handover;
  SocketPair executed = make_sockets();  // closes as the launcher executes the command
  SocketPair partners = make_sockets();  // between launcher and keeper
};

// The keeper, until it executes the command. Returns in a rank.
void become_keeper(Start& start, const SignalBlock& signals) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  start.executed.mine.reset();
  start.partners.mine.reset();
  const pid_t self = ::getpid();
  std::vector<RankProcess>& ranks = start.handover.ranks;
  try {
    SpawnPlan plan;
    plan.stdin_process = 0;
    plan.signal_mask = signals.before();
    std::vector<uint32_t> numbers(start.ranks);
    std::iota(numbers.begin(), numbers.end(), 0u);
    {
      LowDescriptors low;
      if (spawn_ranks(ranks, numbers, plan, low)) return;
    }
    if (!launcher_executed(start.executed.theirs)) end_ranks(ranks);
    start.handover.partner = std::move(start.partners.theirs);
    const int failure = execute(start.command, kKeeperRole, start.handover);
    say_as("run", "cannot execute '" + start.command + "': " + std::strerror(failure));
  } catch (const std::exception& e) {
    if (::getpid() != self) ::_exit(1);
    say_as("run", e.what());
  }
  end_ranks(ranks);
}

// Ends the keeper and with it the ranks, unless this process has executed the command.
class KeeperEnded {
 public:
  KeeperEnded(const UniqueFd& to_keeper, pid_t keeper) : to_keeper_(to_keeper), keeper_(keeper) {}
  ~KeeperEnded() {
    ::send(to_keeper_.get(), "", 1, MSG_NOSIGNAL);
    while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  KeeperEnded(const KeeperEnded&) = delete;
  KeeperEnded& operator=(const KeeperEnded&) = delete;

 private:
  const UniqueFd& to_keeper_;
  const pid_t keeper_;
};

// Returns errno when it has failed, and nothing is left of the ranks. Throws Error likewise.
int become_launcher(Start& start, pid_t keeper) {
  const Subreaper subreaper;
  const KeeperEnded otherwise(start.executed.mine, keeper);
  start.executed.theirs.reset();
  start.partners.theirs.reset();
  start.handover.keeper = keeper;
  start.handover.partner = std::move(start.partners.mine);
  return execute(start.command, kLauncherRole, start.handover);
}

}  // namespace

bool may_fork_ranks() {
  return count_threads() <= kThreadsAllowed;
}

void fork_ranks(uint32_t ranks, double exit_grace_s, double kill_grace_s) {
  if (!may_fork_ranks())
    throw Error(CWY_ERR_INVALID,
                "this process is asked to fork {} ranks, but it already has more than one thread; "
                "initialise Causeway before any thread is started, or use `causeway run -n {}`",
                ranks, ranks);
  const std::string command = find_command(ranks);
  prepare_to_fork();
  Start start{command, ranks, {}};
  start.handover.job_id = new_job_id();
  start.handover.exit_grace_s = exit_grace_s;
  start.handover.kill_grace_s = kill_grace_s;
  const SignalBlock signals;
  const pid_t keeper = ::fork();
  if (keeper < 0) throw Error(CWY_ERR_NOMEM, "cannot start a process: {}", shortage(errno));
  if (keeper == 0) return become_keeper(start, signals);
  const int failure = become_launcher(start, keeper);
  throw Error(
      CWY_ERR_UNREACHABLE,
      "cannot execute '{}', which starts the program's {} ranks: {}; use `causeway run -n {}`",
      start.command, ranks, std::strerror(failure), ranks);
}

}  // namespace causeway
