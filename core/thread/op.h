// Op: one pending operation, as seen by the conduit (its cwyc_op) and by the client (its event).
//
// An event handle is the address of an Op or of a Region with a tag in its low bits: 0 names the
// root, 1 + the number of an event category's bit names that leaf.
#pragma once

#include <causeway/conduit.h>
#include <gasnet_fwd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace causeway {

inline constexpr unsigned kCategories = 5;  // bits of GEX_EC_*
inline constexpr unsigned kCategoryGet = 0, kCategoryPut = 1, kCategoryAm = 2, kCategoryLc = 3,
                          kCategoryRmw = 4;
inline constexpr uintptr_t kEventAlignment = 128;

// Retired ones have been synchronised and are kept back, with `checks: full` (event_checks.h).
enum class EventType : uint32_t { op, region, retired_op, retired_region };

// Leads both kinds of objects an event can point to.
struct EventObject {
  EventType type;
};

// Operations counted together and synchronised by category: a thread's implicit set, or an access
// region. `initiated` belongs to the thread that owns the set; `completed` is advanced by
// whichever thread runs the completion (release) and read by the owner (acquire), so that what
// the operations wrote is visible once the counts meet.
struct ImplicitOps {
  uint64_t initiated[kCategories] = {};
  std::atomic<uint64_t> completed[kCategories] = {};

  bool done(uint32_t category_mask) const {
    for (unsigned c = 0; c < kCategories; ++c) {
      if ((category_mask & (1u << c)) &&
          completed[c].load(std::memory_order_acquire) != initiated[c]) {
        return false;
      }
    }
    return true;
  }
  void complete(unsigned category) { completed[category].fetch_add(1, std::memory_order_release); }
};

// An access region between Begin and the synchronisation of its event.
struct alignas(kEventAlignment) Region {
  EventObject head{EventType::region};
  ImplicitOps ops;
};

class TeamRuns;

struct alignas(kEventAlignment) Op {
  EventObject head{EventType::op};
  uint32_t need = 0;              // CWYC_DONE_* bits that make the root complete
  cwyc_op conduit{};              // handed to the conduit
  std::atomic<uint32_t> done{0};  // CWYC_DONE_* bits reported: release by the completing
                                  // thread, acquire by whoever tests
  uint8_t category = 0;           // implicit operations: where they count
  uint8_t lc_category = 0;        // and where their local completion counts, if it does
  bool counts_local = false;
  bool reserved = false;
  ImplicitOps* implicit = nullptr;
  std::atomic<uint32_t>* local_flag = nullptr;  // set when the source is reusable (lc NOW)
  union {
    Op* next = nullptr;  // in a free list
    uint32_t rank;       // under way and explicit: its peer's, for who asks what is waited for
  };
  // The team whose collective this is, while that is under way; else NULL. Relaxed: a hint whom to
  // push first for whoever waits, and the team outlives every wait for its events.
  std::atomic<TeamRuns*> collective{nullptr};

  static Op* of(cwyc_op* conduit_op) {
    return reinterpret_cast<Op*>(reinterpret_cast<char*>(conduit_op) - offsetof(Op, conduit));
  }
  // Acquire: pairs with the completing thread's release.
  bool reported(uint32_t bits) const {
    return (done.load(std::memory_order_acquire) & bits) == bits;
  }
  bool complete() const { return reported(need); }

  // For an explicit operation that is under way: what it is and whose.
  void is_about(unsigned of_category, uint32_t of_rank) {
    category = static_cast<uint8_t>(of_category);
    rank = of_rank;
  }
  // Prepare for one use.
  void arm_explicit(uint32_t need_bits);
  void arm_implicit(ImplicitOps* set, unsigned category, bool local_counts, unsigned lc_category,
                    uint32_t last_bit);
};

static_assert(sizeof(Op) == kEventAlignment);

// Free Ops of one thread; refilled in slabs that live until the process ends. Ops may be freed by
// another thread than the one that took them; surplus goes back to a shared list.
class OpPool {
 public:
  Op* take() {
    Op* op = free_;
    if (__builtin_expect(op == nullptr, 0)) op = refill();
    free_ = op->next;
    --count_;
    return op;
  }
  void give(Op* op) {
    op->next = free_;
    free_ = op;
    if (__builtin_expect(++count_ > kKeep, 0)) spill();
  }
  ~OpPool();

 private:
  static constexpr uint32_t kKeep = 4096;
  Op* refill();
  void spill();
  Op* free_ = nullptr;
  uint32_t count_ = 0;
};

// An emulated operation's answer may be handled by another thread than the one that posted it. The
// two meet through the peer only, so they also meet in the operation's `state`: release by the
// poster before the first message, acquire by whoever handles an answer.
inline void hand_over(cwyc_op* op) {
  std::atomic_ref<uint64_t>(op->state).store(1, std::memory_order_release);
}
inline cwyc_op* take_over(uint64_t cookie) {
  auto* op = reinterpret_cast<cwyc_op*>(cookie);
  std::atomic_ref<uint64_t>(op->state).load(std::memory_order_acquire);
  return op;
}

// The line about a failed operation; `detail` may be NULL.
std::string failure_text(cwy_status status, const cwy_detail* detail);

// Ends the job: an operation failed (the specification makes that fatal, GASNet-1 1.6). Returns
// where a peer is gone: the operation stays open, and the polls of who waits for it find out how the
// peer went and end this process accordingly.
void operation_failed(cwy_status status, const cwy_detail* detail);

}  // namespace causeway
