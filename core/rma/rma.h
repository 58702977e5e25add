// Put and get as the client asks for them: completion options, back-pressure, memory that the
// conduit cannot reach.
#pragma once

#include <causeway/conduit.h>
#include <gasnetex.h>

namespace causeway {

struct Peer;

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
  bool own = false;  // a transfer of a collective: the endpoint need not have the capability RMA
  bool by_value = false;  // `local` is where the library keeps the client's value
};

// 0, or 1 for the no-op answer of GEX_FLAG_IMMEDIATE.
int rma_blocking(const RmaCall& call);
int rma_nbi(const RmaCall& call, gex_Event_t* lc_opt);
gex_Event_t rma_nb(const RmaCall& call, gex_Event_t* lc_opt);
// A source that is gone when the call returns (value forms).
int rma_nbi_volatile(const RmaCall& call);
gex_Event_t rma_nb_volatile(const RmaCall& call);

// A single attempt at one contiguous piece, for rooms that pipeline several: CWY_OK,
// CWY_INPROGRESS, CWY_RETRY or a failure, as a conduit would answer. `call` is for diagnostics.
cwy_status rma_post_once(const char* call, Operation operation, Peer& peer, void* local,
                         uint64_t raddr, size_t length, uint32_t flags, cwyc_op* op);

}  // namespace causeway
