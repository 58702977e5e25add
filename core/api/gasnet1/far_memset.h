// Remote memset (GASNet-1 3.2.3) for peers whose memory is not mapped here: the owner does it on
// request, whatever the size, and answers.
#pragma once

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

namespace causeway {

struct Peer;

// Starts one; completes `event`-wise as a put does. The event form returns a root event that must
// be synchronised; the implicit form counts with the thread's puts.
gex_Event_t remote_memset_nb(Peer& peer, void* dest, int value, size_t length);
void remote_memset_nbi(Peer& peer, void* dest, int value, size_t length);
void remote_memset(Peer& peer, void* dest, int value, size_t length);

void on_memset_ask(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_memset_done(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

}  // namespace causeway
