// The checks of `checks: full` in puts and gets beside the peer's segment.
#pragma once

#include <gasnetex.h>

#include "connection/peer.h"
#include "rma/rma.h"

namespace causeway {

// Checks what a call that names a peer asserts of it and of addresses: flags that exclude each
// other or are unknown to the call, GEX_FLAG_PEER_NEVER_*.
void check_peer_flags(const char* call, const Peer& peer, gex_Flags_t flags, gex_Flags_t known);

// Flags, NULL, an asserted segment of the local side, overlap. `local` and `remote` are resolved.
void check_rma(const RmaCall& call, const Peer& peer, const void* local, const void* remote);

// The lc_opt of a non-blocking put: `groups` for NBI calls.
void check_lc_opt(const char* call, const gex_Event_t* lc_opt, bool groups);

}  // namespace causeway
