// One-sided operations. Sources and targets outside of registered memory are left to UCX.
#include "rma.h"

#include <atomic>
#include <cstring>
#include <string>

#include "../common/open_files.h"
#include "services.h"

namespace causeway::ucx {
namespace {

// Copies the source into the slot, or into memory of its own. NULL when there is none.
const void* copied(Slot* slot, const void* src, size_t length) {
  void* to = slot->bytes;
  if (length > slot_bytes) to = slot->large = std::malloc(length);
  if (to != nullptr) std::memcpy(to, src, length);
  return to;
}

// `op` NULL in the slot: nobody is interested in the source.
cwy_status post_put(cwyc_conn* conn, Slot* slot, const void* src, const cwyc_mem* lmem,
                    uint64_t raddr, const cwyc_rkey* rkey, size_t length) {
  Connection& c = connection(conn);
  slot->link = c.link;
  slot->kind = SlotKind::put;
  ucp_request_param_t param;
  describe(param, slot, lmem);
  conn->ep->count_sent(put_count, put_bytes, conn->peer.rank, length);
  return accepted(*c.link, slot, ucp_put_nbx(c.ep, src, length, raddr, rkey->key, &param));
}

// Where UCX has mapped the memory, its own operations are a copy by this processor too, inside of
// three calls (post, flush, request). The copy is made here, and it is complete on return.
bool copies_here(const cwyc_rkey& rkey, const cwyc_mem* lmem) {
  return rkey.mapped && is_host(lmem);
}

void* mapped_at(const cwyc_rkey& rkey, uint64_t raddr) {
  return reinterpret_cast<void*>(raddr + rkey.delta);
}

// Eight bytes are moved as one, so that they are not torn.
void move(void* to, const void* from, size_t length) {
  if (length == sizeof(uint64_t))
    std::memcpy(to, from, sizeof(uint64_t));
  else
    std::memcpy(to, from, length);
}

cwy_status put_mapped(cwyc_conn* conn, const void* src, uint64_t raddr, const cwyc_rkey& rkey,
                      size_t length) {
  move(mapped_at(rkey, raddr), src, length);
  // Release: who learns of the put from anything written after this call finds the data.
  std::atomic_thread_fence(std::memory_order_release);
  conn->ep->count_sent(put_count, put_bytes, conn->peer.rank, length);
  return CWY_OK;
}

cwy_status get_mapped(cwyc_conn* conn, void* dst, uint64_t raddr, const cwyc_rkey& rkey,
                      size_t length) {
  move(dst, mapped_at(rkey, raddr), length);
  // Acquire: what is read after this call is not older than what it read.
  std::atomic_thread_fence(std::memory_order_acquire);
  conn->ep->count_get(conn->peer.rank, length);
  return CWY_OK;
}

// Where the memory lies in this process, if UCX mapped it when it unpacked the key.
void find_mapping(cwyc_rkey& rkey) {
  void* first = nullptr;
  void* last = nullptr;
  rkey.mapped = rkey.host_memory && rkey.length != 0 &&
                ucp_rkey_ptr(rkey.key, rkey.base, &first) == UCS_OK &&
                ucp_rkey_ptr(rkey.key, rkey.base + rkey.length - 1, &last) == UCS_OK;
  rkey.delta = reinterpret_cast<uint64_t>(first) - rkey.base;
  rkey.mapped = rkey.mapped && mapped_at(rkey, rkey.base + rkey.length - 1) == last;
}

// Everything that can be said against an operation before it is posted.
cwy_status refuse(Connection& c, uint64_t raddr, cwyc_rkey* rkey, size_t length) {
  if (__builtin_expect(c.ep == nullptr, 0)) return CWY_ERR_PEER_FAILED;
  if (length == 0) return CWY_OK;  // whatever the key is
  if (__builtin_expect(rkey == nullptr || !inside(*rkey, raddr, length), 0)) return CWY_ERR_INVALID;
  return __builtin_expect(rkey->key == nullptr, 0) ? unpack(*c.link, *rkey) : CWY_OK;
}

}  // namespace

cwy_status unpack(Link& link, cwyc_rkey& rkey) {
  if (rkey.key != nullptr) return CWY_OK;
  // UCX 1.13 crashes where it cannot open the memory that a key names. Messages reach it.
  const std::string files = link.notices_failure ? "" : complaint_of_open_files(4);
  if (!files.empty()) {
    log(CWY_LOG_INFO, "memory of rank %u is not mapped: %s", link.peer.rank, files.c_str());
    return CWY_ERR_UNSUPPORTED;
  }
  forget_complaint();
  if (has_let_go(link, rkey)) return CWY_ERR_PEER_FAILED;
  const ucs_status_t status = ucp_ep_rkey_unpack(link.ep, rkey.packed.data(), &rkey.key);
  if (status == UCS_OK) {
    find_mapping(rkey);
    return CWY_OK;
  }
  rkey.key = nullptr;
  log(CWY_LOG_INFO, "the key to memory of rank %u cannot be used: %s", link.peer.rank,
      explain(status).c_str());
  return CWY_ERR_UNSUPPORTED;
}

cwy_status Conduit::put(cwyc_conn* conn, const void* src, cwyc_mem* lmem, uint64_t raddr,
                        cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  Connection& c = connection(conn);
  const cwy_status no = refuse(c, raddr, rkey, length);
  if (__builtin_expect(no != CWY_OK, 0)) return no;
  if (length == 0) return CWY_OK;
  if (copies_here(*rkey, lmem)) return put_mapped(conn, src, raddr, *rkey, length);
  Slot* slot = take_slot(conn->ep, flags);
  if (slot == nullptr) return CWY_RETRY;
  const bool copies =
      (flags & CWYC_SRC_VOLATILE) != 0 || (is_host(lmem) && conn->ep->read_only.holds(src, length));
  if (copies && (src = copied(slot, src, length)) == nullptr) {
    conn->ep->slots.give(slot);
    return CWY_ERR_NOMEM;
  }
  if (!copies) slot->op = op;
  const cwy_status status = post_put(conn, slot, src, copies ? nullptr : lmem, raddr, rkey, length);
  if (status < 0) return refused(*c.link, status, src, readable_bytes(lmem, length));
  if (status == CWY_OK) conn->ep->slots.give(slot);
  return await_remote(*c.link, op, status == CWY_OK || copies, true);
}

cwy_status Conduit::get(cwyc_conn* conn, void* dst, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
                        size_t length, uint32_t flags, cwyc_op* op) {
  Connection& c = connection(conn);
  const cwy_status no = refuse(c, raddr, rkey, length);
  if (__builtin_expect(no != CWY_OK, 0)) return no;
  if (length == 0) return CWY_OK;
  if (copies_here(*rkey, lmem)) return get_mapped(conn, dst, raddr, *rkey, length);
  Slot* slot = take_slot(conn->ep, flags);
  if (slot == nullptr) return CWY_RETRY;
  slot->link = c.link;
  slot->kind = SlotKind::get;
  slot->op = op;
  ucp_request_param_t param;
  describe(param, slot, lmem);
  conn->ep->count_get(conn->peer.rank, length);
  const cwy_status status =
      accepted(*c.link, slot, ucp_get_nbx(c.ep, dst, length, raddr, rkey->key, &param));
  if (status == CWY_OK) conn->ep->slots.give(slot);
  return status;
}

}  // namespace causeway::ucx
