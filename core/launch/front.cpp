#include "launch/front.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "launch/clock.h"
#include "launch/process_tree.h"
#include "spawn/caller.h"
#include "spawn/limits.h"
#include "spawn/pipes.h"

namespace causeway::launch {
namespace {

// Beyond the keeper's own grace: then it is stuck (its output's reader does not read) or stopped.
constexpr double kKeeperPatience = 2.0;
constexpr int kLookForKeeperMs = 20;

std::set<pid_t> children_now() {
  const std::vector<pid_t> list = children_of(::getpid());
  return {list.begin(), list.end()};
}

// Leaves it to be reaped. True also where that cannot be asked: the reaping waits.
bool has_ended(pid_t keeper) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(keeper), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == keeper;
}

}  // namespace

void keep(const char* who, SessionDir& session,
          const std::function<std::unique_ptr<Keeper>()>& make) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  int status = 1;
  const pid_t self = ::getpid();
  try {
    session.make();
    const auto keeper = make();
    keeper->spawn();
    ::prctl(PR_SET_NAME, "causeway-keeper");
    status = keeper->supervise();
    // Sinks' writers may be stuck in write(2), PMIx's thread has nothing left to do: _exit ends
    // them, and sweeping removes what the server library would have removed.
    session.sweep();
    ::_exit(status);
  } catch (const std::system_error& e) {
    if (::getpid() != self) ::_exit(1);
    // That is how a thread says that it could not be had.
    const bool thread = e.code() == std::errc::resource_unavailable_try_again ||
                        e.code() == std::errc::operation_not_permitted;
    say_as(who, thread ? "cannot start a thread: " + shortage(e.code().value()) +
                             "; limits of memory (ulimit -d, ulimit -v) count too"
                       : e.what());
  } catch (const std::exception& e) {
    if (::getpid() != self) ::_exit(1);
    say_as(who, e.what());
  }
  kill_descendants({}, 2.0);
  session.sweep();
  ::_exit(status);
}

Front::Front(const char* who, double kill_grace_s, SessionDir session)
    : who_(who),
      kill_grace_s_(kill_grace_s),
      signal_fd_(::signalfd(-1, &signals_.handled(), SFD_CLOEXEC | SFD_NONBLOCK)),
      session_(std::move(session)) {
  epoll_event none;
  demand_call(static_cast<bool>(signal_fd_), "signalfd");  // errno is still its own
  demand_call(::poll(nullptr, 0, 0) == 0, "poll");
  demand_call(::epoll_wait(-1, &none, 1, 0) == 0 || errno == EBADF, "epoll_wait");
  earlier_children_ = children_now();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int Front::run(const MakeKeeper& make_keeper) {
  SocketPair ends = make_sockets();
  const pid_t keeper = ::fork();
  if (keeper < 0) throw Error(CWY_ERR_NOMEM, "cannot start a process: {}", shortage(errno));
  if (keeper == 0) {
    ends.mine.reset();
    signal_fd_.reset();
    keep(who_, session_, [this, &make_keeper, &ends] {
      return make_keeper(session_, std::move(ends.theirs), signals_.before());
    });
  }
  ends.theirs.reset();
  if (after_fork_) after_fork_();
  return watch(keeper, ends.mine.get());
}

int Front::watch(pid_t keeper, int to_keeper) {
  earlier_children_.erase(keeper);
  // Not pidfd_open(): glibc 2.36 declares it without C linkage.
  UniqueFd keeper_fd(static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0)));
  int stop_signal = 0;
  double give_up = last_moment_;
  bool overdue = false;
  for (;;) {
    pollfd fds[2] = {{signal_fd_.get(), POLLIN, 0}, {keeper_fd.get(), POLLIN, 0}};
    // Without pidfds (kernels before 5.3, valgrind) the keeper's end has to be looked for.
    ::poll(fds, 2, keeper_fd ? ms_until(give_up) : kLookForKeeperMs);
    if (fds[1].revents != 0 || (!keeper_fd && has_ended(keeper))) break;
    if (now_s() > give_up) {
      ::kill(keeper, SIGKILL);
      give_up = kNever;
      overdue = stop_signal == 0;
    }
    signalfd_siginfo info{};
    if (::read(signal_fd_.get(), &info, sizeof info) != sizeof info) continue;
    pass_on(static_cast<int>(info.ssi_signo), to_keeper);
    if (only_passed_on(static_cast<int>(info.ssi_signo))) continue;
    if (stop_signal == 0) stop_signal = static_cast<int>(info.ssi_signo);
    give_up = std::min(give_up, now_s() + kill_grace_s_ + kKeeperPatience);
  }
  int wait_status = 0;
  while (::waitpid(keeper, &wait_status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  kill_descendants(earlier_children_, 2.0);
  session_.sweep();
  if (stop_signal != 0) return 128 + stop_signal;
  if (overdue) {
    say_as(who_, "the time limit has passed and the keeper process did not end; the job is ended");
    return 124;
  }
  say_as(who_, fmt::format("the keeper process was killed by signal {}; the job is ended",
                           WTERMSIG(wait_status)));
  return 128 + WTERMSIG(wait_status);
}

// A stop is for the ranks first, then for this process, so that the user's shell sees it.
void Front::pass_on(int signal, int to_keeper) {
  const auto send = [to_keeper](int number) {
    const unsigned char byte = static_cast<unsigned char>(number);
    ::send(to_keeper, &byte, 1, MSG_NOSIGNAL);
  };
  send(signal);
  if (signal != SIGTSTP) return;
  ::raise(SIGSTOP);
  send(SIGCONT);
}

}  // namespace causeway::launch
