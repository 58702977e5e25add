// A remote atomic operation as the client asks for it: addresses, checks, the domain's mechanism,
// back-pressure, completion.
#pragma once

#include <gasnet_ratomic.h>

namespace causeway {

struct AtomicCall {
  const char* name;  // for diagnostics
  gex_AD_t ad;
  gex_DT_t dt;
  void* result;
  gex_Rank_t rank;
  void* addr;
  gex_OP_t opcode;
  uint64_t operand1, operand2;  // in the low bytes
  gex_Flags_t flags;
};

// GEX_EVENT_NO_OP or 1: the no-op answer of GEX_FLAG_IMMEDIATE.
gex_Event_t atomic_nb(const AtomicCall& call);
int atomic_nbi(const AtomicCall& call);

}  // namespace causeway
