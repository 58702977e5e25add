// StatusPage: what a rank shows of itself to other processes of its user, which read it without
// stopping it (`causeway ps`, `causeway top`). Shared memory without a name, which readers find
// among the rank's descriptors: the kernel lets that user alone do so, and nothing is left of a
// dead rank.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace causeway {

// A wait that has lasted. The thread that claimed the entry writes it; readers are handlers of
// signals on any thread, and other processes.
struct WaitEntry {
  enum State : uint32_t { free, written, readable };
  // Release by its thread when the rest is written; acquire by readers, which look once more behind
  // their copy and pass over an entry that has changed meanwhile.
  std::atomic<uint32_t> state{free};
  std::atomic<uint32_t> round{0};  // entries of this place so far
  struct Told {
    int64_t thread;
    uint64_t since_ns;  // of now_ns()
    char call[48], what[160];
  } told{};

  bool read(Told& copy) const {
    if (state.load(std::memory_order_acquire) != readable) return false;
    const uint32_t before = round.load(std::memory_order_relaxed);
    std::memcpy(&copy, &told, sizeof copy);
    copy.call[sizeof copy.call - 1] = copy.what[sizeof copy.what - 1] = '\0';
    std::atomic_thread_fence(std::memory_order_acquire);  // the copy is made before the second look
    return state.load(std::memory_order_relaxed) == readable &&
           round.load(std::memory_order_relaxed) == before;
  }
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "read in handlers of signals");
using WaitEntries = std::array<WaitEntry, 64>;

struct StatusPage {
  static constexpr uint64_t kMagic = 0x5355544154535743;  // "CWSTATUS"
  static constexpr uint32_t kVersion = 2;                 // of everything behind it
  static constexpr const char* kName = "cwy-status";      // of the memory
  static constexpr uint32_t kMostPeers = 4096;            // told apart; in larger jobs none are

  enum Phase : uint32_t { starts, runs, leaves };
  // As cwyc_traffic has them. Relaxed: numbers that order nothing.
  enum Count : size_t { sent, sent_bytes, received, received_bytes, retries, counts };
  using Counts = std::array<std::atomic<uint64_t>, counts>;

  std::atomic<uint64_t> magic;  // release, when what is constant is written
  uint32_t version;
  // Constant.
  uint32_t pid, rank, ranks, ranks_here, epoch, peers;
  char job[64];
  uint64_t began_ns;

  std::atomic<uint32_t> phase;  // release, acquire: a rank that runs has its connections
  // A reader adds 1 to `asked`, and wakes who sleeps on it. A thread of the rank's counts, and
  // stores what it saw there to `answered`, with release. Nobody else's time is taken.
  std::atomic<uint32_t> asked, answered;
  // Answers so far, with release. Written in turn, so that the last one stands until the next but
  // one.
  std::atomic<uint32_t> turn;
  struct Answer {
    std::atomic<uint64_t> taken_ns, connections, handlers;  // threads that run one then
    Counts all;
  };
  std::array<Answer, 2> answers;
  WaitEntries waits;

  // Behind it, by peer, for each answer.
  Counts* of_peers(size_t answer, uint32_t how_many) {
    return reinterpret_cast<Counts*>(this + 1) + answer * how_many;
  }
  static size_t bytes(uint32_t peers) { return sizeof(StatusPage) + 2 * sizeof(Counts) * peers; }
};

}  // namespace causeway
