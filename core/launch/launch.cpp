#include "launch/launch.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"
#include "launch/clock.h"
#include "launch/front.h"
#include "launch/job.h"
#include "launch/process_tree.h"
#include "launch/relay.h"
#include "launch/session_dir.h"
#include "spawn/caller.h"
#include "spawn/handover.h"

namespace causeway {
namespace {

// Beyond a job's time limit: SIGQUIT, SIGKILL, hosts that do not answer, and the farewell to the
// others have bounds of their own, which together are less than this.
double over_time(const LaunchOptions& options) {
  return 2 * options.kill_grace_s + 10.0 + 0.02 * (options.ranks + options.spares);
}

constexpr unsigned char kReady = 0;  // no number of a signal

// False when the launcher's process has ended.
bool launcher_is_ready(const UniqueFd& launcher) {
  unsigned char byte = 0;
  ssize_t n = 0;
  while ((n = ::recv(launcher.get(), &byte, 1, 0)) < 0 && errno == EINTR) {
  }
  return n == 1 && byte == kReady;
}

// In the process that the user started; the job's status.
int run_launcher(Handover handover) {
  launch::Front front("run", handover.kill_grace_s, launch::SessionDir(handover.job_id));
  ::send(handover.partner.get(), &kReady, 1, MSG_NOSIGNAL);
  return front.watch(handover.keeper, handover.partner.get());
}

// In its child, whose children the ranks are. The ranks go on when the launcher is ready: from then
// on it knows what was there before them.
[[noreturn]] void run_keeper(Handover handover) {
  const SignalBlock signals;
  if (!launcher_is_ready(handover.partner)) {
    launch::kill_descendants({}, 2.0);
    ::_exit(1);
  }
  LaunchOptions options;
  options.ranks = static_cast<uint32_t>(handover.ranks.size());
  options.exit_grace_s = handover.exit_grace_s;
  options.kill_grace_s = handover.kill_grace_s;
  launch::SessionDir session(handover.job_id);
  launch::keep("run", session, [&] {
    return std::make_unique<launch::Job>(options, session, std::move(handover.partner),
                                         signals.before(), std::move(handover.ranks));
  });
}

// -1 where the word names none, or one of the standard descriptors.
int descriptor_of(const char* word) {
  char* end = nullptr;
  const long number = std::strtol(word, &end, 10);
  return *word != '\0' && *end == '\0' && number > STDERR_FILENO && number <= INT_MAX
             ? static_cast<int>(number)
             : -1;
}

}  // namespace

std::vector<Program> LaunchOptions::programs_on(uint32_t host) const {
  std::vector<Program> list = programs;
  if (host == 0 && !first_host_program.empty()) list[0].command[0] = first_host_program;
  return list;
}

int launch_job(const LaunchOptions& options) {
  prepare_to_fork();
  launch::Front front("run", options.kill_grace_s, launch::SessionDir());
  if (options.timeout_s)
    front.set_last_moment(launch::now_s() + *options.timeout_s + over_time(options));
  return front.run([&options](const launch::SessionDir& session, UniqueFd to_front,
                              const sigset_t& mask) -> std::unique_ptr<launch::Keeper> {
    return std::make_unique<launch::Job>(options, session, std::move(to_front), mask);
  });
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
    launch::Front front("relay", order.kill_grace_s,
                        launch::SessionDir(launch::relay_session(order)));
    // The end of the keeper must be the end of the connection.
    front.after_fork([&joined] { joined.link = {}; });
    return front.run([&joined](const launch::SessionDir& session, UniqueFd to_front,
                               const sigset_t& mask) -> std::unique_ptr<launch::Keeper> {
      return std::make_unique<launch::Relay>(joined.order, session, std::move(joined.link),
                                             std::move(to_front), mask);
    });
  } catch (const Error& e) {
    say_as("relay", e.text());
    return 1;
  }
}

// A handover that cannot be taken is complained of once, by the launcher.
std::optional<int> run_forked(int argc, char** argv) {
  if (argc < 3) return std::nullopt;
  const bool launcher = std::strcmp(argv[1], kLauncherRole) == 0;
  if (!launcher && std::strcmp(argv[1], kKeeperRole) != 0) return std::nullopt;
  open_standard_descriptors();
  try {
    Handover handover = take_over(descriptor_of(argv[2]));
    if (launcher) return run_launcher(std::move(handover));
    run_keeper(std::move(handover));
  } catch (const Error& e) {
    if (launcher) say_as("run", e.text());
    return 1;
  }
}

}  // namespace causeway
