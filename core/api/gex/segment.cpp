// gex_Segment_* and the binding of segments to endpoints.
#include "object/segment.h"

#include <algorithm>

#include "am/send.h"
#include "api/export.h"
#include "api/refuse.h"
#include "base/call_arguments.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "base/handles.h"
#include "kinds/memkind.h"
#include "object/client.h"
#include "process/binding.h"
#include "process/runtime.h"

namespace causeway {
namespace {

struct Bound {
  void* owner;
  void* local;
  uintptr_t size;
};

bool has_everything(const Endpoint& ep) {
  return ep.segment() != nullptr && ep.segment()->is_everything();
}

void require_size(uintptr_t size) {
  const size_t most = max_segment_size();
  if (size > most)
    throw Error(CWY_ERR_INVALID, "size {} is over gasnet_getMaxLocalSegmentSize(), {}", size, most);
}

// Answers what this process knows of the segment bound to a peer's endpoint. Where it lies here is
// looked for only if that is `wanted`: some conduits connect before they map.
bool bound_segment(const char* call, gex_TM_t tm, gex_Rank_t rank, bool wanted, Bound& out) {
  if (runtime().checks()) require_rank(call, tm, rank);
  const Team& team = *Team::of(tm);
  const uint32_t job_rank = team.job_rank(rank);
  const uint16_t index = team.members()[rank].index();
  if (job_rank == runtime().rank()) {
    const Endpoint* ep = find_endpoint(team.client()->id(), index);
    const Segment* own = ep != nullptr ? ep->segment() : nullptr;
    if (own == nullptr) return false;
    out = {own->addr(), own->device() == nullptr ? own->addr() : nullptr, own->size()};
    return true;
  }
  const Peer* peer = team.ep()->met(index, job_rank);
  if (peer == nullptr && wanted && runtime().job().locality(job_rank) == Locality::nbrhd)
    peer = &team.member(rank);
  if (peer == nullptr) {
    const auto published = team.client()->publications().published(index, job_rank);
    if (published) out = {reinterpret_cast<void*>(published->base), nullptr, published->size};
    return published.has_value();
  }
  out.size = peer->segment.size.load(std::memory_order_acquire);
  if (out.size == 0) return false;
  out.owner = reinterpret_cast<void*>(peer->segment.base);
  out.local =
      wanted && is_mapped(*peer)
          ? reinterpret_cast<void*>(peer->segment.base + static_cast<uint64_t>(peer->segment.delta))
          : nullptr;
  return true;
}

void write_bound(const Bound& b, void** owneraddr_p, void** localaddr_p, uintptr_t* size_p) {
  if (owneraddr_p != nullptr) *owneraddr_p = b.owner;
  if (localaddr_p != nullptr) *localaddr_p = b.local;
  if (size_p != nullptr) *size_p = b.size;
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API uintptr_t gasnet_getMaxLocalSegmentSize(void) {
  require_started("gasnet_getMaxLocalSegmentSize()");
  if (runtime().everything()) return UINTPTR_MAX;
  return max_segment_size();
}
CAUSEWAY_API uintptr_t gasnet_getMaxGlobalSegmentSize(void) {
  require_started("gasnet_getMaxGlobalSegmentSize()");
  if (runtime().everything()) return UINTPTR_MAX;
  return runtime().job().least_segment_max();
}

CAUSEWAY_API int gex_Segment_Attach(gex_Segment_t* segment_p, gex_TM_t tm, uintptr_t size) {
  constexpr const char* kCall = "gex_Segment_Attach()";
  note_call(kCall, "segment_p, tm, size", segment_p, tm, size);
  require_client_context(kCall, thread_state());
  if (segment_p == nullptr) return refuse(kCall, GASNET_ERR_BAD_ARG, "segment_p is NULL");
  if (tm == GEX_TM_INVALID) return refuse(kCall, GASNET_ERR_BAD_ARG, "tm is GEX_TM_INVALID");
  // The endpoint is bound to everything: no effect but a barrier (specification, NOTE).
  if (!Team::of(tm)->is_pair() && has_everything(*Team::of(tm)->ep())) {
    return guarded(kCall, [&] {
      publish_segments(kCall, *Team::of(tm), [] { return std::vector<Endpoint*>(); });
      *segment_p = GEX_SEGMENT_INVALID;
    });
  }
  if (size == 0 || size % GASNET_PAGESIZE != 0) {
    return refuse(kCall, GASNET_ERR_BAD_ARG,
                  fmt::format("size {} is not a non-zero multiple of GASNET_PAGESIZE ({})", size,
                              GASNET_PAGESIZE));
  }
  Team& team = *Team::of(tm);
  if (team.is_pair()) return refuse(kCall, GASNET_ERR_BAD_ARG, "a TM-pair is not a team");
  return guarded(kCall, [&] {
    std::unique_ptr<Segment> segment;
    Endpoint& ep = *team.ep();
    try {
      // A failure on one member is one on all.
      publish_segments(kCall, team, [&]() -> std::vector<Endpoint*> {
        if (ep.segment() != nullptr)
          throw Error(CWY_ERR_INVALID, "the endpoint has a bound segment already");
        require_size(size);
        segment.reset(Segment::allocate(team.client(), size));
        segment->set_lasting();
        team.client()->bind(ep, segment.get());
        return {&ep};
      });
    } catch (const Error&) {
      if (segment != nullptr) team.client()->bind(ep, nullptr);
      throw;
    }
    *segment_p = as_c(segment.release());
  });
}

CAUSEWAY_API int gex_Segment_Create(gex_Segment_t* segment_p, gex_Client_t client,
                                    gex_Addr_t address, uintptr_t length, gex_MK_t kind,
                                    gex_Flags_t flags) {
  constexpr const char* kCall = "gex_Segment_Create()";
  if (segment_p == nullptr || client == GEX_CLIENT_INVALID)
    return refuse(kCall, GASNET_ERR_BAD_ARG, "segment_p or client is missing");
  flags = flags_of_call(kCall, flags, 0);
  if (flags != 0) return refuse(kCall, GASNET_ERR_BAD_ARG, "flags must be 0");
  if (kind == GEX_MK_INVALID) return refuse(kCall, GASNET_ERR_BAD_ARG, "kind is GEX_MK_INVALID");
  if (length == 0) return refuse(kCall, GASNET_ERR_BAD_ARG, "length is 0");
  if (kind != GEX_MK_HOST) {
    if (as(kind)->client() != as(client))
      return refuse(kCall, GASNET_ERR_BAD_ARG, "kind belongs to another client");
    return guarded(kCall, [&] {
      *segment_p = as_c(Segment::on_device(as(client), *as(kind), address, length, flags));
    });
  }
  if (address == nullptr && length > max_segment_size()) {
    return refuse(kCall, GASNET_ERR_BAD_ARG,
                  fmt::format("length {} is over gasnet_getMaxLocalSegmentSize(), {}", length,
                              max_segment_size()));
  }
  return guarded(kCall, [&] {
    *segment_p = as_c(address == nullptr ? Segment::allocate(as(client), length)
                                         : Segment::describe(as(client), address, length, flags));
  });
}

// An endpoint that had the segment has none afterwards and may be bound to another one, which the
// specification leaves open. Peers that know of it let go when that one is published.
CAUSEWAY_API void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_Segment_Destroy()";
  note_call(kCall, "segment, flags", segment, flags);
  if (segment == GEX_SEGMENT_INVALID) fatal(kCall, "segment is GEX_SEGMENT_INVALID");
  require_no_flags(kCall, flags);
  Segment* s = as(segment);
  if (context().checks() && s->is_lasting())
    fatal(kCall, "the segment is attached, and lasts as long as its client");
  or_fatal(kCall, [&] {
    s->client()->for_each_endpoint([&](Endpoint& ep) {
      if (ep.segment() == s) s->client()->bind(ep, nullptr);
    });
  });
  s->recall(kCall);
  delete s;
}

CAUSEWAY_API gex_Client_t gex_Segment_QueryClient(gex_Segment_t s) {
  return as_c(as(valid("gex_Segment_QueryClient()", "GEX_SEGMENT_INVALID", s))->client());
}
CAUSEWAY_API gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t s) {
  return as(valid("gex_Segment_QueryFlags()", "GEX_SEGMENT_INVALID", s))->flags();
}
CAUSEWAY_API void* gex_Segment_QueryAddr(gex_Segment_t s) {
  return as(valid("gex_Segment_QueryAddr()", "GEX_SEGMENT_INVALID", s))->addr();
}
CAUSEWAY_API uintptr_t gex_Segment_QuerySize(gex_Segment_t s) {
  return as(valid("gex_Segment_QuerySize()", "GEX_SEGMENT_INVALID", s))->size();
}
CAUSEWAY_API void gex_Segment_SetCData(gex_Segment_t s, const void* val) {
  as(valid("gex_Segment_SetCData()", "GEX_SEGMENT_INVALID", s))->cdata = val;
}
CAUSEWAY_API void* gex_Segment_QueryCData(gex_Segment_t s) {
  return const_cast<void*>(as(valid("gex_Segment_QueryCData()", "GEX_SEGMENT_INVALID", s))->cdata);
}

CAUSEWAY_API int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_EP_BindSegment()";
  flags = flags_of_call(kCall, flags, 0);
  if (ep == GEX_EP_INVALID || segment == GEX_SEGMENT_INVALID || flags != 0)
    return refuse(kCall, GASNET_ERR_BAD_ARG, "ep and segment must be valid and flags 0");
  if (has_everything(*as(ep))) {
    return refuse(kCall, GASNET_ERR_BAD_ARG,
                  "with GASNET_SEGMENT_EVERYTHING the primordial endpoint is bound to the whole "
                  "address space");
  }
  if (as(ep)->segment() != nullptr)
    return refuse(kCall, GASNET_ERR_BAD_ARG, "the endpoint has a bound segment already");
  if (as(ep)->client() != as(segment)->client())
    return refuse(kCall, GASNET_ERR_BAD_ARG, "endpoint and segment belong to different clients");
  if (as(ep)->index() == 0 && as(segment)->device() != nullptr) {
    return refuse(kCall, GASNET_ERR_BAD_ARG,
                  "a segment of device memory cannot be bound to the primordial endpoint; create "
                  "one with gex_EP_Create()");
  }
  return guarded(kCall, [&] { as(ep)->client()->bind(*as(ep), as(segment)); });
}

CAUSEWAY_API int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t* eps, size_t num_eps,
                                            gex_Flags_t flags) {
  constexpr const char* kCall = "gex_EP_PublishBoundSegment()";
  note_call(kCall, "tm, eps, num_eps, flags", tm, eps, num_eps, flags);
  flags = flags_of_call(kCall, flags, 0);
  require_client_context(kCall, thread_state());
  if (flags != 0) return refuse(kCall, GASNET_ERR_BAD_ARG, "flags must be 0");
  if (tm == GEX_TM_INVALID) return refuse(kCall, GASNET_ERR_BAD_ARG, "tm is GEX_TM_INVALID");
  Team& team = *Team::of(tm);
  if (team.is_pair()) return refuse(kCall, GASNET_ERR_BAD_ARG, "a TM-pair is not a team");
  return guarded(kCall, [&] {
    publish_segments(kCall, team, [&] {
      std::vector<Endpoint*> own;
      if (eps == nullptr && num_eps != 0)
        throw Error(CWY_ERR_INVALID, "eps is NULL, but num_eps is {}", num_eps);
      for (size_t i = 0; i < num_eps; ++i) {
        if (eps[i] == GEX_EP_INVALID) throw Error(CWY_ERR_INVALID, "eps[{}] is GEX_EP_INVALID", i);
        Endpoint* ep = as(eps[i]);
        if (ep->client() != team.client())
          throw Error(CWY_ERR_INVALID, "eps[{}] belongs to another client than the team", i);
        if (std::ranges::find(own, ep) != own.end())
          throw Error(CWY_ERR_INVALID, "eps[{}] is named twice", i);
        own.push_back(ep);
      }
      return own;
    });
  });
}

CAUSEWAY_API gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank,
                                                    void** owneraddr_p, void** localaddr_p,
                                                    uintptr_t* size_p, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_EP_QueryBoundSegmentNB()";
  note_call(kCall, "tm, rank, owneraddr_p, localaddr_p, size_p, flags", tm, rank, owneraddr_p,
            localaddr_p, size_p, flags);
  flags = flags_of_call(kCall, flags, GEX_FLAG_IMMEDIATE);
  if (flags & ~GEX_FLAG_IMMEDIATE) fatal(kCall, "flags may be 0 or GEX_FLAG_IMMEDIATE only");
  valid(kCall, "GEX_TM_INVALID", tm);
  if (runtime().checks() && !(flags & GEX_FLAG_IMMEDIATE))
    require_client_context(kCall, thread_state());
  // Everything published is known locally, so the answer waits for nobody.
  Bound b{nullptr, nullptr, 0};
  bound_segment(kCall, tm, rank, localaddr_p != nullptr, b);
  write_bound(b, owneraddr_p, localaddr_p, size_p);
  return GEX_EVENT_INVALID;
}

CAUSEWAY_API int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p,
                                        void** localaddr_p, uintptr_t* size_p) {
  constexpr const char* kCall = "gex_Segment_QueryBound()";
  note_call(kCall, "tm, rank, owneraddr_p, localaddr_p, size_p", tm, rank, owneraddr_p, localaddr_p,
            size_p);
  valid(kCall, "GEX_TM_INVALID", tm);
  if (runtime().checks()) require_client_context(kCall, thread_state());
  Bound b{nullptr, nullptr, 0};
  if (!bound_segment(kCall, tm, rank, localaddr_p != nullptr, b)) return GASNET_ERR_NOT_READY;
  write_bound(b, owneraddr_p, localaddr_p, size_p);
  return 0;
}
