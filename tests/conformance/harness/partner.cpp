#include "partner.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "session.h"
#include "wire.h"

namespace causeway::conformance {
namespace {

bool g_killed_open = false;

// Partner side ------------------------------------------------------------------------------

void serve_call(Side& side, const Command& command, int control) {
  auto result = std::make_unique<Result>();
  try {
    command.thunk(side, command.fn, command.argument, result->value);
    result->ok = 1;
  } catch (const Skip& skip) {
    result->ok = 2;
    fmt::format_to_n(result->text, sizeof result->text - 1, "{}", skip.capability);
  } catch (const std::exception& e) {
    fmt::format_to_n(result->text, sizeof result->text - 1, "{}", e.what());
  }
  if (send(control, result.get(), sizeof *result, MSG_NOSIGNAL) < 0) _exit(0);
}

// Crashes of the plugin in the partner are reported by the harness, which reaps it.
void default_signals() {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) {
    signal(number, SIG_DFL);
  }
}

}  // namespace

void partner_main(const Settings& settings, uint32_t epoch, int control) {
  default_signals();
  PluginHost::set_identity(settings, 1, epoch);
  Side side(settings);
  auto command = std::make_unique<Command>();
  bool held = false;
  for (uint32_t round = 0;; ++round) {
    const bool busy = side.ep && !held;
    if (!busy) {
      pollfd p{control, POLLIN, 0};
      poll(&p, 1, -1);
    } else if (side.ep->progress() != 0) {
      if (round % 16 != 0) continue;  // a look at the control connection costs a system call
    } else {
      sched_yield();
    }
    const ssize_t got = recv(control, command.get(), sizeof *command, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) _exit(0);
    switch (command->kind) {
      case CommandKind::call:
        serve_call(side, *command, control);
        break;
      case CommandKind::hold:
        held = true;
        break;
      case CommandKind::resume:
        held = false;
        break;
    }
  }
}

// Harness side ------------------------------------------------------------------------------

Partner::Partner(uint32_t epoch) : epoch_(epoch) {
  fd_ = Zygote::spawn(epoch, pid_);
}

Partner::~Partner() {
  kill();
}

bool Partner::killed_open() {
  return std::exchange(g_killed_open, false);
}

void Partner::kill() {
  if (fd_ < 0) return;
  g_killed_open |= !closed_;
  Zygote::kill_and_reap(pid_);
  close(fd_);
  fd_ = -1;
}

void Partner::died() {
  g_killed_open = true;
  const int status = Zygote::kill_and_reap(pid_);
  close(fd_);
  fd_ = -1;
  if (WIFSIGNALED(status)) {
    throw Stuck(fmt::format("the partner process was ended by signal {} ({})", WTERMSIG(status),
                            strsignal(WTERMSIG(status))));
  }
  throw Stuck(fmt::format("the partner process ended with status {}", WEXITSTATUS(status)));
}

void Partner::send_call(Thunk run, void (*fn)(), const void* arg, size_t length) {
  auto command = std::make_unique<Command>();
  command->kind = CommandKind::call;
  command->length = static_cast<uint32_t>(length);
  command->thunk = run;
  command->fn = fn;
  std::memcpy(command->argument, arg, length);
  if (fd_ < 0 || send(fd_, command.get(), sizeof *command, MSG_NOSIGNAL) < 0) died();
}

void Partner::hold() {
  Command command{};
  command.kind = CommandKind::hold;
  if (send(fd_, &command, sizeof command, MSG_NOSIGNAL) < 0) died();
}

void Partner::resume() {
  Command command{};
  command.kind = CommandKind::resume;
  if (send(fd_, &command, sizeof command, MSG_NOSIGNAL) < 0) died();
}

void Partner::receive_result(void* value, size_t length, const std::function<void()>& meanwhile,
                             double seconds) {
  const Deadline deadline("the partner's answer", seconds);
  auto result = std::make_unique<Result>();
  for (;;) {
    const ssize_t got = recv(fd_, result.get(), sizeof *result, MSG_DONTWAIT);
    if (got > 0) break;
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) died();
    if (meanwhile) {
      meanwhile();
    } else {
      pollfd p{fd_, POLLIN, 0};
      poll(&p, 1, 10);
    }
    deadline.check();
  }
  if (result->ok == 2) throw Skip{result->text};
  if (result->ok != 1) throw Stuck(fmt::format("in the partner: {}", result->text));
  std::memcpy(value, result->value, length);
}

}  // namespace causeway::conformance
