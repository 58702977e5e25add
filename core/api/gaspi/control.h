// Mail: the small protocol messages between the GASPI parts of two processes: registrations, steps
// of groups, passive communication. Posting never waits: what does not go out at once is pushed by
// polls. Letters of any length; delivered once, from polls in client context, where their handler
// may connect, map and post further mail. Letters between two processes are delivered in the order
// in which they were posted, whatever the link does. Letters to and from lost ranks are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "object/peer.h"

namespace causeway::gaspi {

struct World;

enum class Letter : uint8_t {
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
  answer,  // a: the letter that it answers
  print,   // text: for standard output
  // Between a replacement and the others (rejoin.h). a: 1 when text is the mechanism of atomics,
  // b: 1 when an answer is wanted
  welcome,
};

struct Header {
  uint64_t a = 0, b = 0, c = 0;
};

void post(World& world, uint32_t rank, Letter letter, Header header, std::string text = {});

// Sends what waits to be sent and handles what has arrived. Returns how many letters moved.
uint32_t move_mail(World& world);
// Waits for no lock: false when it cannot tell.
bool mail_is_out(World& world);

// One piece of a letter, inside delivery.
void on_piece(World& world, Peer& from, const int32_t* args, unsigned nargs, const void* payload,
              size_t length);

// Handles one letter that has arrived; in client context, one thread at a time.
void handle_letter(World& world, uint32_t from, Letter letter, const Header& header,
                   std::string& text);

}  // namespace causeway::gaspi
