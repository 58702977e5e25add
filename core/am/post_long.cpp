#include "am/post_long.h"

#include "am/emulated_long.h"
#include "connection/fallbacks.h"
#include "connection/peer.h"
#include "object/local.h"

namespace causeway {

cwy_status post_long(cwyc_conn* conn, uint64_t word, const int32_t* args, unsigned nargs,
                     const void* src, size_t length, void* dest, uint32_t flags, cwyc_op* op) {
  const auto raddr = reinterpret_cast<uint64_t>(dest);
  Connection& c = Connection::of(conn);
  // Memory beyond the bound segment (GEX_FLAG_PEER_SEG_*) is for its owner to judge.
  if (!c.rma_over_am.load(std::memory_order_relaxed) && length != 0 &&
      in_known_segment(*c.peer, raddr, length, flags)) {
    const cwy_status status =
        conn->ops->am_long(conn, word, args, nargs, src, local_registration(conn, src, length),
                           length, raddr, c.rkey.load(std::memory_order_acquire), flags, op);
    if (status != CWY_ERR_UNSUPPORTED) return status;
    c.rma_over_am.store(true, std::memory_order_relaxed);
  }
  if (__builtin_expect(c.device_end, 0)) {
    return fallbacks.device->am_long(conn, word, args, nargs, src, nullptr, length, raddr, nullptr,
                                     flags, op);
  }
  // An empty long needs no right to any memory (specification NOTE 5).
  return emulated_long(conn, word, args, nargs, src, nullptr, length, raddr, nullptr, flags, op);
}

}  // namespace causeway
