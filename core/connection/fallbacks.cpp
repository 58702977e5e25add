#include "connection/fallbacks.h"

namespace causeway {

constinit Fallbacks fallbacks;

namespace {

// A conduit with put but no put_small: the source is copied at once by its put.
cwy_status small_by_put(cwyc_conn* conn, const void* src, uint64_t raddr, cwyc_rkey* rkey,
                        size_t length, uint32_t flags, cwyc_op* op) {
  return conn->ops->put(conn, src, nullptr, raddr, rkey, length, flags | CWYC_SRC_VOLATILE, op);
}

template <typename Fn>
void fill(Fn& entry, Fn with) {
  if (entry == nullptr) entry = with;
}

}  // namespace

void fill_with_emulation(cwyc_ops& ops) {
  const cwyc_ops& emulated = *fallbacks.emulated;
  fill(ops.put, emulated.put);
  fill(ops.put_small, &small_by_put);
  fill(ops.get, emulated.get);
  fill(ops.atomic, emulated.atomic);
  fill(ops.am_long, emulated.am_long);
  fill(ops.put_notify, &unsupported);
  fill(ops.putv, &unsupported);
  fill(ops.getv, &unsupported);
  fill(ops.am_prepare, emulated.am_prepare);
  fill(ops.am_commit, emulated.am_commit);
  fill(ops.am_cancel, emulated.am_cancel);
  fill(ops.flush, &unsupported);
  fill(ops.check, &unsupported);
}

}  // namespace causeway
