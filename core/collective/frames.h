// Frames: where the signals and the scratch of a member's runs lie. A member of a team has one
// block of kFrames frames, in the arena if there is room, used by its runs in turn: run `seq` has
// frame seq % kFrames.
//
// Invariant: frame f belongs to the one run `seq` with ended < seq <= ended + kFrames and
// seq % kFrames == f. `ended` says that all runs up to it have ended here; the owner alone
// advances it, with release, after it has reset the frame. Others write signals and scratch of a
// run only after they have read, with acquire, an `ended` that gives the run a frame. A run does
// not end before every signal that is ever raised for it has been (collective-api/README.md), so
// nobody writes into a frame that has been given on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace causeway {

inline constexpr uint32_t kSignals = 64;
inline constexpr uint64_t kFrames = 4;
inline constexpr size_t kLine = 64;

// A team's block: the count of ended runs, then the frames.
constexpr size_t frame_bytes(uint64_t scratch) {
  return kSignals * sizeof(uint64_t) + scratch;
}
constexpr size_t block_bytes(uint64_t scratch) {
  return kLine + kFrames * frame_bytes(scratch);
}

// A block of this process or of a neighbor, as mapped here. `scratch` is a multiple of kLine.
class Block {
 public:
  Block() = default;
  Block(char* base, uint64_t scratch) : base_(base), scratch_(scratch) {}

  explicit operator bool() const { return base_ != nullptr; }
  char* base() const { return base_; }
  std::atomic<uint64_t>& ended() const { return *reinterpret_cast<std::atomic<uint64_t>*>(base_); }
  std::atomic<uint64_t>& signal(uint64_t seq, uint32_t which) const {
    return reinterpret_cast<std::atomic<uint64_t>*>(frame(seq))[which];
  }
  char* scratch(uint64_t seq) const { return frame(seq) + kSignals * sizeof(uint64_t); }
  bool has_frame(uint64_t seq, uint64_t ended_seen) const {
    return seq > ended_seen && seq <= ended_seen + kFrames;
  }
  // Stores and raises. Release: who sees the signal sees the data. Sequentially consistent because
  // of sleepers (ArenaHead::napping); on x86 it is the same instruction.
  void store(uint64_t seq, uint64_t offset, const void* src, uint64_t length,
             uint32_t which) const {
    if (length != 0) std::memcpy(scratch(seq) + offset, src, length);
    signal(seq, which).fetch_add(1, std::memory_order_seq_cst);
  }
  // For the next run that gets the frame; published by `ended`.
  void reset(uint64_t seq) const {
    for (uint32_t i = 0; i < kSignals; ++i) {
      std::atomic<uint64_t>& s = signal(seq, i);
      if (s.load(std::memory_order_relaxed) != 0) s.store(0, std::memory_order_relaxed);
    }
  }

 private:
  char* frame(uint64_t seq) const {
    return base_ + kLine + (seq % kFrames) * frame_bytes(scratch_);
  }
  char* base_ = nullptr;
  uint64_t scratch_ = 0;
};

}  // namespace causeway
