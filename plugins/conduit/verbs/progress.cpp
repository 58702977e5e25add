// Moving things forward, and sleeping until there is something to move.
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include "calls.h"

namespace causeway::verbs {
namespace {

// Polls between two looks at the clock, and with it at all that no completion announces.
constexpr uint32_t polls_idle = 64, polls_busy = 1024;

uint32_t on_receive(cwyc_ep* ep, const ibv_wc& wc, uint32_t lane) {
  ReceiveBuffer* buffer = buffer_of(wc.wr_id);
  if (wc.status == IBV_WC_SUCCESS)
    return on_frame(ep, buffer, buffer->data, wc.byte_len, lane, wc.qp_num);
  repost(ep, buffer);  // flushed with its queue pair
  return 0;
}

uint32_t on_completion(cwyc_ep* ep, const ibv_wc& wc, uint32_t lane) {
  if (names_buffer(wc.wr_id)) return on_receive(ep, wc, lane);
  if (__builtin_expect(wc.wr_id == 0, 0)) {
    if (wc.status != IBV_WC_SUCCESS) on_unsignaled_error(ep, wc);
    return 0;
  }
  complete(ep, ticket_of(wc.wr_id), wc);
  return 1;
}

// Reads what there is. False when that is nothing.
bool refill(cwyc_ep* ep) {
  ep->batch_head = ep->batch_tail = 0;
  if (__builtin_expect(!ep->backlog.empty(), 0)) {
    while (!ep->backlog.empty() && ep->batch_tail < cwyc_ep::batch_size) {
      ep->batch[ep->batch_tail++] = ep->backlog.front();
      ep->backlog.pop_front();
    }
    return true;
  }
  const int got = ibv_poll_cq(ep->cq.get(), cwyc_ep::batch_size, ep->batch);
  if (__builtin_expect(got < 0, 0)) fail_device(ep->domain, "its completion queue is broken");
  if (got <= 0) return false;
  ep->batch_tail = static_cast<uint32_t>(got);
  return true;
}

// When the earliest of the links that wait for time to pass wants to be looked at; 0: one wants to
// now.
uint64_t next_due(const cwyc_ep* ep, uint64_t now) {
  uint64_t due = UINT64_MAX;
  for (const Link* link : ep->todo) {
    if (link->state == LinkState::connecting) {
      due =
          std::min(due, link->active ? std::min(link->next_hello, link->deadline) : link->deadline);
    } else if (link->lost && !link->reported && link->conn != nullptr) {
      due = std::min(due, link->deadline);
    } else {
      return 0;
    }
  }
  return due <= now ? 0 : due;
}

void set_timer(const cwyc_ep* ep, uint64_t ns) {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  when.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  timerfd_settime(ep->timer.get(), 0, &when, nullptr);
}

}  // namespace

void take_events(ibv_comp_channel* channel, ibv_cq* cq) {
  ibv_cq* told = nullptr;
  void* context = nullptr;
  unsigned events = 0;
  while (ibv_get_cq_event(channel, &told, &context) == 0) ++events;
  if (events != 0) ibv_ack_cq_events(cq, events);
}

void wake_sleeper(cwyc_ep* ep) {
  ep->sleeps = false;
  set_timer(ep, 1);
  ep->timer_set = true;
}

uint32_t stash_completions(cwyc_ep* ep) {
  uint32_t read = 0;
  ibv_wc some[16];
  for (int got; (got = ibv_poll_cq(ep->cq.get(), 16, some)) > 0;) {
    ep->backlog.insert(ep->backlog.end(), some, some + got);
    read += static_cast<uint32_t>(got);
  }
  return read;
}

uint32_t Network::progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  const Pass pass(ep->domain->gate, std::try_to_lock);
  if (__builtin_expect(pass.refused(), 0)) return 0;
  uint32_t events = 0;
  if (__builtin_expect(!ep->deferred.empty(), 0) && lane == CWYC_PROGRESS_ALL)
    events += deliver_deferred(ep, budget);
  while (events < budget) {
    if (ep->batch_head == ep->batch_tail && !refill(ep)) break;
    // A copy: handlers may make progress, which reads on.
    const ibv_wc wc = ep->batch[ep->batch_head++];
    events += on_completion(ep, wc, lane);
  }
  if (__builtin_expect(!ep->todo.empty() || ep->greeter == nullptr, 0)) {
    events += take_datagrams(ep);
    if (!ep->todo.empty()) events += push_todo(ep);
  }
  if (__builtin_expect(ep->posted < ep->wanted, 0)) post_wanted(ep);
  if (++ep->polls >= (events == 0 ? polls_idle : polls_busy)) {
    ep->polls = 0;
    events += take_datagrams(ep);
    events += look_around(ep);
  }
  return events;
}

cwy_status Conduit::wait_fd(cwyc_ep* ep, int* fd) {
  *fd = ep->epoll.get();
  return CWY_OK;
}

// Events say that the queue was not empty once; the queue itself is looked at after the request for
// the next one, so that nothing arrives unseen between the two.
cwy_status Conduit::arm(cwyc_ep* ep) {
  const Pass pass(ep->domain->gate);
  // First: what the adapter says may end links, which then are due.
  look_at_device(ep->domain);
  if (ep->batch_head != ep->batch_tail || !ep->backlog.empty() || !ep->deferred.empty())
    return CWY_RETRY;
  const uint64_t now = ep->todo.empty() ? 0 : services->now();
  const uint64_t due = ep->todo.empty() ? UINT64_MAX : next_due(ep, now);
  if (due == 0) return CWY_RETRY;
  take_events(ep->channel.get(), ep->cq.get());
  take_events(ep->datagram_channel.get(), ep->datagram_cq.get());
  if (ibv_req_notify_cq(ep->datagram_cq.get(), 0) != 0 || ibv_req_notify_cq(ep->cq.get(), 0) != 0)
    return CWY_RETRY;
  if (refill(ep)) return CWY_RETRY;
  if (!collect_datagrams(ep) || !ep->introductions.empty()) {
    ep->polls = polls_busy;  // the next poll takes them
    return CWY_RETRY;
  }
  ep->sleeps = true;
  if (due != UINT64_MAX) {
    set_timer(ep, due - now);
    ep->timer_set = true;
  } else if (ep->timer_set) {
    set_timer(ep, 0);
    ep->timer_set = false;
  }
  return CWY_OK;
}

}  // namespace causeway::verbs
