#include "staging/transfer.h"

#include <cstring>
#include <memory>
#include <vector>

#include "am/emulated_long.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fatal.h"
#include "kinds/device.h"
#include "kinds/places.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "object/publication.h"
#include "object/segment.h"
#include "progress/hints.h"
#include "rma/emulation.h"
#include "staging/imports.h"
#include "staging/pins.h"
#include "staging/pipeline.h"
#include "staging/remote.h"
#include "staging/requested_transfer.h"
#include "staging/staged_transfer.h"

namespace causeway {
cwy_status by_conduit(const Ends& e, char* local, cwyc_mem* lmem, uint64_t raddr, size_t length,
                      cwyc_op* op) {
  const Connection& c = e.connection();
  cwyc_rkey* const rkey = e.right;
  if (rkey != nullptr && length <= c.attr->rma_max && e.inside) {
    const cwyc_ops& ops = host_table(c);
    const cwy_status status = e.put
                                  ? ops.put(e.conn, local, lmem, raddr, rkey, length, e.flags, op)
                                  : ops.get(e.conn, local, lmem, raddr, rkey, length, e.flags, op);
    if (status != CWY_ERR_UNSUPPORTED) return status;
  }
  return emulated_transfer(e.conn, e.put, local, raddr, length, e.flags, op);
}

namespace {

using Staging = KindPolicy::Staging;

bool always_staged(const Ends& e) {
  const Device* device = e.local_device != nullptr ? e.local_device : e.there_device;
  return device != nullptr && device->policy().staging == Staging::always;
}

// The remote end in this process' reach: its own memory, or what is mapped here.
void find_there(Ends& e, const RemoteSegment& host) {
  if (e.connection().peer->rank == context().rank()) {
    e.there = reinterpret_cast<char*>(e.raddr);
    e.there_device = device_at(rma_call_name(e.put), e.raddr, e.length);
    return;
  }
  if (!e.inside) return;  // for its owner to judge
  if (e.remote != nullptr) {
    e.import = e.remote->mapped();
    if (e.import == nullptr) return;
    e.there_device = &e.import->device();
    e.there = reinterpret_cast<char*>(e.raddr) + e.import->delta();
  } else if (!always_staged(e) && host.mapped.load(std::memory_order_acquire) == Mapped::yes) {
    e.there = reinterpret_cast<char*>(e.raddr) + host.delta;
  }
}

// ---- one copy of the kind: both ends are in its reach ----

// A device copy costs microseconds, so an allocation for each does not count.
struct DirectCopy : PendingCopy {
  cwyc_op* client = nullptr;
  uint32_t what = 0;
  std::shared_ptr<Import> import;  // it counts the copy

  static std::unique_ptr<DirectCopy> begin(const Ends& e, cwyc_op* op);
  // The copy has ended, or was not begun.
  void leave() const {
    emulations_waiting.fetch_sub(1, std::memory_order_relaxed);
    if (import != nullptr) import->copies.fetch_sub(1, std::memory_order_release);
  }
};

std::unique_ptr<DirectCopy> DirectCopy::begin(const Ends& e, cwyc_op* op) {
  auto copy = std::make_unique<DirectCopy>();
  copy->client = op;
  copy->what = e.put ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE;
  copy->import = e.import;
  if (e.local_device == nullptr) pin_for_copy(*e.there_device, e.local, e.length);
  if (e.there_device == nullptr) pin_for_copy(*e.local_device, e.there, e.length);
  emulations_waiting.fetch_add(1, std::memory_order_relaxed);
  if (e.import != nullptr) e.import->copies.fetch_add(1, std::memory_order_relaxed);
  return copy;
}

cwy_status copy_directly(const Ends& e, Device& mover, cwyc_op* op) {
  auto copy = DirectCopy::begin(e, op);
  copy->fn = [](PendingCopy& self) {
    const std::unique_ptr<DirectCopy> own(static_cast<DirectCopy*>(&self));
    own->leave();
    own->client->fn(own->client, own->what, CWY_OK, nullptr);
  };
  const cwy_status status =
      start_copy(mover, e.put ? e.there : e.local, e.put ? e.local : e.there, e.length, *copy);
  if (status == CWY_INPROGRESS)
    (void)copy.release();  // the report's now
  else
    copy->leave();
  return status;
}

// The device whose one copy moves the bytes, or NULL.
Device* mover_of(const Ends& e) {
  if (e.local_device == nullptr) return e.there_device;
  if (e.there_device == nullptr || e.there_device->copies_with(*e.local_device))
    return e.local_device;
  return nullptr;
}

// A get by the conduit into device memory: what the network wrote is made visible before the client
// hears of it.
struct FlushedGet {
  cwyc_op op{};  // first
  cwyc_op* client = nullptr;
  Device* device = nullptr;
  void* addr = nullptr;
  size_t length = 0;

  static void report(cwyc_op* reported, uint32_t what, cwy_status status,
                     const cwy_detail* detail) {
    const std::unique_ptr<FlushedGet> own(reinterpret_cast<FlushedGet*>(reported));
    if (status == CWY_OK)
      status = own->device->module().flush(own->device->kind(), own->addr, own->length);
    own->client->fn(own->client, what, status, detail);
  }
};

cwy_status native_get(const Ends& e, cwyc_mem* lmem, cwyc_op* op) {
  auto flushed = std::make_unique<FlushedGet>();
  flushed->op.fn = FlushedGet::report;
  flushed->client = op;
  flushed->device = e.local_device;
  flushed->addr = e.local;
  flushed->length = e.length;
  const cwy_status status = by_conduit(e, e.local, lmem, e.raddr, e.length, &flushed->op);
  if (status == CWY_INPROGRESS)
    (void)flushed.release();  // the report's now
  else if (status == CWY_OK)
    return e.local_device->module().flush(e.local_device->kind(), e.local, e.length);
  return status;
}

// ---- which way ----

[[noreturn]] __attribute__((cold)) void staging_forbidden(const Ends& e, const std::string& kind,
                                                          const char* where) {
  const Connection& c = e.connection();
  std::string reason;
  if (e.remote != nullptr) reason = fmt::format(" ({})", e.remote->obstacle());
  fatal(rma_call_name(e.put),
        "memory kind {} and conduit {}, which serves rank {}, share no form of memory{}, and "
        "memkinds.{}.staging is forbid{}",
        kind, c.cep->conduit->name(), c.peer->rank, reason, kind.substr(0, kind.find(':')), where);
}

void require_staging(const Ends& e) {
  for (const Device* device : {e.local_device, e.there_device})
    if (device != nullptr && device->policy().staging == Staging::forbid)
      staging_forbidden(e, device->name(), "");
  if (e.remote != nullptr && !e.remote->facts().stageable)
    staging_forbidden(e, e.remote->name(), " there");
}

void require_local(const Ends& e) {
  const Segment* segment = e.connection().peer->ep->segment();
  if (segment == nullptr || segment->device() == nullptr || e.length <= sizeof(uint64_t)) return;
  if (segment->contains(reinterpret_cast<uint64_t>(e.local), e.length)) return;
  const auto at = reinterpret_cast<uint64_t>(e.local);
  const auto base = reinterpret_cast<uint64_t>(segment->addr());
  fatal(rma_call_name(e.put),
        "the local endpoint is bound to a segment of {}, [{:#x}, {:#x}), and the local memory "
        "[{:#x}, {:#x}) is outside of it",
        segment->device()->name(), base, base + segment->size(), at, at + e.length);
}

// Bytes of the peer's largest message.
uint64_t largest_message(const Connection& c) {
  cwyc_conn* const am = c.peer->am.load(std::memory_order_acquire);
  return Connection::of(am).attr->am_medium_max;
}

// `lmem`: the registration of the local range in the connection's conduit, or NULL.
cwy_status carry(Ends& e, cwyc_mem* lmem, cwyc_op* op) {
  if (e.there != nullptr) {
    if (e.local_device == nullptr && e.there_device == nullptr) {
      std::memcpy(e.put ? e.there : e.local, e.put ? e.local : e.there, e.length);
      return CWY_OK;
    }
    Device* const mover = mover_of(e);
    if (mover != nullptr && !always_staged(e)) return copy_directly(e, *mover, op);
    require_staging(e);
    Device& buffers = e.local_device != nullptr ? *e.local_device : *e.there_device;
    return start_staged_transfer(std::make_unique<Pipeline>(e, buffers, op));
  }
  const Connection& c = e.connection();
  const bool native_there = e.remote == nullptr || e.right != nullptr;
  if (native_there && e.local_device != nullptr && lmem != nullptr && !always_staged(e) &&
      e.length <= c.attr->rma_max) {
    e.flags &= ~uint32_t{CWYC_SRC_VOLATILE};  // no processor can copy the source
    return e.put ? by_conduit(e, e.local, lmem, e.raddr, e.length, op) : native_get(e, lmem, op);
  }
  if (!native_there || e.local_device != nullptr) require_staging(e);
  // Bytes that fit into a message need no bounce buffer of the owner's.
  if (!native_there && e.length > largest_message(c))
    return start_staged_transfer(std::make_unique<RequestedTransfer>(e, op));
  if (e.local_device == nullptr) return by_conduit(e, e.local, lmem, e.raddr, e.length, op);
  return start_staged_transfer(std::make_unique<Pipeline>(e, *e.local_device, op));
}

cwy_status start(cwyc_conn* conn, bool put, void* local, uint64_t raddr, size_t length,
                 uint32_t flags, cwyc_op* op) {
  if (length == 0) return CWY_OK;
  Ends e{
      conn,   put,  static_cast<char*>(local), device_at(rma_call_name(put), local, length), raddr,
      length, flags};
  require_local(e);
  const Connection& c = e.connection();
  e.inside = in_known_segment(*c.peer, raddr, length, flags);
  if (e.inside) e.remote = c.peer->segment.device;
  e.right = c.rkey.load(std::memory_order_acquire);
  find_there(e, c.peer->segment);
  return carry(e, local_registration(conn, local, length), op);
}

// A host copy of a payload that lies in device memory; empty for one that does not.
std::vector<char> host_copy(const void* payload, size_t length) {
  constexpr const char* kCall = "gex_AM_*()";
  if (length == 0 || device_at(kCall, payload, length) == nullptr) return {};
  std::vector<char> copy(length);
  copy_bytes(kCall, copy.data(), payload, length);
  return copy;
}

}  // namespace

bool is_in_reach(const Peer& peer) {
  const Segment* segment = peer.ep->segment();
  const Device* local = segment != nullptr ? segment->device() : nullptr;
  if (local != nullptr && local->policy().staging == Staging::always) return false;
  if (peer.rank == context().rank()) return true;
  if (peer.segment.device != nullptr) return peer.segment.device->mapped() != nullptr;
  return is_mapped(peer);
}

cwy_status device_put(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey*,
                      size_t length, uint32_t flags, cwyc_op* op) {
  return start(conn, true, const_cast<void*>(src), raddr, length, flags, op);
}

cwy_status device_get(cwyc_conn* conn, void* dst, cwyc_mem*, uint64_t raddr, cwyc_rkey*,
                      size_t length, uint32_t flags, cwyc_op* op) {
  return start(conn, false, dst, raddr, length, flags, op);
}

cwy_status transfer_segments(const SegmentTransfer& t, cwyc_op* op) {
  Ends e{
      t.conn,   t.put, static_cast<char*>(t.local), device_at(t.call, t.local, t.length), t.raddr,
      t.length, 0};
  e.inside = true;
  e.remote = t.remote;
  e.right = t.right;
  RemoteSegment host;
  host.mapped.store(t.direct ? Mapped::yes : Mapped::no, std::memory_order_relaxed);  // its own
  host.delta = t.delta;
  find_there(e, host);
  return carry(e, t.lmem, op);
}

cwy_status device_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                         const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                         cwyc_op* op) {
  const std::vector<char> copy = host_copy(payload, length);
  const cwyc_ops& ops = host_table(Connection::of(conn));
  if (copy.empty()) return ops.am_medium(conn, word, args, nargs, payload, lmem, length, flags, op);
  return ops.am_medium(conn, word, args, nargs, copy.data(), nullptr, length,
                       flags | CWYC_SRC_VOLATILE, op);
}

cwy_status device_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                       const void* payload, cwyc_mem*, size_t length, uint64_t raddr, cwyc_rkey*,
                       uint32_t flags, cwyc_op* op) {
  const std::vector<char> copy = host_copy(payload, length);
  if (copy.empty()) {
    return emulated_long(conn, word, args, nargs, payload, nullptr, length, raddr, nullptr, flags,
                         op);
  }
  return emulated_long(conn, word, args, nargs, copy.data(), nullptr, length, raddr, nullptr,
                       flags | CWYC_SRC_VOLATILE, op);
}

uint32_t push_device_transfers() {
  return progress_devices() + push_staged_transfers() + push_imports();
}

}  // namespace causeway
