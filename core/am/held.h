// Messages that arrive while gasnet_attach is still at work here. A peer that has left the call
// may send at once, and clients expect no handler to run before their own call returns: so a
// GASNet-1 client's handlers are entered into the table last, and what finds none until then is
// kept and run afterwards. Costs nothing where a handler is found.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace causeway {

struct Peer;

// Between these two, hold() keeps messages for handlers that are not registered.
void begin_holding();
// From now on nothing more is kept; what was is run by the next poll of a client thread, which
// comes after gasnet_attach has returned.
void end_holding();

// Relaxed: the mutex of the list orders it.
[[gnu::visibility("hidden")]] inline std::atomic<bool> held_waiting{false};
// Runs what was kept, in the order of arrival. From client context.
void run_held_messages();

// True when the message was kept: its payload was copied, or lies in the segment (longs).
bool hold(Peer& from, uint64_t word, uint32_t kind, const int32_t* args, unsigned nargs,
          void* payload, size_t length);

}  // namespace causeway
