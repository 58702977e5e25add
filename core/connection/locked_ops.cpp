#include "connection/locked_ops.h"

#include <causeway/operations.h>

#include <mutex>

#include "connection/conduit_set.h"
#include "connection/peer.h"

namespace causeway {
namespace {

const cwyc_ops& inner_of(cwyc_conn* conn) {
  return Connection::of(conn).cep->inner[conn->table];
}

template <auto Entry, typename... Args>
void lock(cwy_status (*&entry)(cwyc_conn*, Args...)) {
  entry = [](cwyc_conn* conn, Args... args) -> cwy_status {
    const std::lock_guard guard(Connection::of(conn).cep->mutex);
    return (inner_of(conn).*Entry)(conn, args...);
  };
}

// A negotiated send keeps the endpoint from prepare to commit: SERIAL conduits promise nothing
// about what others do in between.
cwy_status locked_prepare(cwyc_conn* conn, size_t least, size_t most, uint32_t nargs,
                          uint32_t flags, cwyc_am_slot* slot) {
  std::recursive_mutex& mutex = Connection::of(conn).cep->mutex;
  mutex.lock();
  const cwy_status status = inner_of(conn).am_prepare(conn, least, most, nargs, flags, slot);
  if (status != CWY_OK) mutex.unlock();
  return status;
}
void locked_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                   uint32_t nargs, size_t length) {
  inner_of(conn).am_commit(conn, slot, word, args, nargs, length);
  Connection::of(conn).cep->mutex.unlock();
}
void locked_cancel(cwyc_conn* conn, cwyc_am_slot* slot) {
  inner_of(conn).am_cancel(conn, slot);
  Connection::of(conn).cep->mutex.unlock();
}

template <auto Entry, typename... Args>
void lock(void (*&)(cwyc_conn*, Args...)) {}  // set below

}  // namespace

cwyc_ops locking_table() {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_SERIAL;
  for_each_operation([&]<typename Each>(const Each&) { lock<Each::member>(ops.*Each::member); });
  ops.am_prepare = locked_prepare;
  ops.am_commit = locked_commit;
  ops.am_cancel = locked_cancel;
  return ops;
}

}  // namespace causeway
