// Put and get as the client asks for them: completion options, back-pressure, memory that the
// conduit cannot reach.
#pragma once

#include <gasnetex.h>

namespace causeway {

enum class Operation { put, get };

struct RmaCall {
  const char* name;  // for diagnostics
  Operation operation;
  gex_TM_t tm;
  gex_Rank_t rank;
  void* local;
  void* remote;
  size_t length;
  gex_Flags_t flags;
};

// 0, or 1 for the no-op answer of GEX_FLAG_IMMEDIATE.
int rma_blocking(const RmaCall& call);
int rma_nbi(const RmaCall& call, gex_Event_t* lc_opt);
gex_Event_t rma_nb(const RmaCall& call, gex_Event_t* lc_opt);
// A source that is gone when the call returns (value forms).
int rma_nbi_volatile(const RmaCall& call);
gex_Event_t rma_nb_volatile(const RmaCall& call);

}  // namespace causeway
