// Frames: where the signals and the scratch of a member's runs lie. A member of a team has one
// block of kFrames frames, in the arena if there is room, used by its runs in turn: run `seq` has
// frame seq % kFrames.
//
// Invariant: frame f belongs to the one run `seq` with ended < seq <= ended + kFrames and seq %
// kFrames == f. `ended` says that all runs up to it have ended here; the owner alone advances it,
// with release, after it has reset the frame. Others write signals and scratch of a run only after
// they have read, with acquire, an `ended` that gives the run a frame. A run does not end before
// every signal that is ever raised for it has been raised, nor before each reader of its scratch
// has said that it is done (collective-api/README.md). So no member writes into a frame, or reads
// there, once the frame belongs to a later run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rma/prefetch.h"
#include "thread/tsan_annotations.h"

namespace causeway {

inline constexpr uint32_t kSignals = 64;
inline constexpr uint64_t kFrames = 4;
inline constexpr size_t kLine = 64;

// The board: what a member shows to its neighbors, which come and look. Its owner alone writes it:
// a line that changes hands once costs a third of one that three neighbors raise. A run has kPosts
// posts; the board keeps those of kBoardRuns runs, more than there are frames, so that the owner
// seldom has to look how far its readers are.
//
// Invariant: the posts of run `seq` are overwritten, by run seq + kBoardRuns, only after every
// reader that is known to look here has ended run `seq`. A reader that is not known yet gets
// messages; should it look here all the same, the post's number, read before and after the words,
// tells it whether they are whole. The block is given back only after all members have ended their
// last run (gex_TM_Destroy).
inline constexpr uint32_t kPosts = 4;
inline constexpr uint64_t kBoardRuns = 64;
inline constexpr uint32_t kReaders = 64;  // of the largest neighborhood with a board

struct alignas(kLine) Post {
  static constexpr size_t kWords = 15;
  std::atomic<uint64_t> seq;  // of the run; written last, with release
  std::atomic<uint64_t> words[kWords];
};
inline constexpr size_t kPostMax = Post::kWords * sizeof(uint64_t);

// A team's block: the count of ended runs, the readers, the board, then the frames.
constexpr size_t frame_bytes(uint64_t scratch) {
  return kSignals * sizeof(uint64_t) + scratch;
}
constexpr size_t kReadersBytes = kReaders * sizeof(uint64_t);
constexpr size_t kBoardBytes = kBoardRuns * kPosts * sizeof(Post);
constexpr size_t kFramesAt = kLine + kReadersBytes + kBoardBytes;
constexpr size_t block_bytes(uint64_t scratch) {
  return kFramesAt + kFrames * frame_bytes(scratch);
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
    if (length != 0) {
      // Another thread may have filled this frame for an earlier run, which its owner has ended.
      const AnnotatePeerAccess access;
      std::memcpy(scratch(seq) + offset, src, length);
    }
    annotate_send();
    signal(seq, which).fetch_add(1, std::memory_order_seq_cst);
  }
  // Where that neighbor's own block begins in its arena, plus 1, once it reads this board; 0
  // before. Written by that neighbor alone, with release.
  std::atomic<uint64_t>& reader(uint32_t nbrhd_rank) const {
    return reinterpret_cast<std::atomic<uint64_t>*>(base_ + kLine)[nbrhd_rank];
  }
  // Called by the owner. Stores the words, then the number with release, which readers rely on;
  // sequentially consistent where sleepers need it (ArenaHead::napping).
  void show(uint64_t seq, uint32_t which, const void* src, size_t length, bool fenced) const {
    Post& p = post(seq, which);
    p.seq.store(0, std::memory_order_relaxed);
    const char* from = static_cast<const char*>(src);
    for (size_t i = 0; length != 0; ++i) {
      const size_t n = length < sizeof(uint64_t) ? length : sizeof(uint64_t);
      uint64_t word = 0;
      std::memcpy(&word, from, n);
      // Release: a reader that finds old words beside this one finds another number behind them.
      p.words[i].store(word, std::memory_order_release);
      from += n;
      length -= n;
    }
    annotate_send();
    if (fenced)
      p.seq.store(seq, std::memory_order_seq_cst);
    else
      p.seq.store(seq, std::memory_order_release);
  }
  // Called by the owner: fetches that post's line for writing, out of the readers' caches, so that
  // the post to come costs the readers one miss and the owner none.
  void prepare(uint64_t seq, uint32_t which) const { prefetch_to_write(&post(seq, which).seq); }
  // Called by a neighbor. False: the post is not there yet, or no more.
  bool read(uint64_t seq, uint32_t which, void* dst, size_t length) const {
    const Post& p = post(seq, which);
    if (p.seq.load(std::memory_order_acquire) != seq) return false;
    char* to = static_cast<char*>(dst);
    for (size_t i = 0; length != 0; ++i) {
      const size_t n = length < sizeof(uint64_t) ? length : sizeof(uint64_t);
      // Acquire: pairs with show(); a newer word comes with the number's change before it.
      const uint64_t word = p.words[i].load(std::memory_order_acquire);
      std::memcpy(to, &word, n);
      to += n;
      length -= n;
    }
    annotate_receive();
    return p.seq.load(std::memory_order_relaxed) == seq;
  }
  // Clears a block that is given to a team, while no other member knows where the block is.
  void clear_board() const {
    for (uint32_t i = 0; i < kReaders; ++i) reader(i).store(0, std::memory_order_relaxed);
    for (uint64_t s = 0; s < kBoardRuns; ++s)
      for (uint32_t w = 0; w < kPosts; ++w) post(s, w).seq.store(0, std::memory_order_relaxed);
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
    return base_ + kFramesAt + (seq % kFrames) * frame_bytes(scratch_);
  }
  Post& post(uint64_t seq, uint32_t which) const {
    char* const board = base_ + kLine + kReadersBytes;
    return reinterpret_cast<Post*>(board)[(seq % kBoardRuns) * kPosts + which];
  }
  char* base_ = nullptr;
  uint64_t scratch_ = 0;
};

}  // namespace causeway
