// Core-internal active messages: the core's own handlers share the conduits with the client's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "connection/word.h"
#include "connection/peer.h"
#include "base/context.h"

namespace causeway {

// A core handler. Runs inside delivery; may only send CWYC_LANE_REPLY messages.
using InternalHandler = void (*)(Peer& from, const int32_t* args, unsigned nargs, void* payload,
                                 size_t length);

enum class Internal : uint8_t {
  put_data,  // emulated put: a piece of data for an address here
  put_done,  //   its acknowledgement
  get_ask,   // emulated get
  get_data,
  atomic_ask,  // emulated atomic
  atomic_done,
  long_piece,  // emulated long: payload ahead of its message
  exchange,    // a piece of a team exchange
  signal,      // a collective's put_signal
  exit,        // somebody called gasnet_exit
  vis_put,     // pieces of a vector, indexed or strided put, and where they go
  vis_put_done,
  vis_get,  // where pieces of a get lie
  vis_got,
  vis_notify,  // a peer-completion handler's turn

  named_barrier,  // a step of gasnet_barrier
  memset_ask,     // gasnet_memset
  memset_done,
  block,      // a piece of a GASNet-1 collective
  interface,  // of a programming interface's own protocol
  device_stage,   // a staged transfer of device memory
  device_import,  // who has device memory of another process open
  count
};

void run_internal(Internal which, Peer& from, const int32_t* args, unsigned nargs, void* payload,
                  size_t length);

// The handler of messages of that kind. Set by wiring.cpp, before any message can come.
void set_internal_handler(Internal which, InternalHandler handler);

// The handler of Internal::interface. Set once, before the endpoint that receives them is open.
void set_interface_handler(InternalHandler handler);

inline uint64_t internal_word(Internal which, bool reply) {
  return static_cast<uint64_t>(which) | kWordInternal | (reply ? kWordReply : 0);
}

// One attempt to send on the request lane. CWY_OK or CWY_RETRY; other failures end the job, or,
// in a process that survives its peers (ProcessContext::survives_failures), are returned.
cwy_status try_send_internal(Peer& to, Internal which, const int32_t* args, unsigned nargs,
                             const void* payload, size_t length, bool reply);
// Does what try_send_internal() does about a `status` that is neither of these two.
void internal_send_failed(const Peer& to, cwy_status status);
// From client context only: tries until it goes out, making progress meanwhile.
void send_internal(Peer& to, Internal which, const int32_t* args, unsigned nargs,
                   const void* payload, size_t length);
// From a core handler: replies to the sender, waiting for room on the reply lane.
void reply_internal(Peer& to, Internal which, const int32_t* args, unsigned nargs,
                    const void* payload, size_t length);

// Ends the job: a message to this peer cannot be sent.
[[noreturn]] void send_failed(const Peer& to, cwy_status status);

// 64-bit values inside 32-bit handler arguments.
inline int32_t low_half(uint64_t value) {
  return static_cast<int32_t>(value & 0xFFFFFFFFu);
}
inline int32_t high_half(uint64_t value) {
  return static_cast<int32_t>(value >> 32);
}
inline uint64_t join_halves(int32_t low, int32_t high) {
  return static_cast<uint32_t>(low) | (static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32);
}

}  // namespace causeway
