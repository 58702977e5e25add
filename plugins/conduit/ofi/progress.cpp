// Moving things forward, and sleeping until there is something to move.
#include "calls.h"

namespace causeway::ofi {
namespace {

// Looking for connection events costs system calls in software providers; with nothing in the
// making, every so many polls will do.
constexpr uint32_t events_every = 64;

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
  ++ep->counters.errors;
  cwy_status status = status_of(error.err);
  if (status == CWY_RETRY || status == CWY_ERR_NOMEM || status == CWY_ERR_UNSUPPORTED)
    status = CWY_ERR_PEER_FAILED;
  Link* link = ticket->link;
  complete(ep, ticket, status);
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
  const bool many = ep->unit != 0;
  ++buffer->held;  // so that a nested progress does not give it back meanwhile
  if (!many || (entry.flags & FI_MULTI_RECV) != 0) buffer->released = true;
  if (!many || (entry.flags & FI_RECV) != 0) {
    char* data = many && entry.buf != nullptr ? static_cast<char*>(entry.buf) : buffer->data;
    if (entry.len != 0) events = on_frames(ep, buffer, data, entry.len, lane);
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

// Reads what the provider has. False when that is nothing. `more`: it may have more.
bool refill(cwyc_ep* ep, uint32_t& events, bool& more) {
  const ssize_t got = fi_cq_read(ep->cq.get(), ep->batch, cwyc_ep::batch_size);
  if (got == -FI_EAVAIL) {
    fi_cq_err_entry error{};
    // A queue that announces an error and does not give it out is asked again by the next pass.
    if (fi_cq_readerr(ep->cq.get(), &error, 0) <= 0) return false;
    events += on_error(ep, error);
    return true;
  }
  more = got == cwyc_ep::batch_size;
  if (!more) ++ep->emptied;
  if (got <= 0) {
    fetch_expected(ep);
    return false;
  }
  ep->batch_head = 0;
  ep->batch_tail = static_cast<uint32_t>(got);
  return true;
}

}  // namespace

uint32_t progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  const Pass pass(ep->domain->gate, std::try_to_lock);
  if (__builtin_expect(pass.refused(), 0)) return 0;
  uint32_t events = 0;
  if (__builtin_expect(!ep->deferred.empty(), 0) && lane == CWYC_PROGRESS_ALL)
    events += deliver_deferred(ep, budget);
  // An empty queue makes the provider look at the network, which costs system calls in software
  // providers. After a batch that was not full that is the next pass's, so that who waited for what
  // came goes on at once.
  bool more = true;
  while (events < budget) {
    if (ep->batch_head == ep->batch_tail && (!more || !refill(ep, events, more))) break;
    if (ep->batch_head == ep->batch_tail) continue;
    // A copy: handlers may make progress, which reads on.
    const fi_cq_data_entry entry = ep->batch[ep->batch_head++];
    events += on_completion(ep, entry, lane);
  }
  if (ep->eq != nullptr && (ep->connecting != 0 || ++ep->since_events >= events_every)) {
    ep->since_events = 0;
    events += connection_events(ep);
  }
  if (__builtin_expect(!ep->todo.empty(), 0)) events += push_todo(ep);
  if (__builtin_expect(!ep->reads_due.empty(), 0)) events += push_reads(ep);
  if (__builtin_expect(ep->posted < ep->wanted, 0)) post_wanted(ep);
  return events;
}

cwy_status wait_fd(cwyc_ep* ep, int* fd) {
  if (ep->epoll < 0) return CWY_ERR_UNSUPPORTED;
  *fd = ep->epoll;
  return CWY_OK;
}

cwy_status arm(cwyc_ep* ep) {
  const Pass pass(ep->domain->gate);
  if (ep->batch_head != ep->batch_tail || !ep->deferred.empty() || !ep->todo.empty() ||
      !ep->reads_due.empty())
    return CWY_RETRY;
  fid_t queues[] = {&ep->cq->fid, ep->eq != nullptr ? &ep->eq->fid : nullptr};
  if (fi_trywait(ep->domain->fabric.get(), queues, ep->eq != nullptr ? 2 : 1) == 0) return CWY_OK;
  ep->since_events = events_every;  // it may have been a connection event
  return CWY_RETRY;
}

}  // namespace causeway::ofi
