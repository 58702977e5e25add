// Negotiated mediums for conduits without native ones: a buffer of the core's, sent by am_medium.
// Fills the holes am_prepare, am_commit and am_cancel of a conduit's table.
#pragma once

#include <causeway/conduit.h>

namespace causeway {

cwy_status emulated_prepare(cwyc_conn* conn, size_t least, size_t most, uint32_t nargs,
                            uint32_t flags, cwyc_am_slot* slot);
// Waits for room, making the progress that its context allows.
void emulated_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                     uint32_t nargs, size_t length);
void emulated_cancel(cwyc_conn* conn, cwyc_am_slot* slot);

// A single attempt of a commit. CWY_RETRY: the slot is still prepared.
cwy_status try_emulated_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word,
                               const int32_t* args, uint32_t nargs, size_t length);

// A commit on this connection may have to wait: it has no room of the conduit's.
bool prepares_by_emulation(cwyc_conn* conn);

}  // namespace causeway
