// A rank is lost: its state is corrupt, and everything under way with it ends.

#include "api/gaspi/group.h"
#include "api/gaspi/control_queue.h"
#include "api/gaspi/passive.h"
#include "api/gaspi/queue.h"
#include "api/gaspi/acknowledgements.h"
#include "api/gaspi/rejoin.h"
#include "api/gaspi/segment.h"
#include "api/gaspi/world.h"
#include "base/error.h"
#include "base/log.h"
#include "staging/staged_transfer.h"
#include "process/runtime.h"
#include "object/connect.h"
#include "thread/op.h"

namespace causeway::gaspi {

void lose_rank(uint32_t rank, const std::string& how) {
  World* const w = g_receiver.load(std::memory_order_acquire);
  if (w == nullptr || rank >= w->size || rank == w->rank) return;
  // acq_rel: the first thread alone goes on.
  if (w->state[rank].exchange(GASPI_STATE_CORRUPT, std::memory_order_acq_rel) ==
      GASPI_STATE_CORRUPT) {
    return;
  }
  // Others end as soon as everybody has come to gaspi_proc_term(), and this rank hears of it.
  const bool leaves = w->ending.load(std::memory_order_relaxed);
  log_info("rank {} is {}: {}", rank, leaves ? "gone, as this one goes" : "corrupt", how);
  w->usable[rank].store(false, std::memory_order_relaxed);
  w->corrupt.fetch_add(1, std::memory_order_release);
  w->losses.fetch_add(1, std::memory_order_acq_rel);
  {
    const std::lock_guard lock(w->lost_mutex);
    w->lost.push_back(rank);
  }
  w->work.fetch_add(1, std::memory_order_relaxed);
  w->tell_news();
}

namespace {

// How many losses the calls of this thread have reported to the program.
thread_local constinit uint32_t t_losses_told __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

void note_told(const World& w) {
  t_losses_told = w.losses.load(std::memory_order_acquire);
}

bool tell_of_loss(const World& w) {
  // Acquire: who hears of a loss finds the rank corrupt.
  const uint32_t losses = w.losses.load(std::memory_order_acquire);
  if (losses == t_losses_told || losses == w.losses_seen.load(std::memory_order_relaxed)) {
    return false;
  }
  t_losses_told = losses;
  return true;
}

namespace {

// Ends everything that waits for the rank's process, so that a new process is not taken for it.
void forget_process(World& w, uint32_t rank) {
  w.control->forget(rank);
  w.acknowledgements->forget(rank);
  {
    const std::lock_guard lock(w.process_mutex);
    for (auto& [key, state] : w.asked) {
      if (key.first == rank) state = World::Asked::lost;
    }
    std::erase(w.killers, rank);
  }
  w.segment_table->forget(rank);
  w.passive->forget(rank);
  w.groups->forget(rank);
  for (auto& slot : w.queues) {
    if (Queue* queue = slot.load(std::memory_order_acquire)) queue->forget(rank);
  }
}

}  // namespace

uint32_t take_changes(World& w) {
  const std::unique_lock one(w.changes_mutex, std::try_to_lock);
  if (!one.owns_lock()) return 0;
  std::vector<uint32_t> lost;
  std::vector<std::pair<uint32_t, Card>> arrivals;
  {
    // A rank's new process arrives after the old one was lost, so never before that is forgotten.
    const std::lock_guard lock(w.lost_mutex);
    lost.swap(w.lost);
    arrivals.swap(w.arrivals);
  }
  for (const uint32_t rank : lost) {
    w.work.fetch_sub(1, std::memory_order_relaxed);
    purge_connections(base_peer(w.peer(rank)));
    forget_staged_transfers(rank);
    forget_process(w, rank);
  }
  for (auto& [rank, card] : arrivals) {
    w.work.fetch_sub(1, std::memory_order_relaxed);
    take_in(w, rank, std::move(card));
  }
  return static_cast<uint32_t>(lost.size() + arrivals.size());
}

gaspi_return_t operation_error(World& w, uint32_t rank, uint32_t epoch, cwy_status status,
                               const cwy_detail* detail) {
  // Lost already, or disconnected by the program.
  if (!w.usable[rank].load(std::memory_order_relaxed)) return GASPI_ERROR;
  if (status == CWY_ERR_PEER_FAILED || status == CWY_ERR_UNREACHABLE) {
    // Where another client's rules hold, its job ends by the same news (Runtime::attend).
    runtime().note_loss(rank, epoch, failure_text(status, detail));
    if (runtime().survives_failures() && epoch == w.epoch(rank)) {
      lose_rank(rank, status_name(status));
    }
  } else {
    log_warn("rank {}: {}", rank, failure_text(status, detail));
  }
  return GASPI_ERROR;
}

gaspi_return_t try_connect(World& w, uint32_t rank) {
  Peer& peer = w.peer(rank);
  // Acquire: a connection that has been swapped in is complete.
  if (peer.am.load(std::memory_order_acquire) != &peer.stub) return GASPI_SUCCESS;
  if (w.is_corrupt(rank)) return GASPI_ERROR;
  const uint32_t epoch = w.epoch(rank);
  try {
    return connect_peer(peer) == CWY_OK ? GASPI_SUCCESS : GASPI_TIMEOUT;
  } catch (const Error& e) {
    // The launcher tells of processes that have ended.
    const bool told = e.status() == CWY_ERR_PEER_FAILED;
    log(told ? LogLevel::info : LogLevel::warn, "{}", e.text());
    return operation_error(w, rank, epoch, CWY_ERR_UNREACHABLE);
  }
}

}  // namespace causeway::gaspi
