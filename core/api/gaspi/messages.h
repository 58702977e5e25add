// The active messages of GASPI: the first argument's low byte says which.
#pragma once

#include <cstddef>
#include <cstdint>

#include "connection/peer.h"
#include "thread/tsan_annotations.h"

namespace causeway::gaspi {

enum class Message : uint8_t {
  piece,       // of a control message (control.h)
  note,        // a notification for a slot here
  write_note,  // data and its notification
  done,        // the answer to both (acknowledgements.h)
  refused,     // the answer where nothing was stored
  wake,        // a slot here has been written, and its owner sleeps; arriving is all it has to do
};

// Arguments of a note and a write_note; acknowledgements may follow. So little data as stands in
// two more arguments of a write_note needs no payload; the first argument's second byte says how
// much.
inline constexpr unsigned kNoteArgs = 6, kWriteNoteArgs = 8;
inline constexpr size_t kInArgs = 8;

// Internal::interface's handler. Runs inside delivery.
void on_message(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

// Stores a notification into a slot that is mapped here: after what came before it.
inline void store_note(uint64_t slot, uint32_t value) {
  annotate_send();
  __atomic_store_n(reinterpret_cast<uint64_t*>(slot), static_cast<uint64_t>(value),
                   __ATOMIC_RELEASE);
}

}  // namespace causeway::gaspi
