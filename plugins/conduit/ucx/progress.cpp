// Moving things forward, and sleeping until something moves.
#include <algorithm>

#include "endpoint.h"
#include "services.h"

namespace causeway::ucx {
namespace {

// The clock is looked at once in so many polls in vain.
constexpr uint32_t polls_per_look = 1024;

bool has_work(const cwyc_ep* ep) {
  return !ep->dirty.empty() || !ep->held[0].empty() || !ep->held[1].empty() || !ep->late.empty();
}

// Has a peer ended that never answered?
bool has_unanswered(const cwyc_ep* ep) {
  return std::ranges::any_of(
      ep->links, [](const auto& link) { return awaits_answer(*link) && has_ended(link->process); });
}

}  // namespace

uint32_t Conduit::progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  // From inside a callback of UCX, UCX cannot be entered. Nothing here depends on it: replies are
  // never refused, and those sent from there do not wait for their sources.
  if (__builtin_expect(ep->depth != 0, 0)) return 0;
  const uint32_t delivered = ep->delivered, outer_budget = ep->budget;
  const bool held_back = ep->hold_requests;
  ep->delivered = 0;
  ep->completed = 0;
  ep->budget = budget;
  ep->hold_requests = held_back || lane == CWYC_PROGRESS_REPLIES;
  if (__builtin_expect(!ep->held[0].empty() || !ep->held[1].empty(), 0)) deliver_held(ep, lane);
  if (__builtin_expect(!ep->late.empty(), 0)) finish_late(ep);
  if (!ep->dirty.empty()) flush_gathered(ep);
  if (__builtin_expect(!ep->closed_keys.empty(), 0)) destroy_closed_keys(ep);
  if (__builtin_expect(ep->introducing != 0, 0)) close_unanswered(ep);
  // A rank that waits for replies alone takes in the requests before them.
  const bool full = __builtin_expect(ep->held_bytes > most_held, 0) && !ep->hold_requests;
  uint32_t found = full ? 0 : ucp_worker_progress(ep->worker);
  found = std::max(found, ep->delivered + ep->completed);
  ep->delivered = delivered;
  ep->budget = outer_budget;
  ep->hold_requests = held_back;
  if (found == 0 && ep->watched != 0 && ++ep->idle_polls % polls_per_look == 0) check_processes(ep);
  return found;
}

cwy_status Conduit::wait_fd(cwyc_ep* ep, int* fd) {
  return to_cwy(ucp_worker_get_efd(ep->worker, fd));
}

cwy_status Conduit::arm(cwyc_ep* ep) {
  // Operations of a process that has ended were reported: nobody is to sleep over that.
  if (ep->watched != 0 && check_processes(ep)) return CWY_RETRY;
  // The next progress closes them; until then UCX may not be entered.
  if (ep->introducing != 0 && has_unanswered(ep)) return CWY_RETRY;
  if (has_work(ep)) return CWY_RETRY;
  const cwy_status status = to_cwy(ucp_worker_arm(ep->worker));
  if (status != CWY_OK) return status;
  // What had come before is told of by no descriptor: UCX arms completion queues (rc_verbs,
  // ud_verbs) and leaves it at that, and a queue that is armed while it holds something need not
  // say so. So UCX looks once more; what it finds waits for progress.
  ep->hold_all = ep->arming = true;
  const uint32_t found = ucp_worker_progress(ep->worker);
  ep->hold_all = ep->arming = false;
  return found != 0 || has_work(ep) ? CWY_RETRY : CWY_OK;
}

}  // namespace causeway::ucx
