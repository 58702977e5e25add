// A buffer of this rank, somewhere: on the heap, or in the bound segment. Bytes around it tell of
// writes beside it, and it is poisoned when it is given back, which shows whoever still reads it.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "random.h"
#include "script.h"

namespace storm {

// Registered memory in slots of one size, which buffers take and give back. Any thread.
class Arena {
 public:
  Arena() = default;
  Arena(std::byte* base, unsigned count, size_t slot)
      : base_(base), slot_(slot), taken_(count, false) {}
  // Other memory takes the place of the old, none of which is taken.
  void rebase(std::byte* base) { base_ = base; }
  int take();  // -1: all are taken
  void give(int slot);
  std::byte* at(int slot) const { return base_ + static_cast<size_t>(slot) * slot_; }
  size_t slot_bytes() const { return slot_; }

 private:
  std::mutex mutex_;
  std::byte* base_ = nullptr;
  size_t slot_ = 0;
  unsigned next_ = 0;
  std::vector<bool> taken_;
};
// In the segment that all ranks attached.
Arena& own_slots();

class Buffer {
 public:
  Buffer() = default;
  // `align`: a power of two, at most 4096. In the arena or on the heap.
  Buffer(size_t bytes, size_t align, Random& whim, Arena& arena = own_slots());
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::byte* data() const { return data_; }
  size_t size() const { return bytes_; }
  bool in_segment() const { return slot_ >= 0; }
  const char* where() const { return in_segment() ? "in the segment" : "in no segment"; }
  // Its owner has it back: what still reads it shows.
  void spoil();
  // Fails when something was written beside it.
  void check_borders(const Step& step, const char* what) const;

 private:
  void take_back();
  std::byte* whole_ = nullptr;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0, whole_bytes_ = 0;
  Arena* arena_ = nullptr;
  int slot_ = -1;
};

}  // namespace storm
