#include "launch/forked.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "launch/front.h"
#include "launch/job.h"
#include "launch/launch.h"
#include "launch/process_tree.h"

namespace causeway::launch {
namespace {

constexpr unsigned char kReady = 0;  // no number of a signal

// False when the launcher's process has ended.
bool launcher_is_ready(const UniqueFd& launcher) {
  unsigned char byte = 0;
  ssize_t n = 0;
  while ((n = ::recv(launcher.get(), &byte, 1, 0)) < 0 && errno == EINTR) {
  }
  return n == 1 && byte == kReady;
}

}  // namespace

int run_launcher(Handover handover) {
  Front front("run", handover.kill_grace_s, SessionDir(handover.job_id));
  ::send(handover.partner.get(), &kReady, 1, MSG_NOSIGNAL);
  return front.watch(handover.keeper, handover.partner.get());
}

// The ranks go on when the launcher is ready: from then on it knows what was there before them.
void run_keeper(Handover handover) {
  const SignalBlock signals;
  if (!launcher_is_ready(handover.partner)) {
    kill_descendants({}, 2.0);
    ::_exit(1);
  }
  LaunchOptions options;
  options.ranks = static_cast<uint32_t>(handover.ranks.size());
  options.exit_grace_s = handover.exit_grace_s;
  options.kill_grace_s = handover.kill_grace_s;
  SessionDir session(handover.job_id);
  keep("run", session, [&] {
    return std::make_unique<Job>(options, session, std::move(handover.partner), signals.before(),
                                 std::move(handover.ranks));
  });
}

}  // namespace causeway::launch
