// World: what a process has of GASPI between gaspi_proc_init and gaspi_proc_term.
#pragma once

#include <GASPI.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/gaspi/control.h"
#include "api/gaspi/refusal.h"
#include "api/gaspi/statistics.h"
#include "connection/job.h"
#include "object/client.h"
#include "process/runtime.h"

namespace causeway {
class AtomicDomain;
}

namespace causeway::gaspi {

struct LocalSegment;
struct FarSegment;
class Queue;
class Groups;
class Passive;
class Acknowledgements;
class Segments;
class ControlQueue;

inline constexpr unsigned kSegmentIds = 256;
inline constexpr unsigned kQueueIds = 16;

[[noreturn]] inline void refuse_segment(unsigned id) {
  refuse(GASPI_ERR_INV_SEG, "there is no segment {} here", id);
}
[[noreturn]] inline void refuse_segment_of(uint32_t rank, unsigned id) {
  refuse(GASPI_ERR_INV_SEG, "segment {} of rank {} is not registered here", id, rank);
}

struct World {
  World(const gaspi_config_t& config, uint32_t rank, uint32_t size);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const uint32_t rank, size;
  gaspi_config_t config;  // as far as it can be had; not changed after the start
  bool checks = false;
  Client* client = nullptr;
  std::atomic<AtomicDomain*> atomics{nullptr};  // its mechanism is that of gaspi_atomic_*
  // Polls move things on between the release of `open`, when what is above is there, and `ended`.
  std::atomic<bool> open{false}, ended{false};
  std::atomic<bool> ending{false};  // relaxed: gaspi_proc_term() has begun, which words a line

  // By id. Release when stored: what is found is complete.
  std::array<std::atomic<Queue*>, kQueueIds> queues{};
  std::array<std::atomic<LocalSegment*>, kSegmentIds> segments{};
  // By segment id, then by rank; rows are made when first needed and stay.
  using Row = std::atomic<FarSegment*>;
  std::array<std::atomic<Row*>, kSegmentIds> remote{};

  // By rank: may it be communicated with? Not when it is corrupt or disconnected. Relaxed: who asks
  // a moment too early finds out by the failure itself.
  std::unique_ptr<std::atomic<bool>[]> usable;
  // By rank: gaspi_state_t. Release when it becomes corrupt.
  std::unique_ptr<std::atomic<uint8_t>[]> state;
  std::atomic<uint32_t> corrupt{0};  // how many are
  std::atomic<uint32_t> losses{0};   // how many ever became so; acq_rel
  // So many of them the program has seen in the state vector. Relaxed: see tell_of_loss().
  std::atomic<uint32_t> losses_seen{0};
  // By rank: does its process know this one? In a replacement not before that has said so
  // (rejoin.h): messages would be dropped. Release when it becomes so.
  std::unique_ptr<std::atomic<bool>[]> reached;
  Statistics statistics;
  // Another rank's memory is mapped here, and mine there: notifications may come as stores, which
  // no poll brings. Relaxed: a hint.
  std::atomic<bool> neighbors_store{false};

  // Something waits for the next poll: control messages, deferred notifications, lost ranks.
  // Relaxed: a hint.
  std::atomic<uint32_t> work{0};

  std::unique_ptr<ControlQueue> control;
  std::unique_ptr<Segments> segment_table;
  std::unique_ptr<Groups> groups;
  std::unique_ptr<Passive> passive;
  std::unique_ptr<Acknowledgements> acknowledgements;

  // ---- process management (process.cpp) ----
  std::mutex process_mutex;
  std::vector<uint32_t> killers;  // ranks that have asked this one to end
  // Calls that wait for a control message: by rank and what was asked.
  enum class Asked : uint8_t { waiting, answered, lost };
  std::map<std::pair<uint32_t, ControlMessage>, Asked> asked;
  std::vector<std::unique_ptr<Queue>> retired_queues;
  std::unique_ptr<std::atomic<bool>[]> leaving;  // by rank: it has begun to shut down
  std::atomic<bool> kill_is_open{false};  // nobody knows whether a rank heard that it is to end

  // ---- lost ranks and their replacements (failure.cpp, rejoin.cpp) ----
  std::mutex lost_mutex;
  std::vector<uint32_t> lost;                       // connections to be purged
  std::vector<std::pair<uint32_t, Card>> arrivals;  // new processes of ranks
  std::mutex changes_mutex;                         // one thread acts on them at a time
  std::mutex mechanism_mutex;
  std::optional<std::string> mechanism;  // of atomics, told to a replacement: the adapter's name

  // Signalled when a control message was handled or a rank was lost, for those who sleep.
  std::mutex news_mutex;
  std::condition_variable news;
  uint64_t news_count = 0;  // under the mutex
  void tell_news() {
    const std::lock_guard lock(news_mutex);
    ++news_count;
    news.notify_all();
  }

  Peer& peer(uint32_t r) const { return client->endpoint()->peer(r); }
  // Which process of the rank this one talks to. Acquire: with it comes what renew_peer() did.
  uint32_t epoch(uint32_t r) const {
    const Peer* const met = client->endpoint()->met(0, r);
    return met != nullptr ? met->epoch.load(std::memory_order_acquire) : runtime().job().epoch(r);
  }
  // May messages to memory of the process that the rank was in that epoch be sent?
  bool may_send(uint32_t r, uint32_t epoch_of_memory) const {
    return usable[r].load(std::memory_order_relaxed) && epoch(r) == epoch_of_memory;
  }
  bool is_corrupt(uint32_t r) const {
    return state[r].load(std::memory_order_acquire) == GASPI_STATE_CORRUPT;
  }
  FarSegment* remote_segment(unsigned id, uint32_t r) const {
    Row* row = remote[id].load(std::memory_order_acquire);
    return row == nullptr ? nullptr : row[r].load(std::memory_order_acquire);
  }

  // What an id stands for, or a refusal.
  Queue& queue(unsigned id) const {
    Queue* const q = id < kQueueIds ? queues[id].load(std::memory_order_acquire) : nullptr;
    if (__builtin_expect(q == nullptr, 0)) refuse(GASPI_ERR_INV_QUEUE, "there is no queue {}", id);
    return *q;
  }
  LocalSegment& segment(unsigned id) const {
    LocalSegment* const s = segments[id].load(std::memory_order_acquire);
    if (__builtin_expect(s == nullptr, 0)) refuse_segment(id);
    return *s;
  }
  FarSegment& segment_of(uint32_t r, unsigned id) const {
    FarSegment* const s = remote_segment(id, r);
    if (__builtin_expect(s == nullptr, 0)) refuse_segment_of(r, id);
    return *s;
  }
};

// NULL before gaspi_proc_init has succeeded and after gaspi_proc_term. Release and acquire.
extern std::atomic<World*> g_world;
inline World* world() {
  return g_world.load(std::memory_order_acquire);
}
// The same, or a refusal.
inline World& started_world() {
  World* const w = world();
  if (__builtin_expect(w == nullptr, 0))
    refuse(GASPI_ERR_NOINIT,
           "gaspi_proc_init() has not succeeded, or gaspi_proc_term() has ended it");
  return *w;
}
// The world that messages are for: set before the first can come, and never reset.
extern std::atomic<World*> g_receiver;

// The poll hook: everything that GASPI moves on.
uint32_t make_progress();

// ---- failure.cpp ----
// From any context: the rank's state is corrupt from now on.
void lose_rank(uint32_t rank, const std::string& how);
// A call of this thread has returned GASPI_ERROR: the losses so far are no news to it.
void note_told(const World& world);
// There was a loss of which no call has told this thread, nor the state vector the program. True
// once for a thread, for any number of losses.
bool tell_of_loss(const World& world);
// From client context: purges the connections of lost ranks, and takes in their replacements.
uint32_t take_changes(World& world);
// A conduit answered `status` for an operation with the process that `rank` was in `epoch`: the
// error that the caller returns.
gaspi_return_t operation_error(World& world, uint32_t rank, uint32_t epoch, cwy_status status,
                               const cwy_detail* detail = nullptr);

// Connects; GASPI_TIMEOUT while the conduits are at it, GASPI_ERROR when it cannot be.
gaspi_return_t try_connect(World& world, uint32_t rank);

}  // namespace causeway::gaspi
