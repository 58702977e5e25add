#include "process/closed.h"

#include <causeway/operations.h>

#include <new>

#include "base/fatal.h"
#include "connection/word.h"
#include "object/client.h"
#include "process/runtime.h"

namespace causeway {
namespace {

// The table of closed connections. A closed connection stands in front of the one that served the
// peer's messages. The word of a message tells whether the message is the client's.
cwyc_conn* behind(cwyc_conn* conn) {
  return Connection::of(conn).base;
}

// True: the message is to be dropped.
bool is_dropped(cwyc_conn* conn, uint64_t word) {
  if (word & kWordInternal) return false;
  if (word & kWordReply) return true;
  const uint32_t rank = Connection::of(conn).peer->rank;
  fatal("gex_AM_Request*()", "rank {} has left the job: nobody runs handlers there", rank);
}

template <auto Entry, typename... Args>
void close(cwy_status (*&entry)(cwyc_conn*, uint64_t, const int32_t*, uint32_t, Args...)) {
  entry = [](cwyc_conn* conn, uint64_t word, const int32_t* values, uint32_t nargs,
             Args... args) -> cwy_status {
    if (is_dropped(conn, word)) return CWY_OK;
    return (behind(conn)->ops->*Entry)(behind(conn), word, values, nargs, args...);
  };
}
// The client that a negotiated message is for is known at its commit only.
template <auto Entry, typename Result, typename... Args>
void close(Result (*&entry)(cwyc_conn*, Args...)) {
  entry = [](cwyc_conn* conn, Args... args) -> Result {
    return (behind(conn)->ops->*Entry)(behind(conn), args...);
  };
}
void closed_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                   uint32_t nargs, size_t length) {
  const cwyc_ops& ops = *behind(conn)->ops;
  if (is_dropped(conn, word)) return ops.am_cancel(behind(conn), slot);
  ops.am_commit(behind(conn), slot, word, args, nargs, length);
}

// Messages alone: puts, gets and atomics have pointers of their own in Peer.
const cwyc_ops kClosedTable = [] {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_MULTI;
  for_each_operation([&]<typename Each>(const Each& operation) {
    if (operation.lane == Lane::am) close<Each::member>(ops.*Each::member);
  });
  ops.am_commit = closed_commit;
  return ops;
}();

void close_requests(Peer& peer) {
  // Not waited for: who connects holds it, and the next look comes soon.
  const std::unique_lock lock(peer.ep->connect_mutex(), std::try_to_lock);
  if (!lock.owns_lock() || !peer.connected) return;
  cwyc_conn* const open = peer.am.load(std::memory_order_relaxed);  // changes under that mutex
  if (open->ops == &kClosedTable) return;
  Connection& served = Connection::of(open);
  auto* const c = new (std::align_val_t{alignof(Connection)}) Connection;
  c->peer = &peer;
  c->cep = served.cep;
  c->attr = served.attr;
  c->base = open;
  c->conn = *open;
  c->conn.ops = &kClosedTable;
  c->conn.core = c;
  c->rma_over_am.store(served.rma_over_am.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
  c->rkey.store(served.rkey.load(std::memory_order_acquire), std::memory_order_relaxed);
  peer.former.push_back(c);
  // Release: whoever loads the pointer sees the connection complete.
  peer.am.store(&c->conn, std::memory_order_release);
}

}  // namespace

void close_requests_to(uint32_t rank) {
  const std::unique_lock lock(runtime().clients_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (Client* client : runtime().clients)
    for (uint16_t index = 0; index < Endpoint::kMaxEndpoints; ++index)
      client->for_each_peer(index, rank, close_requests);
}

}  // namespace causeway
