// When a put is visible at its target: after a flush of the endpoint that was begun after it. A
// flush is begun by the next progress and serves all puts posted since the last one, so that a
// flood of puts costs few flushes and a waiting put no delay: who waits makes progress at once.
#include "endpoint.h"
#include "services.h"

namespace causeway::ucx {
namespace {

// op->state of a put, in bits: what is still to come, and what went wrong.
enum : uint64_t { source_pending = 1, flush_pending = 2, local_reported = 4, failed = 8 };
constexpr int status_shift = 32;

// More flushes at once than this would serve no put any sooner.
constexpr uint32_t flushes_at_once = 8;

void note_failure(cwyc_op* op, ucs_status_t status) {
  if (status == UCS_OK || (op->state & failed) != 0) return;
  op->state |= failed | static_cast<uint64_t>(static_cast<uint32_t>(status)) << status_shift;
}

void end(cwyc_op* op) {
  const uint64_t state = op->state;
  const uint32_t local = (state & local_reported) != 0 ? 0u : +CWYC_DONE_LOCAL;
  const auto status = static_cast<ucs_status_t>(static_cast<int32_t>(state >> status_shift));
  report_op(op, CWYC_DONE_REMOTE | local, (state & failed) != 0 ? status : UCS_OK);
}

ucs_status_ptr_t begin_flush(Link& link, Slot* slot) {
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = slot_done;
  param.user_data = slot;
  link.owner->count(flush_count);
  return ucp_ep_flush_nbx(link.ep, &param);
}

void gather(Link& link, cwyc_op* op) {
  op->scratch[0] = reinterpret_cast<uint64_t>(link.waiting);
  link.waiting = op;
  if (!link.dirty) {
    link.dirty = true;
    link.owner->dirty.push_back(&link);
  }
}

// Begins one flush for everything that waits. False: try again later.
bool flush_waiting(Link& link) {
  if (link.flushes >= flushes_at_once) return false;
  Slot* slot = link.owner->slots.take();
  if (slot == nullptr) return false;
  slot->link = &link;
  slot->kind = SlotKind::batch;
  slot->op = link.waiting;
  cwyc_op* const newest = link.waiting;
  link.waiting = nullptr;
  ++link.flushes;
  const ucs_status_ptr_t answer = begin_flush(link, slot);
  if (answer == nullptr) {
    link.flush_at_once = true;
    finish(slot, UCS_OK);
    return true;
  }
  if (!UCS_PTR_IS_ERR(answer)) {
    accepted(link, slot, answer);
    return true;
  }
  --link.flushes;
  link.waiting = newest;
  const cwy_status status = accepted(link, slot, answer);
  if (status == CWY_RETRY || status == CWY_ERR_NOMEM) return false;
  fail_waiting(link);
  return true;
}

}  // namespace

void put_source_done(cwyc_op* op, ucs_status_t status) {
  note_failure(op, status);
  op->state &= ~source_pending;
  if ((op->state & flush_pending) == 0) return end(op);
  if (status == UCS_OK && (op->state & local_reported) == 0) {
    op->state |= local_reported;
    op->fn(op, CWYC_DONE_LOCAL, CWY_OK, nullptr);
  }
}

void put_flushed(cwyc_op* op, ucs_status_t status) {
  note_failure(op, status);
  op->state &= ~flush_pending;
  if ((op->state & source_pending) == 0) end(op);
}

void fail_waiting(Link& link) {
  cwyc_op* op = link.waiting;
  link.waiting = nullptr;
  while (op != nullptr) {
    auto* next = reinterpret_cast<cwyc_op*>(op->scratch[0]);
    put_flushed(op, UCS_ERR_CANCELED);
    op = next;
  }
}

cwy_status await_remote(Link& link, cwyc_op* op, bool local_done, bool wants_local) {
  const uint64_t reported = wants_local ? 0 : +local_reported;
  if (local_done && link.flush_at_once && link.waiting == nullptr) {
    Slot* slot = link.owner->slots.take();
    if (slot != nullptr) {
      slot->link = &link;
      slot->kind = SlotKind::batch;
      const ucs_status_ptr_t answer = begin_flush(link, slot);
      if (answer == nullptr) {
        link.owner->slots.give(slot);
        return CWY_OK;
      }
      link.flush_at_once = false;
      if (!UCS_PTR_IS_ERR(answer)) {
        op->state = flush_pending | reported;
        op->scratch[0] = 0;
        slot->op = op;
        ++link.flushes;
        accepted(link, slot, answer);
        put_source_done(op, UCS_OK);
        return CWY_INPROGRESS;
      }
      accepted(link, slot, answer);  // gives it back; a peer that is gone is found below again
    }
  }
  op->state = flush_pending | reported | (local_done ? 0 : +source_pending);
  gather(link, op);
  if (local_done) put_source_done(op, UCS_OK);
  return CWY_INPROGRESS;
}

cwy_status flush_alone(Link& link) {
  Slot* slot = link.owner->slots.take();
  if (slot == nullptr) return CWY_RETRY;
  slot->link = &link;
  slot->kind = SlotKind::flush;
  slot->op = nullptr;
  const cwy_status status = accepted(link, slot, begin_flush(link, slot));
  if (status == CWY_OK) link.owner->slots.give(slot);
  return status;
}

void flush_gathered(cwyc_ep* ep) {
  size_t kept = 0;
  for (size_t i = 0; i < ep->dirty.size(); ++i) {
    Link* link = ep->dirty[i];
    if (link->failed) fail_waiting(*link);
    link->dirty = link->waiting != nullptr && !flush_waiting(*link);
    if (link->dirty) ep->dirty[kept++] = link;
  }
  ep->dirty.resize(kept);
}

}  // namespace causeway::ucx
