// The out-of-line half of gex_RMA_*: peers that are not mapped, and every peer under
// `direct_map: never` or `checks: full`. "Extended API" of the GASNet-EX specification.
#include "rma/rma.h"

#include "api/export.h"
#include "base/fatal.h"

using causeway::fatal;
using causeway::Operation;
using causeway::RmaCall;

namespace {

void* mutable_address(const void* p) {
  return const_cast<void*>(p);
}

// A value has no address for flags to speak of.
gex_Flags_t of_value(gex_Flags_t flags) {
  return flags & ~(GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND |
                   GEX_FLAG_SELF_SEG_OFFSET);
}

void require_value_size(const char* call, size_t nbytes) {
  if (__builtin_expect(nbytes == 0 || nbytes > sizeof(gex_RMA_Value_t), 0))
    fatal(call, "nbytes is {}; a value has 1 to {} bytes", nbytes, sizeof(gex_RMA_Value_t));
}

// The bytes of a value as they are to be stored.
struct ValueBytes {
  ValueBytes(gex_RMA_Value_t value, size_t nbytes) { cwy_store_value(bytes, value, nbytes); }
  char bytes[sizeof(gex_RMA_Value_t)];
};

gex_RMA_Value_t get_value(const char* call, gex_TM_t tm, gex_Rank_t rank, void* src, size_t nbytes,
                          gex_Flags_t flags) {
  require_value_size(call, nbytes);
  char bytes[sizeof(gex_RMA_Value_t)] = {};
  // A value cannot say "no-op" (the specification gives this call no such answer).
  causeway::rma_blocking({call, Operation::get, tm, rank, bytes, src, nbytes,
                          of_value(flags) & ~GEX_FLAG_IMMEDIATE, false, true});
  return cwy_load_value(bytes, nbytes);
}

int put_value(const char* call, gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
              size_t nbytes, gex_Flags_t flags) {
  require_value_size(call, nbytes);
  ValueBytes source(value, nbytes);
  return causeway::rma_blocking(
      {call, Operation::put, tm, rank, source.bytes, dest, nbytes, of_value(flags), false, true});
}

}  // namespace

CAUSEWAY_API int cwy_put_blocking_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                     size_t nbytes, gex_Flags_t flags) {
  return causeway::rma_blocking({"gex_RMA_PutBlocking()", Operation::put, tm, rank,
                                 mutable_address(src), dest, nbytes, flags});
}
CAUSEWAY_API int cwy_put_nbi_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags) {
  return causeway::rma_nbi(
      {"gex_RMA_PutNBI()", Operation::put, tm, rank, mutable_address(src), dest, nbytes, flags},
      lc_opt);
}
CAUSEWAY_API gex_Event_t cwy_put_nb_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                       size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags) {
  return causeway::rma_nb(
      {"gex_RMA_PutNB()", Operation::put, tm, rank, mutable_address(src), dest, nbytes, flags},
      lc_opt);
}
CAUSEWAY_API int cwy_get_blocking_v1(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                     size_t nbytes, gex_Flags_t flags) {
  return causeway::rma_blocking(
      {"gex_RMA_GetBlocking()", Operation::get, tm, rank, dest, src, nbytes, flags});
}
CAUSEWAY_API int cwy_get_nbi_v1(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                                gex_Flags_t flags) {
  return causeway::rma_nbi({"gex_RMA_GetNBI()", Operation::get, tm, rank, dest, src, nbytes, flags},
                           GEX_EVENT_DEFER);
}
CAUSEWAY_API gex_Event_t cwy_get_nb_v1(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                       size_t nbytes, gex_Flags_t flags) {
  return causeway::rma_nb({"gex_RMA_GetNB()", Operation::get, tm, rank, dest, src, nbytes, flags},
                          GEX_EVENT_DEFER);
}
CAUSEWAY_API gex_RMA_Value_t cwy_get_val_v1(gex_TM_t tm, gex_Rank_t rank, void* src, size_t nbytes,
                                            gex_Flags_t flags) {
  return get_value("gex_RMA_GetBlockingVal()", tm, rank, src, nbytes, flags);
}
CAUSEWAY_API gex_RMA_Value_t cwy_get_small_v1(gex_TM_t tm, gex_Rank_t rank, void* src,
                                              size_t nbytes, gex_Flags_t flags) {
  return get_value("gex_RMA_GetBlocking()", tm, rank, src, nbytes, flags);
}
CAUSEWAY_API int cwy_put_val_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                size_t nbytes, gex_Flags_t flags) {
  return put_value("gex_RMA_PutBlockingVal()", tm, rank, dest, value, nbytes, flags);
}
CAUSEWAY_API int cwy_put_small_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                  size_t nbytes, gex_Flags_t flags) {
  return put_value("gex_RMA_PutBlocking()", tm, rank, dest, value, nbytes, flags);
}
CAUSEWAY_API int cwy_put_nbi_val_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                    size_t nbytes, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_RMA_PutNBIVal()";
  require_value_size(kCall, nbytes);
  ValueBytes source(value, nbytes);
  return causeway::rma_nbi_volatile(
      {kCall, Operation::put, tm, rank, source.bytes, dest, nbytes, of_value(flags), false, true});
}
CAUSEWAY_API gex_Event_t cwy_put_nb_val_v1(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                           gex_RMA_Value_t value, size_t nbytes,
                                           gex_Flags_t flags) {
  constexpr const char* kCall = "gex_RMA_PutNBVal()";
  require_value_size(kCall, nbytes);
  ValueBytes source(value, nbytes);
  return causeway::rma_nb_volatile(
      {kCall, Operation::put, tm, rank, source.bytes, dest, nbytes, of_value(flags), false, true});
}
