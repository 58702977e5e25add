// A packet between two simulated adapters: one header, and behind it what it carries. One host,
// one byte order: structures travel as they are.
#pragma once

#include <causeway/conduit.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace simnic {

// Requests travel by one lane of a queue pair, answers and replies by the other: a process whose
// requests are stuck can still be answered.
enum Lane : uint32_t { kRequests, kAnswers, kLanes };

// The first three are the numbers of kinds of messages.
enum Verb : uint16_t {
  kShort = CWYC_AM_SHORT,
  kMedium = CWYC_AM_MEDIUM,
  kLong = CWYC_AM_LONG,
  kPut,
  kPutAdd,        // adds operand1 at operand2, in memory of the key `word`
  kPutImmediate,  // brings operand1 to the listener there
  kGet,
  kAtomic,
  kDone,     // the answer to the five above
  kGoodbye,  // an end in order
  kAck       // has come: `number`, on the lane `opcode`
};

struct alignas(16) Header {
  uint64_t seal;    // of the queue pair that it is for: a stranger to the job cannot make it
  uint64_t sender;  // number of the sender's queue pair: answers go there
  uint64_t ticket;  // the sender's request, which the answer names
  uint64_t word;    // the core's, of messages; of kPutAdd the key of the counter's memory
  uint64_t raddr;
  uint64_t operand1, operand2;
  uint32_t rank, epoch;  // of the sender
  uint32_t length;       // of what follows; of a get: of what is wanted
  uint32_t opcode;
  int32_t status;  // of kDone
  uint16_t verb, nargs;
  uint64_t key;     // of the memory at raddr
  uint64_t number;  // from 1, for each pair of queue pairs and lane; 0: the network loses nothing
  int32_t args[CWYC_AM_MAX_ARGS];
};

inline uint64_t mix(uint64_t z) {  // splitmix64
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Names of the abstract namespace vanish with their process, however that ends.
struct Name {
  sockaddr_un un{};
  socklen_t length;
  Name(uint64_t number, uint32_t lane) {
    un.sun_family = AF_UNIX;
    const int written = std::snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "simnic.%016llx.%u",
                                      static_cast<unsigned long long>(number), lane);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1) +
             static_cast<socklen_t>(written);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&un); }
};

}  // namespace simnic
