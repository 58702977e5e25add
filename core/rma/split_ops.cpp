#include "rma/split_ops.h"

#include "am/emulated_long.h"
#include "connection/conduit_set.h"
#include "connection/fallbacks.h"
#include "connection/op_tables.h"
#include "connection/peer.h"
#include "connection/post_once.h"
#include "connection/split.h"
#include "object/local.h"
#include "rma/emulation.h"
#include "rma/stripe.h"

namespace causeway {
namespace {

Split& split_of(cwyc_conn* conn) {
  return *Connection::of(conn).split;
}

Connection& next_member(SplitPart& part) {
  const size_t count = part.members.size();
  if (count == 1) return *part.members.front();
  return *part.members[part.turn.fetch_add(1, std::memory_order_relaxed) % count];
}

cwy_status post(cwyc_conn* conn, bool put, void* local, uint64_t raddr, size_t length,
                uint32_t flags, cwyc_op* op) {
  SplitPart& part = split_of(conn).part_for(length);
  if (length > part.stripe_above) return post_striped(part, put, local, raddr, length, flags, op);
  return post_by_member(next_member(part), put, local, raddr, length, flags, op);
}

cwy_status split_put(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey*,
                     size_t length, uint32_t flags, cwyc_op* op) {
  return post(conn, true, const_cast<void*>(src), raddr, length, flags, op);
}
cwy_status split_get(cwyc_conn* conn, void* dst, cwyc_mem*, uint64_t raddr, cwyc_rkey*,
                     size_t length, uint32_t flags, cwyc_op* op) {
  return post(conn, false, dst, raddr, length, flags, op);
}

cwy_status split_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                       uint32_t flags) {
  cwyc_conn* const to = &next_member(split_of(conn).part_for(0)).conn;
  return to->ops->am_short(to, word, args, nargs, flags);
}
cwy_status split_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                        const void* payload, cwyc_mem*, size_t length, uint32_t flags,
                        cwyc_op* op) {
  cwyc_conn* const to = &next_member(split_of(conn).part_for(length)).conn;
  cwyc_mem* const lmem = payload == nullptr ? nullptr : local_registration(to, payload, length);
  return to->ops->am_medium(to, word, args, nargs, payload, lmem, length, flags, op);
}

// Emulated longs are numbered per connection and their pieces are messages to the peer, of any
// conduit: so they start here and never at a member.
cwy_status split_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                      const void* payload, cwyc_mem*, size_t length, uint64_t raddr, cwyc_rkey*,
                      uint32_t flags, cwyc_op* op) {
  Connection& member = next_member(split_of(conn).part_for(length));
  cwyc_conn* const to = &member.conn;
  const bool fits = is_native<&cwyc_ops::am_long>(*to->ops) && length <= member.attr->am_long_max;
  const auto native = [&] {
    return to->ops->am_long(to, word, args, nargs, payload, local_registration(to, payload, length),
                            length, raddr, member.rkey.load(std::memory_order_acquire), flags, op);
  };
  return post_native_or_emulated(fits, member.rma_over_am, native, [&] {
    return emulated_long(conn, word, args, nargs, payload, nullptr, length, raddr, nullptr, flags,
                         op);
  });
}

cwyc_ops make_split_table() {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_MULTI;
  ops.put = split_put;
  ops.get = split_get;
  ops.am_short = split_short;
  ops.am_medium = split_medium;
  ops.am_long = split_long;
  fill_with_emulation(ops);
  return ops;
}

}  // namespace

const cwyc_ops& split_table() {
  static const cwyc_ops table = make_split_table();
  return table;
}

cwy_status post_by_member(Connection& c, bool put, void* local, uint64_t raddr, size_t length,
                          uint32_t flags, cwyc_op* op, const Rights& own) {
  cwyc_conn* const conn = &c.conn;
  const auto native = [&] {
    cwyc_mem* const lmem = own.over_am ? own.lmem : local_registration(conn, local, length);
    cwyc_rkey* const rkey = own.over_am ? own.rkey : c.rkey.load(std::memory_order_acquire);
    return put ? conn->ops->put(conn, local, lmem, raddr, rkey, length, flags, op)
               : conn->ops->get(conn, local, lmem, raddr, rkey, length, flags, op);
  };
  if (__builtin_expect(length > c.attr->rma_max, 0) && may_cut(c, own))
    return post_cut(c, put, local, raddr, length, flags, op, own);
  std::atomic<bool>& over_am = own.over_am ? *own.over_am : c.rma_over_am;
  return post_native_or_emulated(length <= c.attr->rma_max, over_am, native, [&] {
    return emulated_transfer(conn, put, local, raddr, length, flags, op);
  });
}

}  // namespace causeway
