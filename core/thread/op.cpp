#include "thread/op.h"

#include <mutex>
#include <new>

#include "base/context.h"
#include "base/fatal.h"
#include "loader/one_line.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

// Ops that threads gave up; taken before a new slab is made.
std::mutex g_shared_mutex;
Op* g_shared = nullptr;

constexpr uint32_t kSlab = 64;

void complete_explicit(cwyc_op* raw, uint32_t what, cwy_status status, const cwy_detail* detail) {
  if (status != CWY_OK) return operation_failed(status, detail);
  Op* op = Op::of(raw);
  if ((what & CWYC_DONE_LOCAL) && op->local_flag != nullptr)
    op->local_flag->store(1, std::memory_order_release);
  // Release: the data this completion stands for is visible to whoever sees the bit.
  op->done.fetch_or(what, std::memory_order_release);
}

void complete_implicit(cwyc_op* raw, uint32_t what, cwy_status status, const cwy_detail* detail) {
  if (status != CWY_OK) return operation_failed(status, detail);
  Op* op = Op::of(raw);
  // Read first: unless this is the last report, another thread may make it and free the Op as
  // soon as the bits below are set.
  ImplicitOps* const set = op->implicit;
  std::atomic<uint32_t>* const local_flag = op->local_flag;
  const uint32_t need = op->need;
  const unsigned category = op->category, lc_category = op->lc_category;
  const bool counts_local = op->counts_local;
  const uint32_t before = op->done.fetch_or(what, std::memory_order_acq_rel);
  const uint32_t now = before | what;
  const uint32_t news = now & ~before;
  if ((news & CWYC_DONE_LOCAL) && local_flag != nullptr)
    local_flag->store(1, std::memory_order_release);
  if (counts_local && (news & CWYC_DONE_LOCAL)) set->complete(lc_category);
  if ((now & need) == need) {
    thread_state().ops.give(op);
    set->complete(category);  // last: the set's owner may free the set now
  }
}

}  // namespace

void Op::arm_explicit(uint32_t need_bits) {
  head.type = EventType::op;
  need = need_bits;
  conduit.fn = complete_explicit;
  done.store(0, std::memory_order_relaxed);  // not shared yet
  implicit = nullptr;
  local_flag = nullptr;
  category = kCategories;  // one store for the four of them
  lc_category = 0;
  counts_local = reserved = false;
}

void Op::arm_implicit(ImplicitOps* set, unsigned in_category, bool local_counts,
                      unsigned in_lc_category, uint32_t last_bits) {
  head.type = EventType::op;
  need = last_bits;
  conduit.fn = complete_implicit;
  done.store(0, std::memory_order_relaxed);  // not shared yet
  implicit = set;
  category = static_cast<uint8_t>(in_category);
  lc_category = static_cast<uint8_t>(in_lc_category);
  counts_local = local_counts;
  local_flag = nullptr;
}

Op* OpPool::refill() {
  {
    const std::lock_guard lock(g_shared_mutex);
    if (g_shared != nullptr) {
      while (g_shared != nullptr && count_ < kSlab) {
        Op* op = g_shared;
        g_shared = op->next;
        op->next = free_;
        free_ = op;
        ++count_;
      }
      return free_;
    }
  }
  Op* slab =
      static_cast<Op*>(::operator new (sizeof(Op) * kSlab, std::align_val_t{kEventAlignment}));
  for (uint32_t i = 0; i < kSlab; ++i) {
    Op* op = new (&slab[i]) Op;
    op->next = free_;
    free_ = op;
  }
  count_ += kSlab;
  return free_;
}

void OpPool::spill() {
  const std::lock_guard lock(g_shared_mutex);
  while (count_ > kKeep / 2) {
    Op* op = free_;
    free_ = op->next;
    --count_;
    op->next = g_shared;
    g_shared = op;
  }
}

OpPool::~OpPool() {
  const std::lock_guard lock(g_shared_mutex);
  while (free_ != nullptr) {
    Op* op = free_;
    free_ = op->next;
    op->next = g_shared;
    g_shared = op;
  }
}

std::string failure_text(cwy_status status, const cwy_detail* detail) {
  std::string text = fmt::format("an operation failed with {}", reason({}, status));
  if (detail == nullptr) return text;
  if (detail->text != nullptr) text += ": " + one_line(detail->text);
  if (detail->code != 0) text += fmt::format(" (code {} of the network)", detail->code);
  return text;
}

void operation_failed(cwy_status status, const cwy_detail* detail) {
  const std::string text = failure_text(status, detail);
  if (status != CWY_ERR_PEER_FAILED) fatal_text("communication", text);
  if (context().survives_failures()) fatal_peer_lost("communication", text);
  context().note_stranded(text);
}

}  // namespace causeway
