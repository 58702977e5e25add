// The conduit's objects: domain, endpoint, connection, memory, rkey.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "../common/descriptor.h"
#include "../common/module_table.h"
#include "../common/plugin_services.h"
#include "../common/thread_counters.h"
#include "../common/thread_handle.h"
#include "layout.h"
#include "object.h"
#include "options.h"
#include "ring.h"

namespace causeway::shm {

using conduit::log;
using conduit::services;

// A reference to a process that tells whether it still runs; immune to recycled pids.
class ProcessHandle {
 public:
  ProcessHandle() = default;
  explicit ProcessHandle(uint32_t pid);
  bool gone() const;

 private:
  Descriptor pidfd_;
  uint32_t pid_ = 0;
  uint64_t start_time_ = 0;  // where no pidfd could be had
};

// A further way to the same peer, for threads that met on the first one: a slot of its own.
struct alignas(cache_line) SideWay {
  TxLane lane[lane_count];
  Slot* slot = nullptr;  // ours, in the peer's object
};

// Threads are told apart by this many numbers. Two may have the same one: what is kept by number
// are hints and statistics.
inline constexpr uint32_t thread_numbers = 16;
inline uint32_t my_number() {
  return thread_number(thread_handle(), thread_numbers);
}

// Looks at the clock, for liveness, after so many calls that found nothing. Few enough that a death
// is noticed in about a second also where a waiting rank gives up its processor after every call
// and gets it back after milliseconds; enough that the clock's price disappears among them.
inline constexpr uint32_t idle_polls_per_look = 1u << 8;

// Counted of puts, gets and atomics, by whichever thread makes them.
enum OneSidedCount : size_t {
  count_puts,
  count_put_bytes,
  count_gets,
  count_get_bytes,
  count_atomics,
  one_sided_counts
};

// Lies behind each cwyc_conn. The first lines are what a message touches.
struct Connection {
  TxLane lane[lane_count];
  ControlHeader* peer_control = nullptr;
  cwyc_conn* conn = nullptr;
  // Set once by whoever learns of the peer's end. Relaxed: only this connection's answers
  // depend on it, and they may change a moment later.
  std::atomic<bool> failed{false};
  bool reported = false;  // told the core
  uint32_t dead_sweeps = 0;

  // Ways to the peer beside the first, from the front; each is set once, with release, by the
  // holder of `widening`, and stays until the connection ends. Acquire: what it points to is ready.
  std::atomic<SideWay*> side[side_ways_max]{};
  // Which way a thread went last: 0 is the first one. A hint, because a thread that goes there
  // takes the lane's lock; but stored with release and loaded with acquire, because another thread
  // may have the same number, and must find the way in `side`.
  std::atomic<uint8_t> way[thread_numbers]{};

  // The lane of a way that exists.
  TxLane& lane_of(uint32_t way_index, uint32_t which) {
    if (way_index == 0) return lane[which];
    return side[way_index - 1].load(std::memory_order_acquire)->lane[which];
  }
  const TxLane& lane_of(uint32_t way_index, uint32_t which) const {
    return const_cast<Connection*>(this)->lane_of(way_index, which);
  }
  uint32_t ways() const {
    uint32_t n = 0;
    while (n < side_ways_max && side[n].load(std::memory_order_acquire) != nullptr) ++n;
    return n + 1;
  }

  bool has_failed() const { return failed.load(std::memory_order_relaxed); }

  Mapping mapping;
  Slot* slot = nullptr;  // ours, in the peer's object
  uint32_t peer_pid = 0;
  ProcessHandle process;

  // Written by who sends, in a line that nobody looks at for other reasons.
  alignas(cache_line) std::atomic<uint32_t> meetings{0};  // of threads on one lane; relaxed: a hint
  std::atomic<bool> at_widest{false};                     // relaxed: no further way can be had
  TryLock widening;
  Count wakes;
};

inline Connection& connection(cwyc_conn* conn) {
  return *reinterpret_cast<Connection*>(conn + 1);
}

// A slot as its owner, the receiver, sees it.
struct Receiver {
  RxLane lane[lane_count];
  // The slot's word when it was adopted. Relaxed: changes only while both lanes are quiet.
  std::atomic<uint64_t> owner{0};
  bool listed = false;  // stands in cwyc_ep::polled
  // Stale or babbling: never read again. Relaxed; each lane's holder closes its lane on seeing it.
  std::atomic<bool> rejected{false};
};

struct Totals {
  uint64_t messages[lane_count][3] = {}, bytes[lane_count] = {}, retries[lane_count] = {};
  uint64_t wakes = 0;
  void add(const Connection& c);
};

}  // namespace causeway::shm

struct cwyc_domain {
  causeway::shm::Options options;
  bool posix = false;
  std::atomic<bool> warned_huge{false};  // relaxed: at worst the warning comes twice
  uint64_t pid_namespace = 0;
  uint64_t job = 0;  // the first half of the job's key
};

struct cwyc_mem {
  char* base = nullptr;
  size_t length = 0;
  bool allocated = false;
  causeway::shm::Object object;
  causeway::shm::Mapping mapping;
};

struct cwyc_rkey {
  uint64_t base = 0;  // as the owner addresses it
  uint64_t length = 0;
  intptr_t delta = 0;
  bool mapped = false;  // load and store; else by pid, where cross_memory says so
  bool cross_memory = false;
  uint32_t pid = 0;
  causeway::shm::Mapping mapping;  // empty for this process's own memory
};

struct cwyc_ep {
  cwyc_domain* domain = nullptr;
  cwyc_ep_params params{};
  // Relaxed: the core raises it before it lets a second thread in.
  std::atomic<bool> multithreaded{false};

  causeway::shm::ControlHeader* control = nullptr;
  uint32_t slot_count = 0;
  uint32_t medium_max = 0;
  uint64_t mem_room = 0;
  // By slot; made when the slot is first opened. Under adopt_lock.
  std::unique_ptr<std::unique_ptr<causeway::shm::Receiver>[]> receivers;
  // Receivers that have been opened; grows only. Written under adopt_lock, count with release.
  std::unique_ptr<causeway::shm::Receiver*[]> polled;
  std::atomic<uint32_t> polled_count{0};
  // The last `recent_size` receivers that had something; NULL before the first is polled. Release
  // and acquire: a thread may find a receiver here that it has not found among the others.
  static constexpr uint32_t recent_size = 8;
  std::atomic<causeway::shm::Receiver*> recent[recent_size]{};
  // Where the slow scan stands, and the next place among the recent. Relaxed: hints.
  std::atomic<uint32_t> recent_next{0}, cursor{0};

  std::atomic<uint32_t> seen_generation{0};  // relaxed: written under adopt_lock, a hint elsewhere
  causeway::shm::TryLock adopt_lock;
  std::vector<std::pair<uint32_t, uint32_t>> newest_epoch;  // (rank, epoch) seen; under adopt_lock

  // Naps. `sleepers` counts this process's threads inside nap, under nap_mutex.
  std::mutex nap_mutex;
  uint32_t sleepers = 0;
  bool membarrier = false;
  std::atomic<bool> senders_have_membarrier{true};  // relaxed: seen with the slot, before a nap
  causeway::Count naps;
  causeway::ThreadCounters<causeway::shm::one_sided_counts> one_sided;

  // Connections, for liveness and statistics.
  std::mutex connections_mutex;
  std::vector<causeway::shm::Connection*> connections;
  std::atomic<uint64_t> next_liveness{0};  // relaxed: at worst two threads look
  causeway::shm::Totals retired;           // keeps that away from what each poll reads
  // Calls of progress that found nothing, since the last look at the clock. Stays where that look
  // is due while there are several threads, which count in `idle_of_thread`, by my_number().
  // Relaxed: only paces that look, and counts that are lost make it later.
  std::atomic<uint32_t> idle_polls{0};
  struct alignas(causeway::shm::cache_line) IdleCount {
    std::atomic<uint32_t> polls{0};
  };
  IdleCount idle_of_thread[causeway::shm::thread_numbers];

  causeway::shm::Object object;
  causeway::shm::Mapping mapping;
};

namespace causeway::shm {

// Looks for changed slots. Called when the generation differs from the one seen.
void adopt_slots(cwyc_ep* ep);
// Anything unread, in any ring, or any slot not yet looked at?
bool anything_pending(cwyc_ep* ep);
// Stops reading what `peer` (or an older epoch of it) sends. `gone`: nobody writes there any more.
void reject_sender(cwyc_ep* ep, cwy_peer peer, bool gone);
// Anything unread from that rank?
bool has_unread(cwyc_ep* ep, uint32_t rank);

// Looks at every peer's process; reports those that are gone. Cheap to call too often.
void check_liveness(cwyc_ep* ep);
// Looks at one peer now; true when it is gone (and then reported).
bool check_peer(Connection& c);

// Opens one more way to the peer, unless another thread is at it or there can be no more.
void widen(Connection& c);

// Wakes the peer if it sleeps. Call after a publish.
void wake_slowly(Connection& c);

uint64_t rkey_max();

// The table.
struct Conduit {
  static constexpr uint32_t concurrency = CWYC_MULTI;
  static conduit::Call<&cwyc_module::disconnect> disconnect;
  static conduit::Call<&cwyc_module::purge> purge;
  static conduit::Call<&cwyc_module::nap> nap;

#include "../common/memory_calls.h"
};

}  // namespace causeway::shm
