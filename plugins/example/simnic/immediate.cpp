// Puts that bring a number, which is outside of the interface's freeze (causeway/experimental.h): a
// completion at the receiver, with the number and the put's length, as hardware tells them.
#include "conduit.h"

namespace simnic {
namespace {

cwy_status listen(cwyc_ep* ep, cwyx_immediate_fn fn, void* arg, cwy_err* err) {
  if (fn != nullptr && ep->listener != nullptr)
    return fail(err, CWY_ERR_INVALID, "this endpoint has a listener already");
  ep->listener = fn;
  ep->listener_arg = arg;
  return CWY_OK;
}

cwy_status put(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t data, cwyc_op* op) {
  if (rkey == nullptr) return CWY_ERR_INVALID;
  return post_put(conn, {src, raddr, rkey->key, length}, {kPutImmediate, 0, data, 0}, 0, op);
}

cwyx_immediate make_immediates() {
  cwyx_immediate i{};
  i.head = CWY_HEAD(cwyx_immediate);
  i.listen = listen;
  i.put = put;
  return i;
}

}  // namespace

const cwyx_immediate immediates = make_immediates();

}  // namespace simnic
