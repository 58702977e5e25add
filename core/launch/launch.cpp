// The front: the process that the user sees. It starts the keeper, passes signals on to it, takes
// its status, and cleans up in its place when it is killed.
#include "launch/launch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <system_error>

#include "base/error.h"
#include "launch/clock.h"
#include "launch/job.h"
#include "launch/process_tree.h"
#include "launch/relay.h"
#include "launch/relay_start.h"
#include "launch/session_dir.h"
#include "launch/workforce.h"
#include "spawn/limits.h"

namespace causeway {
namespace {

// Beyond the keeper's own grace: then it is stuck (its output's reader does not read) or stopped.
constexpr double kKeeperPatience = 2.0;
// Beyond a job's time limit: SIGQUIT, SIGKILL, hosts that do not answer, and the farewell to the
// others have bounds of their own, which together are less than this.
double over_time(const LaunchOptions& options) {
  return 2 * options.kill_grace_s + 10.0 + 0.02 * (options.ranks + options.spares);
}
constexpr int kLookForKeeperMs = 20;

void say(const std::string& line, const char* who = "run") {
  const std::string text = fmt::format("causeway {}: {}\n", who, line);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

// A closed standard descriptor would be given to the next file that is opened.
void open_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", O_RDWR);
  }
}

// The ranks start there all the same, but nothing that is named from there will be found.
void look_at_directory() {
  std::error_code failed;
  const std::filesystem::path here = std::filesystem::current_path(failed);
  if (here.empty())
    say(fmt::format("warning: the current directory cannot be read ({}); was it removed?",
                    failed.message()));
}

// Blocks the signals that the launcher handles. SIGHUP and SIGTSTP stay ignored where the caller
// ignores them (nohup); the others are handled even so, because a script's background jobs start
// with SIGINT and SIGQUIT ignored and could not be ended by them.
class SignalBlock {
 public:
  SignalBlock() {
    sigemptyset(&handled_);
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP}) {
      struct sigaction now {};
      ::sigaction(signal, nullptr, &now);
      const bool optional = signal == SIGHUP || signal == SIGTSTP;
      if (!optional || now.sa_handler != SIG_IGN) sigaddset(&handled_, signal);
    }
    sigset_t blocked = handled_;
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD})
      sigaddset(&blocked, signal);
    ::sigprocmask(SIG_BLOCK, &blocked, &before_);
    // An ignored SIGCHLD would have the kernel reap the keeper and the ranks, statuses and all.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &standard, &child_before_);
    fd_ = UniqueFd(::signalfd(-1, &handled_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~SignalBlock() {
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalBlock(const SignalBlock&) = delete;

  int fd() const { return fd_.get(); }
  void close_fd() { fd_.reset(); }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t handled_{}, before_{};
  struct sigaction child_before_ {};
  UniqueFd fd_;
};

// Makes what runs below the front, in the keeper's process.
using MakeKeeper = std::function<std::unique_ptr<launch::Keeper>(
    const launch::SessionDir&, UniqueFd front, const sigset_t& caller_mask)>;

class Front {
 public:
  // `who`: the subcommand, for messages.
  Front(const char* who, double kill_grace_s, launch::SessionDir session, MakeKeeper make_keeper)
      : who_(who),
        kill_grace_s_(kill_grace_s),
        make_keeper_(std::move(make_keeper)),
        session_(std::move(session)),
        earlier_children_(earlier_children()) {}

  // The keeper ends the job at its time limit; it is killed when it has not ended by then.
  void set_last_moment(double at) { last_moment_ = at; }

  // Runs in the front once the keeper has been forked: for what only the keeper should have.
  void after_fork(std::function<void()> action) { after_fork_ = std::move(action); }

  // True in a rank (fork mode). Otherwise `status` is the job's.
  bool run(int& status) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw Error(CWY_ERR_NOMEM, "cannot create a socket: {}", shortage(errno));
    UniqueFd mine(ends[0]), keepers(ends[1]);
    const pid_t keeper = ::fork();
    if (keeper < 0) throw Error(CWY_ERR_NOMEM, "cannot start a process: {}", shortage(errno));
    if (keeper == 0) {
      mine.reset();
      return keep(std::move(keepers));
    }
    keepers.reset();
    if (after_fork_) after_fork_();
    status = watch(keeper, mine.get());
    return false;
  }

 private:
  static std::set<pid_t> earlier_children() {
    const std::vector<pid_t> list = launch::children_of(::getpid());
    return {list.begin(), list.end()};
  }

  // The keeper's whole life, and the ranks' beginning. Returns true in a rank.
  bool keep(UniqueFd front) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    signals_.close_fd();
    int status = 1;
    const pid_t self = ::getpid();
    try {
      session_.make();
      const auto keeper = make_keeper_(session_, std::move(front), signals_.before());
      if (keeper->spawn()) return true;
      ::prctl(PR_SET_NAME, "causeway-keeper");
      status = keeper->supervise();
      // Sinks' writers may be stuck in write(2), PMIx's thread has nothing left to do: _exit ends
      // them, and sweeping removes what the server library would have removed.
      session_.sweep();
      ::_exit(status);
    } catch (const std::system_error& e) {
      if (::getpid() != self) ::_exit(1);
      // That is how a thread says that it could not be had.
      const bool thread = e.code() == std::errc::resource_unavailable_try_again;
      say(thread ? "cannot start a thread: " + shortage(EAGAIN) : e.what(), who_);
    } catch (const std::exception& e) {
      if (::getpid() != self) ::_exit(1);
      say(e.what(), who_);
    }
    launch::kill_descendants({}, 2.0);
    session_.sweep();
    ::_exit(status);
  }

  int watch(pid_t keeper, int to_keeper) {
    // Not pidfd_open(): glibc 2.36 declares it without C linkage.
    UniqueFd keeper_fd(static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0)));
    int stop_signal = 0;
    double give_up = last_moment_;
    bool overdue = false;
    for (;;) {
      pollfd fds[2] = {{signals_.fd(), POLLIN, 0}, {keeper_fd.get(), POLLIN, 0}};
      const double left = give_up - launch::now_s();
      int ms = std::isinf(give_up) ? -1 : static_cast<int>(std::clamp(left, 0.0, 1e5) * 1e3) + 1;
      // Without pidfds (kernels before 5.3, valgrind) the keeper's end has to be looked for.
      if (!keeper_fd) ms = kLookForKeeperMs;
      ::poll(fds, 2, ms);
      if (fds[1].revents != 0 || (!keeper_fd && has_ended(keeper))) break;
      if (launch::now_s() > give_up) {
        ::kill(keeper, SIGKILL);
        give_up = launch::kNever;
        overdue = stop_signal == 0;
      }
      signalfd_siginfo info{};
      if (::read(signals_.fd(), &info, sizeof info) != sizeof info) continue;
      pass_on(static_cast<int>(info.ssi_signo), to_keeper);
      if (info.ssi_signo == SIGTSTP) continue;
      if (stop_signal == 0) stop_signal = static_cast<int>(info.ssi_signo);
      give_up = std::min(give_up, launch::now_s() + kill_grace_s_ + kKeeperPatience);
    }
    int wait_status = 0;
    while (::waitpid(keeper, &wait_status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
    launch::kill_descendants(earlier_children_, 2.0);
    session_.sweep();
    if (stop_signal != 0) return 128 + stop_signal;
    if (overdue) {
      say("the time limit has passed and the keeper process did not end; the job is ended", who_);
      return 124;
    }
    say(fmt::format("the keeper process was killed by signal {}; the job is ended",
                    WTERMSIG(wait_status)),
        who_);
    return 128 + WTERMSIG(wait_status);
  }

  // Leaves it to be reaped.
  static bool has_ended(pid_t keeper) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(keeper), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == keeper;
  }

  // A stop is for the ranks first, then for this process, so that the user's shell sees it.
  void pass_on(int signal, int to_keeper) {
    const auto send = [to_keeper](int number) {
      const unsigned char byte = static_cast<unsigned char>(number);
      ::send(to_keeper, &byte, 1, MSG_NOSIGNAL);
    };
    send(signal);
    if (signal != SIGTSTP) return;
    ::raise(SIGSTOP);
    send(SIGCONT);
  }

  const char* who_;
  double kill_grace_s_;
  double last_moment_ = launch::kNever;
  MakeKeeper make_keeper_;
  std::function<void()> after_fork_;
  SignalBlock signals_;
  launch::SessionDir session_;
  std::set<pid_t> earlier_children_;
};

void flush_everything() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

size_t count_threads() {
  std::error_code ignored;
  size_t count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/task", ignored), end; it != end;
       it.increment(ignored))
    ++count;
  return count;
}

// ThreadSanitizer's runtime has a thread of its own, which survives fork.
#if defined(__SANITIZE_THREAD__)
constexpr size_t kThreadsAllowed = 2;
#else
constexpr size_t kThreadsAllowed = 1;
#endif

// As for Front::run().
bool run_front(const LaunchOptions& options, int& status) {
  Front front("run", options.kill_grace_s, launch::SessionDir(),
              [&options](const launch::SessionDir& session, UniqueFd to_front,
                         const sigset_t& mask) -> std::unique_ptr<launch::Keeper> {
                return std::make_unique<launch::Job>(options, session, std::move(to_front), mask);
              });
  if (options.timeout_s)
    front.set_last_moment(launch::now_s() + *options.timeout_s + over_time(options));
  return front.run(status);
}

}  // namespace

int launch_job(const LaunchOptions& options) {
  open_standard_descriptors();
  look_at_directory();
  flush_everything();
  int status = 1;
  run_front(options, status);
  return status;
}

int run_relay() {
  open_standard_descriptors();
  launch::Joined joined;
  try {
    joined = launch::join_launcher(STDIN_FILENO);
    if (!joined.order.directory.empty() && ::chdir(joined.order.directory.c_str()) != 0)
      throw Error(CWY_ERR_INVALID, "cannot go to the directory '{}': {}; see --directory",
                  joined.order.directory, std::strerror(errno));
    const launch::StartOrder& order = joined.order;
    Front front("relay", order.kill_grace_s, launch::SessionDir(launch::relay_session(order)),
                [&joined](const launch::SessionDir& session, UniqueFd to_front,
                          const sigset_t& mask) -> std::unique_ptr<launch::Keeper> {
                  return std::make_unique<launch::Relay>(
                      joined.order, session, std::move(joined.socket), std::move(to_front), mask);
                });
    // The end of the keeper must be the end of the connection.
    front.after_fork([&joined] { joined.socket.reset(); });
    int status = 1;
    front.run(status);
    return status;
  } catch (const Error& e) {
    say(e.text(), "relay");
    return 1;
  }
}

bool may_fork_ranks() {
  return count_threads() <= kThreadsAllowed;
}

bool launch_forked(const LaunchOptions& options) {
  if (!may_fork_ranks())
    throw Error(CWY_ERR_INVALID,
                "this process is asked to fork {} ranks, but it already has more than one thread; "
                "initialise Causeway before any thread is started, or use `causeway run -n {}`",
                options.ranks, options.ranks);
  open_standard_descriptors();
  look_at_directory();
  // Every rank would write again what is buffered now.
  flush_everything();
  int status = 1;
  if (run_front(options, status)) return true;
  ::_exit(status);
}

}  // namespace causeway
