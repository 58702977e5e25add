#include "am/post_long.h"

#include "am/emulated_long.h"
#include "connection/fallbacks.h"
#include "connection/peer.h"
#include "connection/post_once.h"
#include "object/local.h"

namespace causeway {

cwy_status post_long(cwyc_conn* conn, uint64_t word, const int32_t* args, unsigned nargs,
                     const void* src, size_t length, void* dest, uint32_t flags, cwyc_op* op) {
  const auto raddr = reinterpret_cast<uint64_t>(dest);
  Connection& c = Connection::of(conn);
  const auto native = [&] {
    return conn->ops->am_long(conn, word, args, nargs, src, local_registration(conn, src, length),
                              length, raddr, c.rkey.load(std::memory_order_acquire), flags, op);
  };
  const auto emulated = [&] {
    const auto post =
        __builtin_expect(c.device_end, 0) ? fallbacks.device->am_long : &emulated_long;
    return post(conn, word, args, nargs, src, nullptr, length, raddr, nullptr, flags, op);
  };
  // An empty long needs no right to any memory (specification NOTE 5). Memory beyond the bound
  // segment (GEX_FLAG_PEER_SEG_*) is for its owner to judge.
  const bool fits = length != 0 && in_known_segment(*c.peer, raddr, length, flags);
  return post_native_or_emulated(fits, c.rma_over_am, native, emulated);
}

}  // namespace causeway
