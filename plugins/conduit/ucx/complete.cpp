// The end of an operation that UCX has done with.
#include <cstring>
#include <utility>

#include "endpoint.h"
#include "services.h"

namespace causeway::ucx {
namespace {

void finish_batch(cwyc_op* newest, ucs_status_t status) {
  for (cwyc_op* op = newest; op != nullptr;) {
    auto* next = reinterpret_cast<cwyc_op*>(op->scratch[0]);
    put_flushed(op, status);
    op = next;
  }
}

}  // namespace

void report_op(cwyc_op* op, uint32_t what, ucs_status_t status) {
  if (op == nullptr) return;
  if (__builtin_expect(status == UCS_OK, 1)) return op->fn(op, what, CWY_OK, nullptr);
  const cwy_detail detail{CWY_HEAD(cwy_detail), status, 0, ucs_status_string(status)};
  op->fn(op, what, to_cwy(status), &detail);
}

cwy_status accepted_later(Link& link, Slot* slot, ucs_status_ptr_t answer) {
  cwyc_ep* ep = link.owner;
  if (UCS_PTR_IS_ERR(answer)) {
    const bool has_source =
        slot->op != nullptr && (slot->kind == SlotKind::put || slot->kind == SlotKind::message);
    ep->slots.give(slot);
    link.refusal = UCS_PTR_STATUS(answer);
    const cwy_status status = to_cwy(link.refusal);
    if (status == CWY_RETRY) ep->count(retry_count);
    return has_source ? status : refused(link, status, nullptr, 0);
  }
  slot->link = &link;
  slot->pending = true;
  link.pending.add(slot);
  ++ep->outstanding;
  return CWY_INPROGRESS;
}

cwy_status refused(Link& link, cwy_status status, const void* src, size_t length) {
  if (status != CWY_ERR_PEER_FAILED || link.failed) return status;
  ReadOnlyMemory& read_only = link.owner->read_only;
  if (length != 0 && !read_only.holds(src, length) && read_only.learn(src, length)) {
    link.owner->count(retry_count);
    return CWY_RETRY;
  }
  link_failed(link, ucs_status_string(link.refusal));
  return status;
}

void finish(Slot* slot, ucs_status_t status) {
  Link& link = *slot->link;
  cwyc_ep* ep = link.owner;
  cwyc_op* op = slot->op;
  const SlotKind kind = slot->kind;
  if (status == UCS_OK && kind != SlotKind::close) link.wired = true;
  if (slot->pending) {
    link.pending.remove(slot);
    --ep->outstanding;
  }
  if (kind == SlotKind::fetch && op != nullptr && status == UCS_OK && slot->result != nullptr)
    std::memcpy(slot->result, slot->bytes + 16, slot->width);
  ep->slots.give(slot);
  ++ep->completed;
  switch (kind) {
    case SlotKind::message:
      report_op(op, CWYC_DONE_LOCAL, status);
      break;
    case SlotKind::put:
      if (op != nullptr) put_source_done(op, status);
      break;
    case SlotKind::get:
    case SlotKind::fetch:
      report_op(op, CWYC_DONE_REMOTE, status);
      break;
    case SlotKind::flush:
      break;
    case SlotKind::batch:
      --link.flushes;
      finish_batch(op, status);
      break;
    case SlotKind::close:
      link.ep = nullptr;
      break;
  }
}

static void ended(Slot* slot, ucs_status_t status) {
  cwyc_ep* ep = slot->link->owner;
  if (__builtin_expect(ep->arming, 0)) {
    ep->late.emplace_back(slot, status);
  } else {
    ++ep->depth;
    finish(slot, status);
    --ep->depth;
  }
}

void slot_done(void* request, ucs_status_t status, void* user_data) {
  ended(static_cast<Slot*>(user_data), status);
  ucp_request_free(request);
}

void close_done(void* request, ucs_status_t status, void* user_data) {
  auto* slot = static_cast<Slot*>(user_data);
  const bool is_ours = std::exchange(slot->link->close_request, nullptr) != nullptr;
  ended(slot, status);
  if (is_ours) ucp_request_free(request);
}

void finish_late(cwyc_ep* ep) {
  ++ep->depth;
  for (const auto& [slot, status] : std::exchange(ep->late, {})) finish(slot, status);
  --ep->depth;
}

void abandon(Link& link) {
  link.pending.for_each([&](Slot* slot) {
    cwyc_op* op = slot->op;
    slot->op = nullptr;  // a late callback finds nobody
    switch (slot->kind) {
      case SlotKind::put:
        if (op != nullptr) put_source_done(op, UCS_ERR_CANCELED);
        break;
      case SlotKind::batch:
        finish_batch(op, UCS_ERR_CANCELED);
        break;
      case SlotKind::message:
        report_op(op, CWYC_DONE_LOCAL, UCS_ERR_CANCELED);
        break;
      case SlotKind::get:
      case SlotKind::fetch:
        report_op(op, CWYC_DONE_REMOTE, UCS_ERR_CANCELED);
        break;
      case SlotKind::flush:
      case SlotKind::close:
        break;
    }
  });
  fail_waiting(link);
}

}  // namespace causeway::ucx
