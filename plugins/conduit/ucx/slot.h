// Slots: what one operation needs while UCX has it, and the pool they come from.
//
// A slot is taken by every posting call and given back at once when UCX was done with it on return.
// Only the thread that is inside the endpoint touches slots (the table is SERIAL).
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace causeway::ucx {

struct Link;

enum class SlotKind : uint8_t {
  message,  // an active message; `op`, if any, wants LOCAL
  put,      // `op` wants LOCAL here, REMOTE from a flush
  get,      // `op` wants REMOTE
  fetch,    // as get, after the value in `bytes` was copied to `result`
  batch,    // a flush under a list of puts that begins at `op`
  flush,    // a flush that no operation waits for
  close     // an endpoint being closed
};

struct Slot {
  Slot* next;  // among the free, or among the pending of `link`
  Slot* previous;
  Link* link;
  cwyc_op* op;     // NULL: nobody waits (any more)
  void* large;     // malloc: a source that had to be copied
  void* result;    // of a fetch
  uint32_t width;  // of the result
  SlotKind kind;
  bool pending;  // UCX has it
  // A message's header and arguments, a small source, or an atomic's operand and result.
  alignas(16) unsigned char bytes[192];
};
static_assert(sizeof(Slot) == 256);

inline constexpr size_t slot_bytes = sizeof(Slot::bytes);

class SlotPool {
 public:
  SlotPool() = default;
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;
  ~SlotPool() {
    for (auto& chunk_memory : chunks_)
      for (size_t i = 0; i < chunk; ++i) std::free(chunk_memory[i].large);
  }
  // NULL when there is no memory.
  Slot* take() {
    if (__builtin_expect(free_ == nullptr, 0) && !grow()) return nullptr;
    Slot* slot = free_;
    free_ = slot->next;
    slot->op = nullptr;
    slot->pending = false;
    return slot;
  }
  void give(Slot* slot) {
    if (__builtin_expect(slot->large != nullptr, 0)) {
      std::free(slot->large);
      slot->large = nullptr;
    }
    slot->next = free_;
    free_ = slot;
  }

 private:
  static constexpr size_t chunk = 256;
  __attribute__((noinline)) bool grow() {
    std::unique_ptr<Slot[]> more(new (std::nothrow) Slot[chunk]);
    if (!more) return false;
    for (size_t i = 0; i < chunk; ++i) {
      more[i].large = nullptr;
      more[i].next = free_;
      free_ = &more[i];
    }
    chunks_.push_back(std::move(more));
    return true;
  }
  Slot* free_ = nullptr;
  std::vector<std::unique_ptr<Slot[]>> chunks_;
};

// A ring of slots in no order, with O(1) removal; the anchor is a slot that is never used.
class SlotList {
 public:
  SlotList() { anchor_.next = anchor_.previous = &anchor_; }
  SlotList(const SlotList&) = delete;
  SlotList& operator=(const SlotList&) = delete;
  void add(Slot* slot) {
    slot->next = anchor_.next;
    slot->previous = &anchor_;
    anchor_.next->previous = slot;
    anchor_.next = slot;
    ++size_;
  }
  void remove(Slot* slot) {
    slot->next->previous = slot->previous;
    slot->previous->next = slot->next;
    --size_;
  }
  size_t size() const { return size_; }
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Slot* s = anchor_.next; s != &anchor_;) {
      Slot* next = s->next;
      visit(s);
      s = next;
    }
  }

 private:
  Slot anchor_{};
  size_t size_ = 0;
};

}  // namespace causeway::ucx
