#include "connection/alias_tables.h"

#include <array>

#include "connection/conduit_set.h"
#include "connection/fallbacks.h"
#include "connection/peer.h"

namespace causeway {
namespace {

Connection& alias_of(cwyc_conn* conn) {
  return Connection::of(conn);
}

template <auto Entry, typename... Args>
cwy_status pass_on(cwyc_conn* conn, Args... args) {
  cwyc_conn* base = alias_of(conn).base;
  return (base->ops->*Entry)(base, args...);
}

// Messages carry the route; whatever makes messages of its own does it through the alias.
cwy_status routed_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                        uint32_t flags) {
  const Connection& a = alias_of(conn);
  return a.base->ops->am_short(a.base, word | a.route, args, nargs, flags);
}
cwy_status routed_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                         const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                         cwyc_op* op) {
  const Connection& a = alias_of(conn);
  return a.base->ops->am_medium(a.base, word | a.route, args, nargs, payload, lmem, length, flags,
                                op);
}
cwy_status routed_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                       const void* payload, cwyc_mem* lmem, size_t length, uint64_t raddr,
                       cwyc_rkey* rkey, uint32_t flags, cwyc_op* op) {
  const Connection& a = alias_of(conn);
  return a.base->ops->am_long(a.base, word | a.route, args, nargs, payload, lmem, length, raddr,
                              rkey, flags, op);
}
void routed_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                   uint32_t nargs, size_t length) {
  const Connection& a = alias_of(conn);
  a.base->ops->am_commit(a.base, slot, word | a.route, args, nargs, length);
}
void pass_on_cancel(cwyc_conn* conn, cwyc_am_slot* slot) {
  cwyc_conn* base = alias_of(conn).base;
  base->ops->am_cancel(base, slot);
}

cwyc_ops make_alias_table() {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_MULTI;
  ops.put_small = pass_on<&cwyc_ops::put_small>;
  ops.put = pass_on<&cwyc_ops::put>;
  ops.get = pass_on<&cwyc_ops::get>;
  ops.put_notify = pass_on<&cwyc_ops::put_notify>;
  ops.putv = pass_on<&cwyc_ops::putv>;
  ops.getv = pass_on<&cwyc_ops::getv>;
  ops.atomic = pass_on<&cwyc_ops::atomic>;
  ops.am_short = routed_short;
  ops.am_medium = routed_medium;
  ops.am_long = routed_long;
  ops.am_prepare = pass_on<&cwyc_ops::am_prepare>;
  ops.am_commit = routed_commit;
  ops.am_cancel = pass_on_cancel;
  ops.flush = pass_on<&cwyc_ops::flush>;
  ops.check = pass_on<&cwyc_ops::check>;
  return ops;
}
// Native operations are passed on; emulated ones start at the alias, so that the messages they
// are made of are routed. One table per combination of what is emulated.
enum : unsigned {
  kEmulatesPut = 1,
  kEmulatesGet = 2,
  kEmulatesAtomic = 4,
  kEmulatesLong = 8,
  kEmulatesPrepare = 16
};
using Tables = std::array<cwyc_ops, 32>;

Tables make_alias_tables() {
  const cwyc_ops& emulated = *fallbacks.emulated;
  Tables tables;
  for (unsigned i = 0; i < tables.size(); ++i) {
    tables[i] = make_alias_table();
    if (i & kEmulatesPut) tables[i].put = emulated.put;
    if (i & kEmulatesGet) tables[i].get = emulated.get;
    if (i & kEmulatesAtomic) tables[i].atomic = emulated.atomic;
    if (i & kEmulatesLong) tables[i].am_long = emulated.am_long;
    if (!(i & kEmulatesPrepare)) continue;
    tables[i].am_prepare = emulated.am_prepare;
    tables[i].am_commit = emulated.am_commit;
    tables[i].am_cancel = emulated.am_cancel;
  }
  return tables;
}

// The same with an end in device memory: what touches the client's memory goes another way, vectors
// become messages, and atomics are performed by the owner.
Tables make_device_tables(const Tables& of_aliases) {
  const cwyc_ops& device = *fallbacks.device;
  Tables tables = of_aliases;
  for (cwyc_ops& ops : tables) {
    ops.put_small = device.put_small;
    ops.put = device.put;
    ops.get = device.get;
    ops.put_notify = unsupported;
    ops.putv = unsupported;
    ops.getv = unsupported;
    ops.atomic = fallbacks.emulated->atomic;
    ops.am_medium = device.am_medium;
    ops.am_long = device.am_long;
  }
  return tables;
}

unsigned table_index(const Connection& base) {
  const cwyc_ops& emulated = *fallbacks.emulated;
  const cwyc_ops& inner = base.cep->inner[base.conn.table];
  unsigned which = 0;
  if (inner.put == emulated.put) which |= kEmulatesPut;
  if (inner.get == emulated.get) which |= kEmulatesGet;
  if (inner.atomic == emulated.atomic) which |= kEmulatesAtomic;
  if (inner.am_long == emulated.am_long) which |= kEmulatesLong;
  if (inner.am_prepare == emulated.am_prepare) which |= kEmulatesPrepare;
  return which;
}

}  // namespace

const cwyc_ops& alias_table(const Connection& base, bool device_end) {
  static const Tables of_aliases = make_alias_tables();
  static const Tables of_devices = make_device_tables(of_aliases);
  return (device_end ? of_devices : of_aliases)[table_index(base)];
}

}  // namespace causeway
