#include "connection/locked_ops.h"

#include <mutex>

#include "connection/conduit_set.h"
#include "connection/peer.h"

namespace causeway {
namespace {

const cwyc_ops& inner_of(cwyc_conn* conn) {
  return Connection::of(conn).cep->inner[conn->table];
}

template <auto Entry, typename... Args>
cwy_status locked(cwyc_conn* conn, Args... args) {
  const std::lock_guard lock(Connection::of(conn).cep->mutex);
  return (inner_of(conn).*Entry)(conn, args...);
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

}  // namespace

cwyc_ops locking_table() {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_SERIAL;
  ops.put_small = locked<&cwyc_ops::put_small>;
  ops.put = locked<&cwyc_ops::put>;
  ops.get = locked<&cwyc_ops::get>;
  ops.put_notify = locked<&cwyc_ops::put_notify>;
  ops.putv = locked<&cwyc_ops::putv>;
  ops.getv = locked<&cwyc_ops::getv>;
  ops.atomic = locked<&cwyc_ops::atomic>;
  ops.am_short = locked<&cwyc_ops::am_short>;
  ops.am_medium = locked<&cwyc_ops::am_medium>;
  ops.am_long = locked<&cwyc_ops::am_long>;
  ops.am_prepare = locked_prepare;
  ops.am_commit = locked_commit;
  ops.am_cancel = locked_cancel;
  ops.flush = locked<&cwyc_ops::flush>;
  ops.check = locked<&cwyc_ops::check>;
  return ops;
}

}  // namespace causeway
