// What a lost rank means for GASPI: its state is corrupt, and everything under way with it ends.
#include <algorithm>

#include "api/gaspi/mailbox.h"
#include "api/gaspi/world.h"
#include "diag/error.h"
#include "diag/log.h"
#include "object/endpoint.h"
#include "object/runtime.h"

namespace causeway::gaspi {

void lose_rank(uint32_t rank, const std::string& how) {
  World* const w = g_receiver.load(std::memory_order_acquire);
  if (w == nullptr || rank >= w->size || rank == w->rank) return;
  // acq_rel: the first thread alone goes on.
  if (w->state[rank].exchange(GASPI_STATE_CORRUPT, std::memory_order_acq_rel) ==
      GASPI_STATE_CORRUPT) {
    return;
  }
  log_info("rank {} is corrupt: {}", rank, how);
  w->usable[rank].store(false, std::memory_order_relaxed);
  w->corrupt.fetch_add(1, std::memory_order_release);
  {
    const std::lock_guard lock(w->lost_mutex);
    w->lost.push_back(rank);
  }
  w->work.fetch_add(1, std::memory_order_relaxed);
  w->tell_news();
}

uint32_t purge_lost(World& w) {
  std::vector<uint32_t> ranks;
  {
    const std::lock_guard lock(w.lost_mutex);
    ranks.swap(w.lost);
  }
  for (const uint32_t rank : ranks) {
    w.work.fetch_sub(1, std::memory_order_relaxed);
    w.mail->forget(rank);
    Peer& base = base_peer(w.peer(rank));
    const std::lock_guard lock(base.ep->connect_mutex());
    for (Connection* c : base.connections) {
      if (c == nullptr) continue;
      // A conduit that one thread may enter at a time is entered under its mutex, cold calls too.
      std::unique_lock<std::recursive_mutex> enter(c->cep->mutex, std::defer_lock);
      if (c->cep->serial) enter.lock();
      c->cep->conduit->module().purge(&c->conn);
    }
  }
  return static_cast<uint32_t>(ranks.size());
}

gaspi_return_t operation_error(World& w, uint32_t rank, cwy_status status) {
  if (status == CWY_ERR_PEER_FAILED || status == CWY_ERR_UNREACHABLE) {
    // Where another client's rules hold, its job ends by the same news (Runtime::attend).
    runtime().note_loss(rank, fmt::format("an operation failed with {}", status_name(status)));
    if (runtime().survives_failures()) lose_rank(rank, status_name(status));
  } else {
    log_warn("an operation with rank {} failed with {}", rank, status_name(status));
  }
  static_cast<void>(w);
  return GASPI_ERROR;
}

gaspi_return_t try_connect(World& w, uint32_t rank) {
  Peer& peer = w.peer(rank);
  // Acquire: a connection that has been swapped in is complete.
  if (peer.am.load(std::memory_order_acquire) != &peer.stub) return GASPI_SUCCESS;
  if (w.is_corrupt(rank)) return GASPI_ERROR;
  try {
    return connect_peer(peer) == CWY_OK ? GASPI_SUCCESS : GASPI_TIMEOUT;
  } catch (const Error& e) {
    log_warn("rank {} cannot be connected to: {}", rank, e.text());
    return operation_error(w, rank, CWY_ERR_UNREACHABLE);
  }
}

}  // namespace causeway::gaspi
