// gex_Coll_*: "Collectives (Coll)". Checks arguments and hands over to core/collective.
#include <gasnet_coll.h>

#include <bit>
#include <cstdint>

#include "am/send.h"
#include "api/export.h"
#include "base/call_arguments.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "collective/engine.h"
#include "collective/kernels.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "object/team.h"
#include "process/runtime.h"
#include "thread/event_checks.h"

namespace causeway {
namespace {

// The flags that say where a member's own buffers lie; they hold for both.
constexpr gex_Flags_t kDisposition = GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME |
                                     GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET;

__attribute__((cold)) void check_flags(const char* call, gex_Flags_t flags, gex_Flags_t known) {
  if (known == 0) return check_flags_of_none(call, flags);
  const gex_Flags_t own = flags_of_call(call, flags, known);
  if ((own & ~known) == 0 && std::popcount(own) <= 1) return;
  fatal(call, "flags must be 0 or one of GEX_FLAG_SELF_SEG_*; {:#x} was passed", flags);
}

Team& require_team(const char* call, gex_TM_t tm, gex_Flags_t flags, gex_Flags_t known) {
  require_client_context(call, thread_state());
  if (__builtin_expect(tm == GEX_TM_INVALID, 0)) fatal(call, "the team is GEX_TM_INVALID");
  if (__builtin_expect(flags != 0, 0)) check_flags(call, flags, known);
  Team& team = *Team::of(tm);
  if (__builtin_expect(team.is_pair(), 0)) fatal(call, "a TM-pair is not a team");
  // Asked of every member by its own call: a team may have members without the capability until a
  // collective is called.
  if (__builtin_expect(runtime().checks(), 0))
    require_capability(call, *team.ep(), GEX_EP_CAPABILITY_COLL, "COLL");
  return team;
}

// Known to `checks: full` from now on.
gex_Event_t noted(const char* call, gex_Event_t event) {
  if (__builtin_expect(runtime().checks(), 0)) note_event(call, event, 0);
  return event;
}

gex_Event_t start(const char* call, Team& team, cwyl_operation operation, gex_Rank_t root,
                  void* dst, const void* src, const Reduction& r) {
  return noted(
      call, or_fatal(call, [&] { return start_collective(team, operation, root, dst, src, r); }));
}

void require_root(const char* call, const Team& team, gex_Rank_t root) {
  if (root >= team.size())
    fatal(call, "root {} does not exist in a team of {} members", root, team.size());
}

// With `checks: full`.
void check_buffer(const char* call, const char* name, const Team& team, const void* buffer,
                  size_t bytes, gex_Flags_t flags) {
  if (bytes == 0) return;
  if (buffer == nullptr && !(flags & GEX_FLAG_SELF_SEG_OFFSET))
    fatal(call, "{} is NULL, but {} bytes are to be used there", name, bytes);
  require_local_range(call, *team.ep(), flags, buffer, bytes);
}

// An address, or what an offset into the bound segment means.
void* own_buffer(const Team& team, const void* buffer, gex_Flags_t flags) {
  return const_cast<void*>(local_address(team, buffer, flags));
}

// Equal or disjoint: "Any other overlap ... yields undefined behavior".
void require_no_partial_overlap(const char* call, const void* dst, const void* src, size_t bytes) {
  const auto d = reinterpret_cast<uintptr_t>(dst), s = reinterpret_cast<uintptr_t>(src);
  if (d == s || d + bytes <= s || s + bytes <= d) return;
  fatal(call, "src {:#x} and dst {:#x} overlap within their {} bytes; they must be equal or apart",
        s, d, bytes);
}

bool is_user(gex_OP_t op) {
  return op == GEX_OP_USER || op == GEX_OP_USER_NC;
}

void check_types(const char* call, const Reduction& r) {
  if (!std::has_single_bit(r.dt) || r.dt > GEX_DT_USER)
    fatal(call, "dt {:#x} is not one GEX_DT_* constant", r.dt);
  if (r.element_bytes == 0) fatal(call, "dt_sz must not be 0");
  const size_t size = built_in_size(r.dt);
  if (size != 0 && r.element_bytes != size) {
    fatal(call, "dt_sz is {}, but elements of the data type {:#x} have {} bytes", r.element_bytes,
          r.dt, size);
  }
  if (r.count == 0) fatal(call, "dt_cnt must not be 0");
  size_t bytes = 0;
  if (__builtin_mul_overflow(r.element_bytes, r.count, &bytes))
    fatal(call, "dt_sz {} times dt_cnt {} is more than memory has", r.element_bytes, r.count);
  if (is_user(r.op)) {
    if (r.fn == nullptr) fatal(call, "user_op is NULL, but op is a user-defined one");
    return;
  }
  if (r.dt == GEX_DT_USER)
    fatal(call, "GEX_DT_USER needs GEX_OP_USER or GEX_OP_USER_NC; op {:#x} was passed", r.op);
}

Reduction describe(const char* call, gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                   gex_Coll_ReduceFn_t user_op, void* user_cdata) {
  const Reduction r{dt, op, dt_sz, dt_cnt, is_user(op) ? user_op : nullptr, user_cdata};
  if (__builtin_expect(runtime().checks(), 0)) check_types(call, r);
  // Without an operator there is nothing that could be run: diagnosed always.
  if (__builtin_expect(r.fn == nullptr && reduce_kernel(dt, op) == nullptr, 0))
    fatal(call, "op {:#x} is no reduction of data type {:#x}", op, dt);
  return r;
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_Coll_BarrierNB()";
  note_call(kCall, "tm, flags", tm, flags);
  Team& team = require_team(kCall, tm, flags, 0);
  return noted(kCall, or_fatal(kCall, [&] { return start_barrier(team); }));
}

CAUSEWAY_API gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst,
                                              const void* src, size_t nbytes, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_Coll_BroadcastNB()";
  note_call(kCall, "tm, root, dst, src, nbytes, flags", tm, root, dst, src, nbytes, flags);
  Team& team = require_team(kCall, tm, flags, kDisposition);
  if (__builtin_expect(runtime().checks(), 0)) require_root(kCall, team, root);
  // Every member knows that there is nothing to move.
  if (nbytes == 0) return GEX_EVENT_INVALID;
  dst = own_buffer(team, dst, flags);
  if (team.rank() == root) src = own_buffer(team, src, flags);
  if (__builtin_expect(runtime().checks(), 0)) {
    check_buffer(kCall, "dst", team, dst, nbytes, flags);
    if (team.rank() == root) {
      check_buffer(kCall, "src", team, src, nbytes, flags);
      require_no_partial_overlap(kCall, dst, src, nbytes);
    }
  }
  return start(kCall, team, CWYL_BROADCAST, root, dst, src, {0, 0, 1, nbytes, nullptr, nullptr});
}

CAUSEWAY_API gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst,
                                                const void* src, gex_DT_t dt, size_t dt_sz,
                                                size_t dt_cnt, gex_OP_t op,
                                                gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                                gex_Flags_t flags) {
  constexpr const char* kCall = "gex_Coll_ReduceToOneNB()";
  note_call(kCall, "tm, root, dst, src, dt, dt_sz, dt_cnt, opcode, user_op, user_cdata, flags", tm,
            root, dst, src, dt, dt_sz, dt_cnt, op, reinterpret_cast<void*>(user_op), user_cdata,
            flags);
  Team& team = require_team(kCall, tm, flags, kDisposition);
  const Reduction r = describe(kCall, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
  src = own_buffer(team, src, flags);
  if (team.rank() == root) dst = own_buffer(team, dst, flags);
  if (__builtin_expect(runtime().checks(), 0)) {
    require_root(kCall, team, root);
    check_buffer(kCall, "src", team, src, dt_sz * dt_cnt, flags);
    if (team.rank() == root) {
      check_buffer(kCall, "dst", team, dst, dt_sz * dt_cnt, flags);
      require_no_partial_overlap(kCall, dst, src, dt_sz * dt_cnt);
    }
  }
  if (dt_cnt == 0) return GEX_EVENT_INVALID;
  return start(kCall, team, CWYL_REDUCE_ONE, root, dst, src, r);
}

CAUSEWAY_API gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src,
                                                gex_DT_t dt, size_t dt_sz, size_t dt_cnt,
                                                gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                                                void* user_cdata, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_Coll_ReduceToAllNB()";
  note_call(kCall, "tm, dst, src, dt, dt_sz, dt_cnt, opcode, user_op, user_cdata, flags", tm, dst,
            src, dt, dt_sz, dt_cnt, op, reinterpret_cast<void*>(user_op), user_cdata, flags);
  Team& team = require_team(kCall, tm, flags, kDisposition);
  const Reduction r = describe(kCall, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
  src = own_buffer(team, src, flags);
  dst = own_buffer(team, dst, flags);
  if (__builtin_expect(runtime().checks(), 0)) {
    check_buffer(kCall, "src", team, src, dt_sz * dt_cnt, flags);
    check_buffer(kCall, "dst", team, dst, dt_sz * dt_cnt, flags);
    require_no_partial_overlap(kCall, dst, src, dt_sz * dt_cnt);
  }
  if (dt_cnt == 0) return GEX_EVENT_INVALID;
  return start(kCall, team, CWYL_REDUCE_ALL, 0, dst, src, r);
}
