// What only `checks: full` notices: events, locks, assertions in flags, vector, indexed and strided
// calls.
#include <gasnet_vis.h>

#include <map>
#include <string>
#include <vector>

#include "api_victim.h"

namespace victim {
namespace {

using Calls = std::map<std::string, void (*)()>;

alignas(8) char local[256];
// Not constants, or the compiler itself would refuse the calls.
volatile size_t one = 1;
void* volatile nowhere = nullptr;
volatile gex_Event_t no_op = GEX_EVENT_NO_OP;

gex_TM_t tm() {
  return job.tm;
}
std::byte* there(size_t offset = 0) {
  return peer_segment(job.peer()) + offset;
}
std::byte* here(size_t offset = 0) {
  return peer_segment(job.rank) + offset;
}
gex_Event_t a_get() {
  return gex_RMA_GetNB(tm(), local, job.peer(), there(), 64, 0);
}

// ---- gex_VIS_* ----------------------------------------------------------------------------------

gex_Memvec_t piece(void* at, size_t bytes) {
  return {at, bytes};
}

void put_vector(gex_Memvec_t to, gex_Memvec_t from, gex_Flags_t flags = 0) {
  gex_VIS_VectorPutBlocking(tm(), job.peer(), 1, &to, 1, &from, flags);
}

void put_strided(std::byte* to, ptrdiff_t pitch, size_t rows) {
  const ptrdiff_t near = 8;
  gex_VIS_StridedPutBlocking(tm(), job.peer(), to, &pitch, local, &near, 8, &rows, 1, 0);
}

const Calls& vis() {
  static const Calls calls = {
      {"vector_outside", [] { put_vector(piece(there(kSegmentBytes - 4), 8), piece(local, 8)); }},
      {"strided_outside", [] { put_strided(there(kSegmentBytes - 64), 16, 8); }},
      {"strided_before", [] { put_strided(there(16), -16, 8); }},
      {"indexed_get_outside",
       [] {
         void* const from[] = {there(), there(kSegmentBytes)};
         void* const to[] = {local};
         gex_VIS_IndexedGetNBI(tm(), 1, to, 16, job.peer(), 2, from, 8, 0);
         gex_NBI_Wait(GEX_EC_ALL, 0);
       }},
      {"some_nowhere",
       [] {
         put_vector(piece(there(kSegmentBytes + (size_t{1} << 40)), 8), piece(local, 8),
                    GEX_FLAG_PEER_SEG_SOME);
       }},
      {"unknown_unmapped",
       [] {
         put_vector(piece(reinterpret_cast<std::byte*>(one * 4096), 8), piece(local, 8),
                    GEX_FLAG_PEER_SEG_UNKNOWN);
       }},
      {"unequal", [] { put_vector(piece(there(), 8), piece(local, 16)); }},
      {"unequal_indexed",
       [] {
         void* const to[] = {there(), there(64)};
         void* const from[] = {local};
         gex_VIS_IndexedPutBlocking(tm(), job.peer(), 2, to, 8, 1, from, 24, 0);
       }},
      {"one_end_empty",
       [] {
         const gex_Memvec_t from = piece(local, 8);
         gex_VIS_VectorPutBlocking(tm(), job.peer(), 0, nullptr, 1, &from, 0);
       }},
      {"overlap",
       [] {
         const gex_Memvec_t to[] = {piece(there(), 16), piece(there(15), 16)};
         const gex_Memvec_t from = piece(local, 32);
         gex_VIS_VectorPutNBI(tm(), job.peer(), 2, to, 1, &from, 0);
         gex_NBI_Wait(GEX_EC_ALL, 0);
       }},
      {"strided_overlap", [] { put_strided(there(), 4, 8); }},
      {"strided_same_place", [] { put_strided(there(), 0, 8); }},
      {"own_source",
       [] {
         const gex_Memvec_t to = piece(here(8), 16), from = piece(here(0), 16);
         gex_VIS_VectorPutBlocking(tm(), job.rank, 1, &to, 1, &from, 0);
       }},
      {"no_list", [] { gex_VIS_VectorGetBlocking(tm(), one, nullptr, job.peer(), 0, nullptr, 0); }},
      {"no_strides",
       [] {
         const size_t rows = 8;
         gex_VIS_StridedGetBlocking(tm(), local, nullptr, job.peer(), there(), nullptr, 8, &rows, 1,
                                    0);
       }},
      {"no_local", [] { put_vector(piece(there(), 8), piece(nullptr, 8)); }},
      {"too_much",
       [] {
         const ptrdiff_t strides[] = {8, 8};
         const size_t counts[] = {size_t{1} << 62, 64};
         gex_VIS_StridedPutBlocking(tm(), job.peer(), there(), strides, local, strides, 8, counts,
                                    2, 0);
       }},
      {"no_such_rank",
       [] {
         const gex_Memvec_t to = piece(there(), 8), from = piece(local, 8);
         gex_VIS_VectorPutBlocking(tm(), job.size, 1, &to, 1, &from, 0);
       }},
      {"leaf_not_enabled",
       [] {
         const gex_Memvec_t to = piece(there(), 8), from = piece(local, 8);
         gex_Event_QueryLeaf(gex_VIS_VectorPutNB(tm(), job.peer(), 1, &to, 1, &from, 0), GEX_EC_LC);
       }},
      {"unknown_flag", [] { put_vector(piece(there(), 8), piece(local, 8), 1u << 30); }},
      {"not_in_my_segment",
       [] { put_vector(piece(there(), 8), piece(local, 8), GEX_FLAG_SELF_SEG_BOUND); }},
      {"never_self",
       [] {
         const gex_Memvec_t to = piece(here(), 8), from = piece(local, 8);
         gex_VIS_VectorPutBlocking(tm(), job.rank, 1, &to, 1, &from, GEX_FLAG_PEER_NEVER_SELF);
       }},
      {"completion_of_get",
       [] {
         const gex_Memvec_t to = piece(local, 8), from = piece(there(), 8);
         gex_VIS_SetPeerCompletionHandler(handler("payload"), nullptr, 0, 0);
         gex_VIS_VectorGetBlocking(tm(), 1, &to, job.peer(), 1, &from, 0);
       }},
      {"completion_immediate",
       [] {
         gex_VIS_SetPeerCompletionHandler(handler("payload"), nullptr, 0, 0);
         put_vector(piece(there(), 8), piece(local, 8), GEX_FLAG_IMMEDIATE);
       }},
      {"completion_too_long",
       [] {
         gex_VIS_SetPeerCompletionHandler(handler("payload"), local, GEX_VIS_MAX_PEERCOMPLETION + 1,
                                          0);
       }},
      {"completion_index", [] { gex_VIS_SetPeerCompletionHandler(5, local, 8, 0); }},
      {"completion_unregistered",
       [] {
         gex_VIS_SetPeerCompletionHandler(kNobody, local, 8, 0);
         put_vector(piece(there(), 8), piece(local, 8));
         barrier();
       }},
  };
  return calls;
}

// ---- events, implicit operations, flags ---------------------------------------------------------

const Calls& checked() {
  static const Calls calls = {
      {"waited_twice",
       [] {
         const gex_Event_t event = a_get();
         gex_Event_Wait(event);
         gex_Event_Wait(event);
       }},
      {"tested_after_wait",
       [] {
         gex_Event_t event = a_get();
         gex_Event_Wait(event);
         gex_Event_TestAll(&event, 1, 0);
       }},
      {"twice_in_an_array",
       [] {
         const gex_Event_t event = a_get();
         gex_Event_t both[] = {event, event};
         gex_Event_WaitAll(both, 2, 0);
       }},
      {"leaf_after_root",
       [] {
         gex_Event_t leaf;
         const gex_Event_t root = gex_RMA_PutNB(tm(), job.peer(), there(), local, 64, &leaf, 0);
         gex_Event_Wait(root);
         gex_Event_Wait(leaf);
       }},
      {"region_twice",
       [] {
         gex_NBI_BeginAccessRegion(0);
         gex_RMA_GetNBI(tm(), local, job.peer(), there(), 64, 0);
         const gex_Event_t event = gex_NBI_EndAccessRegion(0);
         gex_Event_Wait(event);
         gex_Event_Wait(event);
       }},
      {"leaf_of_get", [] { gex_Event_QueryLeaf(a_get(), GEX_EC_LC); }},
      {"wait_no_op", [] { gex_Event_Wait(no_op); }},
      {"test_no_op", [] { gex_Event_Test(no_op); }},
      {"array_no_op",
       [] {
         gex_Event_t events[] = {a_get(), no_op, GEX_EVENT_INVALID};
         gex_Event_WaitAll(events, 3, 0);
       }},
      {"leaf_of_no_op", [] { gex_Event_QueryLeaf(no_op, GEX_EC_GET); }},
      {"leaf_deferred",
       [] {
         gex_Event_QueryLeaf(
             gex_RMA_PutNB(tm(), job.peer(), there(), local, 64, GEX_EVENT_DEFER, 0), GEX_EC_LC);
       }},
      {"no_array", [] { gex_Event_WaitAll(nullptr, one, 0); }},
      {"no_mask", [] { gex_NBI_Wait(0, 0); }},
      {"wrong_mask", [] { gex_NBI_Test(1u << 20, 0); }},
      {"test_in_region",
       [] {
         gex_NBI_BeginAccessRegion(0);
         gex_NBI_Test(GEX_EC_ALL, 0);
       }},
      {"nb_group", [] { gex_RMA_PutNB(tm(), job.peer(), there(), local, 8, GEX_EVENT_GROUP, 0); }},
      {"nbi_leaf",
       [] {
         gex_Event_t leaf;
         gex_RMA_PutNBI(tm(), job.peer(), there(), local, 8, &leaf, 0);
       }},
      {"no_lc_opt", [] { gex_RMA_PutNB(tm(), job.peer(), there(), local, 8, nullptr, 0); }},
      {"no_local", [] { gex_RMA_GetBlocking(tm(), nowhere, job.peer(), there(), one * 64, 0); }},
      {"overlap", [] { gex_RMA_PutBlocking(tm(), job.rank, here(8), here(0), 16, 0); }},
      {"never_self",
       [] { gex_RMA_PutBlocking(tm(), job.rank, here(), local, 8, GEX_FLAG_PEER_NEVER_SELF); }},
      {"never_nbrhd",
       [] { gex_RMA_PutBlocking(tm(), job.peer(), there(), local, 8, GEX_FLAG_PEER_NEVER_NBRHD); }},
      {"not_in_my_segment",
       [] { gex_RMA_GetBlocking(tm(), local, job.peer(), there(), 8, GEX_FLAG_SELF_SEG_BOUND); }},
      {"two_dispositions",
       [] {
         gex_RMA_PutBlocking(tm(), job.peer(), there(), local, 8,
                             GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_SOME);
       }},
      {"unknown_flag", [] { gex_RMA_PutBlocking(tm(), job.peer(), there(), local, 8, 1u << 30); }},
      {"am.short_index", [] { gex_AM_RequestShort0(tm(), job.peer(), 5, 0); }},
      {"am.medium_index",
       [] { gex_AM_RequestMedium0(tm(), job.peer(), 5, local, 8, GEX_EVENT_NOW, 0); }},
      {"am.no_payload",
       [] {
         gex_AM_RequestMedium0(tm(), job.peer(), handler("payload"), nowhere, 8, GEX_EVENT_NOW, 0);
       }},
      // What is left behind at the end.
      {"leaked_event", [] { a_get(); }},
      {"open_region", [] { gex_NBI_BeginAccessRegion(0); }},
  };
  return calls;
}

// ---- handler-safe locks -------------------------------------------------------------------------

gex_HSL_t first = GEX_HSL_INITIALIZER, second = GEX_HSL_INITIALIZER, third = GEX_HSL_INITIALIZER;

void both(gex_HSL_t& outer, gex_HSL_t& inner) {
  gex_HSL_Lock(&outer);
  gex_HSL_Lock(&inner);
  gex_HSL_Unlock(&inner);
  gex_HSL_Unlock(&outer);
}

const Calls& locks() {
  static const Calls calls = {
      {"recursive",
       [] {
         gex_HSL_Lock(&first);
         gex_HSL_Lock(&first);
       }},
      {"recursive_try",
       [] {
         gex_HSL_Lock(&first);
         gex_HSL_Trylock(&first);
       }},
      {"not_held", [] { gex_HSL_Unlock(&first); }},
      {"crossed",
       [] {
         gex_HSL_Lock(&first);
         gex_HSL_Lock(&second);
         gex_HSL_Unlock(&first);
       }},
      {"order",
       [] {
         both(first, second);
         both(second, first);
       }},
      {"circle",
       [] {
         both(first, second);
         both(second, third);
         both(third, first);
       }},
      {"destroyed",
       [] {
         gex_HSL_Lock(&first);
         gex_HSL_Destroy(&first);
       }},
  };
  return calls;
}

bool call(const Calls& calls, const std::string& name) {
  const auto found = calls.find(name);
  if (found == calls.end()) return false;
  found->second();
  return true;
}

}  // namespace

bool misuse_checked(const std::string& name) {
  if (name.rfind("vis.", 0) == 0) return call(vis(), name.substr(4));
  if (name.rfind("lock.", 0) == 0) return call(locks(), name.substr(5));
  return call(checked(), name);
}

void keep_a_lock() {
  gex_HSL_Lock(&first);
}

}  // namespace victim
