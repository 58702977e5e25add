// gex_AD_*: "Remote Atomic Operations", and the out-of-line half of gex_AD_Op*.
#include "atomics/atomic.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "am/send.h"
#include "api/export.h"
#include "atomics/domain.h"
#include "base/call_arguments.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "object/endpoint.h"
#include "object/team.h"
#include "process/runtime.h"

using namespace causeway;

namespace {

// By the bit of the data type: of the call with an event, and of the implicit one.
constexpr const char* kNames[][2] = {
    {"gex_AD_OpNB_I32()", "gex_AD_OpNBI_I32()"}, {"gex_AD_OpNB_U32()", "gex_AD_OpNBI_U32()"},
    {"gex_AD_OpNB_I64()", "gex_AD_OpNBI_I64()"}, {"gex_AD_OpNB_U64()", "gex_AD_OpNBI_U64()"},
    {"gex_AD_OpNB_FLT()", "gex_AD_OpNBI_FLT()"}, {"gex_AD_OpNB_DBL()", "gex_AD_OpNBI_DBL()"}};

const char* call_name(bool implicit, gex_DT_t dt) {
  return kNames[std::min(std::countr_zero(dt), 5)][implicit];
}

const AtomicDomain& domain_of(const char* call, gex_AD_t ad) {
  if (__builtin_expect(ad == GEX_AD_INVALID, 0)) fatal(call, "the domain is GEX_AD_INVALID");
  return *AtomicDomain::of(ad);
}

}  // namespace

CAUSEWAY_API void cwy_ad_create_v1(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops,
                                   gex_Flags_t flags) {
  constexpr const char* kCall = "gex_AD_Create()";
  note_call(kCall, "ad_p, tm, dt, ops, flags", ad_p, tm, dt, ops, flags);
  require_client_context(kCall, thread_state());
  if (ad_p == nullptr) fatal(kCall, "ad_p is NULL");
  if (tm == GEX_TM_INVALID) fatal(kCall, "the team is GEX_TM_INVALID");
  Team& team = *Team::of(tm);
  if (runtime().checks()) require_capability(kCall, *team.ep(), GEX_EP_CAPABILITY_AD, "AD");
  flags = flags_of_call(kCall, flags, kDomainFlags);
  or_fatal(kCall, [&] {
    *ad_p = std::make_unique<AtomicDomain>(team, dt, ops, flags).release()->handle();
  });
}

CAUSEWAY_API void gex_AD_Destroy(gex_AD_t ad) {
  require_client_context("gex_AD_Destroy()");
  delete &domain_of("gex_AD_Destroy()", ad);
}

CAUSEWAY_API gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad) {
  return domain_of("gex_AD_QueryFlags()", ad).flags();
}
CAUSEWAY_API gex_TM_t gex_AD_QueryTM(gex_AD_t ad) {
  return domain_of("gex_AD_QueryTM()", ad).team().handle();
}
CAUSEWAY_API void gex_AD_SetCData(gex_AD_t ad, const void* val) {
  const_cast<AtomicDomain&>(domain_of("gex_AD_SetCData()", ad)).cdata = val;
}
CAUSEWAY_API void* gex_AD_QueryCData(gex_AD_t ad) {
  return const_cast<void*>(domain_of("gex_AD_QueryCData()", ad).cdata);
}

CAUSEWAY_API gex_Event_t cwy_ad_op_nb_v1(gex_AD_t ad, gex_DT_t dt, void* result_p,
                                         gex_Rank_t tgt_rank, void* tgt_addr, gex_OP_t opcode,
                                         uint64_t operand1, uint64_t operand2, gex_Flags_t flags) {
  return atomic_nb({call_name(false, dt), ad, dt, result_p, tgt_rank, tgt_addr, opcode, operand1,
                    operand2, flags});
}
CAUSEWAY_API int cwy_ad_op_nbi_v1(gex_AD_t ad, gex_DT_t dt, void* result_p, gex_Rank_t tgt_rank,
                                  void* tgt_addr, gex_OP_t opcode, uint64_t operand1,
                                  uint64_t operand2, gex_Flags_t flags) {
  return atomic_nbi({call_name(true, dt), ad, dt, result_p, tgt_rank, tgt_addr, opcode, operand1,
                     operand2, flags});
}
