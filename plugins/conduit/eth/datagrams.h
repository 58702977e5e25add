// Small units go by datagrams beside the stream (datagrams.cpp).
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../common/descriptor.h"
#include "wire.h"

namespace causeway::eth {

struct Chunk;

// Bytes of units in a datagram at most, and datagrams under way over a link.
inline constexpr size_t most_units = 8192;
inline constexpr uint32_t most_under_way = 4;
inline constexpr size_t datagram_bytes = sizeof(DatagramHead) + most_units;

// A link's account. Offsets count bytes of units, of each direction since the connection came up.
struct Datagrams {
  Descriptor socket;
  bool ready = false;                        // the socket leads to the peer's
  bool unwatched = false;                    // it is not in epoll's set: the link is hot
  uint32_t token_here = 0, token_there = 0;  // what datagrams to this side show, and to the peer
  uint32_t most = 0;                         // bytes of units in one on this path
  // Units to the peer: what has left, what the peer is known to have taken, and the end of what
  // left over the stream.
  uint64_t left = 0, known = 0, streamed = 0;
  // Units from the peer: what has been taken here, what the peer has been told of that, and where
  // the stream is.
  uint64_t taken = 0, told = 0, at = 0;
  // Datagrams under way, the oldest first, are numbers `oldest` to `next`; their units stay in
  // slots of `copies`. A number's slot, end and time stand at its remainder.
  uint32_t oldest = 0, next = 0;
  std::unique_ptr<char[]> copies;
  uint64_t ends[most_under_way] = {}, sent_at[most_under_way] = {};
  bool behind = false;  // the peer does not know where the stream goes on
  Unit sync{};          // which tells it
  // Whether datagrams arrive: asked from time to time until the peer answers, and anew after one
  // that was given up.
  bool proven = false;
  bool arrives = false;     // an answer has come, in time or not
  uint32_t small = 0;       // flushes that would have fitted into one
  uint32_t unanswered = 0;  // questions in a row, or answered late
  uint64_t ask_at = 0, asked_at = 0, asked_taken = 0, patience_ns = 0;
  uint32_t given_up = 0;  // in a row
  bool waits = false;     // in the list of those with datagrams under way
  // In the list of those whose peers wait to be told; since which pass; and whether one of them has
  // sent again what was taken.
  bool owes = false, repeats = false;
  uint32_t owes_since = 0;
  bool under_way() const { return oldest != next; }
};

// The part that the links of an endpoint share.
struct EndpointDatagrams {
  Chunk* chunk = nullptr;  // what has come, `fill` bytes of it
  size_t fill = 0;
  // The datagram whose units are being taken: its link, where it goes on, and at which offset.
  uint32_t link = no_link;
  size_t at = 0, left = 0;
  uint64_t offset = 0;
  std::vector<uint32_t> owing;    // links whose peers wait to be told what has been taken
  std::vector<uint32_t> waiting;  // links with datagrams under way
  Descriptor alarm;               // wakes a thread that sleeps beside them
  bool alarm_set = false;
  size_t sockets = 0, most_sockets = 0;  // of links, beside those of their streams
  uint64_t sent = 0, given_up = 0;
};

}  // namespace causeway::eth
