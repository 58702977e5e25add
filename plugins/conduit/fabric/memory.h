// Registered memory of the core's, rights to peers', and what an endpoint says of itself.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "../common/ep_answers.h"
#include "objects.h"

namespace causeway::fabric {

template <class N>
struct Memory {
  using Ep = typename N::Endpoint;
  using Domain = typename N::Domain;
  using Mem = typename N::Mem;
  using Rkey = typename N::Rkey;
  using Blob = typename N::RkeyBlob;

  static cwy_status mem_reg(Domain* domain, const cwy_memref* ref, Mem** out, cwy_err* err) {
    return guarded(err, [&]() -> cwy_status {
      const Pass pass(domain->gate);
      if (const cwy_status status = N::may_register(domain, err); status != CWY_OK) return status;
      if (ref->length == 0) return report(err, CWY_ERR_INVALID, "0 bytes cannot be registered");
      auto mem = std::make_unique<Mem>();
      const cwy_status status = N::register_segment(domain, *ref, *mem, err);
      if (status != CWY_OK) return status;
      domain->mems.push_back(mem.get());
      *out = mem.release();
      return CWY_OK;
    });
  }

  static void mem_release(Domain* domain, Mem* mem) {
    if (mem == nullptr) return;
    const Pass pass(domain->gate);
    std::erase(domain->mems, mem);
    delete mem;
  }

  static cwy_status rkey_pack(Mem* mem, void* buf, uint64_t* len, cwy_err* err) {
    return give_rkey(mem->rkey, buf, len, err);
  }

  static cwy_status rkey_open(Ep* ep, const cwyc_peer_desc* peer, const void* buf, uint64_t len,
                              Rkey** out, cwy_err* err) {
    Blob blob;
    if (len != sizeof blob)
      return report(err, CWY_ERR_INVALID, "rank %u gave an rkey of %llu bytes; expected %zu",
                    peer->peer.rank, static_cast<unsigned long long>(len), sizeof blob);
    std::memcpy(&blob, buf, sizeof blob);
    if (blob.length == 0 || blob.base + blob.length < blob.base)
      return report(err, CWY_ERR_INVALID, "rank %u gave an rkey for no memory", peer->peer.rank);
    if (const cwy_status status = N::may_register(ep->domain, err); status != CWY_OK) return status;
    *out = new (std::nothrow) Rkey{N::rkey_of(blob)};
    return *out != nullptr ? CWY_OK : report(err, CWY_ERR_NOMEM, "no memory for an rkey");
  }

  static cwy_status ep_address(Ep* ep, void* buf, uint64_t* len, cwy_err* err) {
    return give_address(ep->address, buf, len, err);
  }

  static cwy_status ep_threads(Ep* ep, uint32_t multithreaded) {
    ep->domain->gate.raise(multithreaded != 0);
    return CWY_OK;
  }

  static cwy_status ep_query(Ep* ep, cwyc_ep_attr* attr) {
    cwyc_ep_attr a{};
    a.head = CWY_HEAD(cwyc_ep_attr);
    a.caps = CWYC_CAP_AM_PREPARE;
    a.ep_address_max = sizeof ep->address;
    a.rkey_max = sizeof(Blob);
    a.am_medium_max = ep->medium_max;
    a.mem_forms = CWY_FORM_HOST_VA;
    for (size_t type = 0; type < std::size(a.atomic_ops); ++type) {
      a.atomic_ops[type] = ep->domain->atomic_ops[type];
      if (a.atomic_ops[type] != 0) a.caps |= CWYC_CAP_ATOMIC;
    }
    a.ops_tables = 1;
    N::describe(*ep, a);
    return give_attributes(a, attr);
  }

  static void ep_stats(Ep* ep, cwyc_stat_fn fn, void* arg) {
    const Pass pass(ep->domain->gate);
    const Counters& c = ep->counters;
    uint64_t shorts = 0, mediums = 0, longs = 0;
    for (const auto& lane : c.messages) {
      shorts += lane[CWYC_AM_SHORT];
      mediums += lane[CWYC_AM_MEDIUM];
      longs += lane[CWYC_AM_LONG];
    }
    const auto& leases = *ep->domain->leases;
    const std::pair<const char*, uint64_t> all[] = {{"am_short", shorts},
                                                    {"am_medium", mediums},
                                                    {"am_long", longs},
                                                    {"am_bytes", c.am_bytes},
                                                    {"received", c.received},
                                                    {N::at_once_name, c.at_once},
                                                    {"copied", c.copied},
                                                    {"deferred", c.deferred},
                                                    {"put", c.puts},
                                                    {"put_bytes", c.put_bytes},
                                                    {"get", c.gets},
                                                    {"get_bytes", c.get_bytes},
                                                    {"atomic", c.atomics},
                                                    {"retries", c.retries},
                                                    {"credit_frames", c.credit_frames},
                                                    {"connections", c.connections},
                                                    {"dropped", c.dropped},
                                                    {"errors", c.errors},
                                                    {"buffer_bytes", ep->slabs->total()},
                                                    {"lease_hits", leases.hits()},
                                                    {"lease_misses", leases.misses()},
                                                    {"lease_invalidated", leases.invalidated()}};
    for (const auto& [name, value] : all) fn(arg, name, value);
    N::more_stats(ep, fn, arg);
  }

  static void ep_traffic(Ep* ep, cwyc_traffic_fn fn, void* arg) {
    // No gate: that may be held for as long as the network's library takes.
    ep->traffic.tell(fn, arg, ep->counters.retries);
  }
};

}  // namespace causeway::fabric
