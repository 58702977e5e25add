// Moving things forward, and sleeping until there is something to move.
#include "../common/open_files.h"
#include "calls.h"

namespace causeway::ofi {
namespace {

// Looking for connection events costs system calls in software providers; with nothing in the
// making, every so many passes will do. What else is due is announced: see chores_due().
constexpr uint32_t chores_every = 64;

// An entry that ended in error. Its ticket says whose it was.
uint32_t on_error(cwyc_ep* ep, const fi_cq_err_entry& error) {
  auto* ticket = static_cast<Ticket*>(error.op_context);
  if (ticket == nullptr) return 0;
  if (ticket->work == Work::receive) {
    auto* buffer = reinterpret_cast<ReceiveBuffer*>(ticket);
    buffer->released = true;
    if (buffer->held == 0) repost(ep, buffer);
    return 0;
  }
  ep->counters.errors.add(1);
  cwy_status status = status_of(error.err);
  if (status == CWY_RETRY || status == CWY_ERR_NOMEM || status == CWY_ERR_UNSUPPORTED)
    status = CWY_ERR_PEER_FAILED;
  Link* link = ticket->link;
  const cwy_detail detail{CWY_HEAD(cwy_detail),
                          error.prov_errno != 0 ? error.prov_errno : error.err, 0,
                          fi_strerror(error.err)};
  complete(ep, ticket, status, &detail);
  if (link != nullptr && status == CWY_ERR_PEER_FAILED) lose_link(*link, fi_strerror(error.err));
  return 1;
}

uint32_t on_completion(cwyc_ep* ep, const fi_cq_data_entry& entry, uint32_t lane) {
  auto* ticket = static_cast<Ticket*>(entry.op_context);
  if (__builtin_expect(ticket == nullptr, 0)) return 0;
  if (ticket->work != Work::receive) {
    complete(ep, ticket, CWY_OK);
    return 1;
  }
  auto* buffer = reinterpret_cast<ReceiveBuffer*>(ticket);
  uint32_t events = 0;
  ep->expected = buffer->after;
  // One frame per buffer: the buffer is ours again. Many: the provider says when.
  const bool many = ep->shared_buffers;
  ++buffer->held;  // so that a nested progress does not give it back meanwhile
  if (!many || (entry.flags & FI_MULTI_RECV) != 0) buffer->released = true;
  if (!many || (entry.flags & FI_RECV) != 0) {
    char* data = many && entry.buf != nullptr ? static_cast<char*>(entry.buf) : buffer->data;
    if (entry.len != 0) events = on_frame(ep, buffer, data, entry.len, lane, 0);
  }
  if (--buffer->held == 0 && buffer->released) repost(ep, buffer);
  return events;
}

// Buffers are filled in the order of their posting, so that each has left the caches when its turn
// comes: many frames lie between. Who finds nothing has the time to fetch the next one. A hint:
// with a queue for every connection the next frame may come by another one.
void fetch_expected(cwyc_ep* ep) {
  ReceiveBuffer* const buffer = ep->expected;
  if (buffer == nullptr) return;
  ep->expected = nullptr;
  constexpr size_t line = 64;
  __builtin_prefetch(buffer, 1);
  __builtin_prefetch(&buffer->data, 1);
  __builtin_prefetch(buffer->data, 1);
  __builtin_prefetch(buffer->data + line, 1);
}

// Reads what the provider has into the empty batch. As fi_cq_read answers.
inline ssize_t read_queue(cwyc_ep* ep) {
  const ssize_t got = fi_cq_read(ep->cq.get(), ep->batch, cwyc_ep::batch_size);
  if (got != cwyc_ep::batch_size && got != -FI_EAVAIL) ++ep->emptied;
  if (got > 0) {
    ep->batch_head = 0;
    ep->batch_tail = static_cast<uint32_t>(got);
  }
  return got;
}

// False for a queue that announces an error and does not give it out: the next pass asks again.
bool take_error(cwyc_ep* ep, uint32_t& events) {
  fi_cq_err_entry error{};
  if (fi_cq_readerr(ep->cq.get(), &error, 0) <= 0) return false;
  events += on_error(ep, error);
  return true;
}

// Delivers what was put off and what the queue has; `got` is what its last reading answered.
__attribute__((noinline)) uint32_t drain(cwyc_ep* ep, uint32_t budget, uint32_t lane, ssize_t got) {
  uint32_t events = 0;
  if (__builtin_expect(!ep->deferred.empty(), 0) && lane == CWYC_PROGRESS_ALL)
    events += deliver_deferred(ep, budget);
  while (events < budget) {
    if (ep->batch_head != ep->batch_tail) {
      // A copy: handlers may make progress, which reads on.
      const fi_cq_data_entry entry = ep->batch[ep->batch_head++];
      events += on_completion(ep, entry, lane);
      continue;
    }
    // An empty queue makes the provider look at the network, which costs system calls in software
    // providers. After a batch that was not full that is the next pass's, so that who waited for
    // what came goes on at once.
    const bool more = got == cwyc_ep::batch_size || (got == -FI_EAVAIL && take_error(ep, events));
    if (!more) break;
    got = read_queue(ep);
  }
  return events;
}

// A provider that cannot accept a connection for want of a descriptor tries again for ever and
// tells nobody, while the peer waits. So that is said here, once.
void look_at_open_files(cwyc_ep* ep) {
  constexpr uint64_t interval_ns = 1'000'000'000;
  const uint64_t now = services->now();
  if (now < ep->next_file_look) return;
  const std::string complaint = complaint_of_open_files();
  ep->next_file_look = complaint.empty() ? now + interval_ns : UINT64_MAX;
  if (complaint.empty()) return;
  log(CWY_LOG_WARN,
      "%s; ranks that have not been in contact with this one may wait until it closes some",
      complaint.c_str());
}

// What is not looked at in every pass: connection events, links, reads and buffers that wait.
__attribute__((noinline)) uint32_t do_chores(cwyc_ep* ep) {
  uint32_t events = 0;
  ep->chores_at = ep->passes + chores_every;
  if (ep->eq != nullptr && (ep->connecting != 0 || ep->passes >= ep->events_at)) {
    ep->events_at = ep->passes + chores_every;
    events += connection_events(ep);
  }
  if (!ep->todo.empty()) events += push_todo(ep);
  if (!ep->reads_due.empty()) events += push_reads(ep);
  if (ep->posted < ep->wanted) post_wanted(ep);
  look_at_open_files(ep);
  // A queue that is full of receive buffers is no reason: each that comes back is posted again.
  const bool again = ep->connecting != 0 || !ep->todo.empty() || !ep->reads_due.empty() ||
                     (ep->posted == 0 && ep->wanted != 0);
  if (again) chores_due(ep);
  return events;
}

}  // namespace

uint32_t Network::progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  const Pass pass(ep->domain->gate, std::try_to_lock);
  if (__builtin_expect(pass.refused(), 0)) return 0;
  uint32_t events = 0;
  // Most passes find nothing: those are one call of the provider's and two comparisons.
  constexpr ssize_t unread = cwyc_ep::batch_size;
  const bool left_over = ep->batch_head != ep->batch_tail || !ep->deferred.empty();
  const ssize_t got = __builtin_expect(left_over, 0) ? unread : read_queue(ep);
  if (got == -FI_EAGAIN || got == 0)
    fetch_expected(ep);
  else
    events = drain(ep, budget, lane, got);
  if (__builtin_expect(++ep->passes >= ep->chores_at, 0)) events += do_chores(ep);
  return events;
}

cwy_status Conduit::wait_fd(cwyc_ep* ep, int* fd) {
  if (!ep->epoll) return CWY_ERR_UNSUPPORTED;
  *fd = ep->epoll.get();
  return CWY_OK;
}

cwy_status Conduit::arm(cwyc_ep* ep) {
  const Pass pass(ep->domain->gate);
  if (ep->batch_head != ep->batch_tail || !ep->deferred.empty() || !ep->todo.empty() ||
      !ep->reads_due.empty())
    return CWY_RETRY;
  fid_t queues[] = {&ep->cq->fid, ep->eq != nullptr ? &ep->eq->fid : nullptr};
  if (fi_trywait(ep->domain->fabric.get(), queues, ep->eq != nullptr ? 2 : 1) == 0) return CWY_OK;
  ep->events_at = 0;  // it may have been a connection event
  chores_due(ep);
  return CWY_RETRY;
}

}  // namespace causeway::ofi
