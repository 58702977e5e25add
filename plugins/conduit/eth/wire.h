// The format of a stream. First an introduction each way, then units: a header, what belongs to
// its kind, and its payload, padded to 16 bytes, so that every unit begins at a multiple of 16.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../fabric/wire.h"

namespace causeway::eth {

using namespace fabric;  // frames, lanes and what else all networks have

inline constexpr uint32_t wire_magic = 0x45574643;  // "CFWE"

// Introduction::step.
enum Step : uint16_t {
  step_hello,
  step_welcome,
  step_crossed,  // the receiver's attempt is given up: the sender's own serves both
};

// An IPv6 address, or an IPv4 address mapped into one.
struct Place {
  uint8_t bytes[16];
};
inline constexpr uint32_t most_places = 6;

// The address of an endpoint, as ep_address writes it: where it listens, those places first that
// lead furthest.
struct Address {
  uint32_t magic;
  uint16_t version;
  uint16_t port;
  uint64_t nonce;
  uint64_t stack;    // network_stack() where it listens
  uint8_t count;     // of the places
  uint8_t loopback;  // so many of them, the last ones, lead nowhere but to this host
  uint8_t prefix[most_places];
  Place places[most_places];
};
static_assert(sizeof(Address) == 32 + 16 * most_places);

struct RkeyBlob {
  uint64_t base;  // the owner's address
  uint64_t length;
  uint32_t key;
  uint32_t host;  // 1: a processor can write there
};

enum class UnitKind : uint8_t {
  frame,    // of the engine's
  put,      // payload for the target's memory; acknowledged
  write,    // the same, as a part of something else that is acknowledged or follows
  get,      // asks for `length` bytes
  atomic,   // answered if it fetches, acknowledged if not
  answer,   // to the oldest get or fetching atomic that has none
  ack,      // `count` puts and plain atomics are done, since the link came up
  refusal,  // the one behind the `count` that are done was refused
  park,     // a ParkStep in `count`
  port,     // the sender takes datagrams that show `key` at port `count`; 0: none
  sync,     // the offset of what follows, `key`, and of what is taken of the peer's, `count`
};

// A connection is closed when both sides find it quiet (parking.cpp).
enum ParkStep : uint32_t { park_ask, park_yes, park_no };
// Whether such a unit takes a question or a yes back.
inline bool unparks(UnitKind kind) {
  return kind != UnitKind::park && kind != UnitKind::sync;
}

// Offsets are in 16 bytes here, without their upper bits.
struct Unit {
  uint32_t length;  // of the payload
  UnitKind kind;
  uint8_t type, operation;  // atomics
  uint8_t refused;          // answers
  uint32_t key;             // of the registration that is meant
  uint32_t count;
};
// Behind the header of puts, writes, gets and atomics.
struct Target {
  uint64_t address;
  uint64_t reserved;
};
// Behind that of atomics.
struct Operands {
  uint64_t first, second;
};
static_assert(sizeof(Unit) == 16 && sizeof(Target) == 16 && sizeof(Operands) == 16);

// Bytes before the payload of a unit; 0: there is no such kind.
inline size_t head_of(const Unit& unit) {
  switch (unit.kind) {
    case UnitKind::put:
    case UnitKind::write:
    case UnitKind::get:
      return sizeof(Unit) + sizeof(Target);
    case UnitKind::atomic:
      return sizeof(Unit) + sizeof(Target) + sizeof(Operands);
    case UnitKind::frame:
    case UnitKind::answer:
    case UnitKind::ack:
    case UnitKind::refusal:
    case UnitKind::park:
    case UnitKind::port:
    case UnitKind::sync:
      return sizeof(Unit);
  }
  return 0;
}
inline size_t padding_of(size_t length) {
  return aligned(length) - length;
}
// Whether a payload follows that belongs somewhere else.
inline bool is_placed(const Unit& unit) {
  return unit.kind == UnitKind::put || unit.kind == UnitKind::write ||
         (unit.kind == UnitKind::answer && unit.refused == 0);
}
// Bytes of a unit with its payload and padding.
inline size_t whole_of(const Unit& unit) {
  const bool carries = is_placed(unit) || unit.kind == UnitKind::frame;
  return head_of(unit) + (carries ? aligned(unit.length) : 0);
}

// In front of the units of a datagram.
enum class DatagramStep : uint32_t {
  units,   // or none, if only `taken` is news
  ask,     // to be answered at once
  answer,  // to an `ask`
};
struct DatagramHead {
  uint32_t token;  // the receiver's
  DatagramStep step;
  uint64_t offset;  // of the first unit
  uint64_t taken;   // so far the receiver's units have been taken
  uint64_t reserved;
};
static_assert(sizeof(DatagramHead) == 32);

}  // namespace causeway::eth
