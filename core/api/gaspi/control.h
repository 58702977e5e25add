// Control messages: the small protocol messages between the GASPI parts of two processes:
// registrations, steps of groups, passive communication. Posting never waits: polls push what does
// not go out at once. A control message has any length and is delivered once, from a poll in client
// context, where its handler may connect, map and post further control messages. Control messages
// between two processes are delivered in the order in which they were posted, whatever the link
// does. Control messages to and from lost ranks are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "connection/peer.h"

namespace causeway::gaspi {

struct World;

enum class ControlMessage : uint8_t {
  register_segment,  // a: segment id, b: serial; text: where it is (segment.cpp)
  registered,        // a: segment id, b: serial, c: 1 when it was taken
  drop_segment,      // a: segment id, b: serial
  join,              // a: the group's key, b: least generation
  leave,             // a: the group's key, b: which join it takes back (its b)
  commit,            // a: the group's key, b: generation, c: which join it answers (its b)
  step,              // a: the group's uid, b: which collective and which step; text: data
  passive_ready,     // a: number of the send, b: bytes
  passive_go,        // a: number of the send
  passive_data,      // a: number of the send; text: the data
  passive_taken,     // a: number of the send
  passive_cancel,    // a: number of the send
  kill,              // raise SIGINT there
  leaving,           // the answer of a rank that shuts down because of that
  connect,           // connect, disconnect and ping are answered
  disconnect,
  ping,
  answer,  // a: the control message that is answered
  print,   // text: for standard output
  // Between a replacement and the others (rejoin.h). a: 1 when text is the mechanism of atomics,
  // b: 1 when an answer is wanted
  welcome,
};

struct Header {
  uint64_t a = 0, b = 0, c = 0;
};

void post(World& world, uint32_t rank, ControlMessage message, Header header,
          std::string text = {});

// Sends what waits to be sent and handles what has arrived. Returns how many control messages
// moved.
uint32_t move_control_messages(World& world);
// Has every control message been handed to its link? Waits for no lock: false when it cannot tell.
bool control_messages_sent(World& world);

// Takes in a piece of a control message, inside delivery.
void on_piece(World& world, Peer& from, const int32_t* args, unsigned nargs, const void* payload,
              size_t length);

// Handles one control message that has arrived; in client context, one thread at a time.
void handle_control_message(World& world, uint32_t from, ControlMessage message,
                            const Header& header, std::string& text);

}  // namespace causeway::gaspi
