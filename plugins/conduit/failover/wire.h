// What two endpoints of this conduit tell each other, in messages of the conduits behind.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace causeway::failover {

inline constexpr int paths = 2;
inline constexpr uint32_t lanes = 2;  // requests, replies

// What a message of the conduit behind is.
enum class Kind : uint8_t {
  data,    // a message of the core's; the word is its number in its lane
  ack,     // nothing else but what has arrived
  hello,   // how to connect back: `Hello`, and the texts that it tells of
  probe,   // to be answered over the same path; the word is a number to answer with
  answer,  // the word is the probe's
  broken,  // the word is a path and how often it has been given up, see word_of()
  bye      // nothing comes behind it
};

// The arguments of every such message.
struct First {
  Kind kind;
  uint8_t lane;   // data: 0 requests, 1 replies
  uint8_t nargs;  // data: arguments of the core's
  uint8_t form;   // data: CWYC_AM_SHORT or CWYC_AM_MEDIUM
};
static_assert(sizeof(First) == sizeof(int32_t));
// First; the name of the sender's endpoint; per lane the low half of what is expected next.
inline constexpr uint32_t wire_args = 2 + lanes;

// In front of the core's arguments, which are padded, and of its payload, which so stays aligned.
struct DataHeader {
  uint64_t word;
  uint64_t reserved;
};
inline constexpr size_t padded(size_t bytes) {
  return (bytes + 15) / 16 * 16;
}
inline constexpr size_t before_payload(uint32_t nargs) {
  return sizeof(DataHeader) + padded(nargs * sizeof(int32_t));
}
inline constexpr size_t most_before_payload = before_payload(CWYC_AM_MAX_ARGS);

// The sender as cwyc_peer_desc has it. Behind it: the host's name, and per path the address and the
// wiring.
struct Hello {
  uint64_t host_id;
  uint32_t local_index;
  uint32_t pid;
  uint32_t name_length;
  uint32_t address_length[paths];
  uint32_t wiring_length[paths];
  uint32_t reserved;
};

// An address, or a wiring: that of each path behind this.
struct Pair {
  uint32_t length[paths];
  uint32_t name;  // of the endpoint
};

// The part of a pair that belongs to `path`; empty: there is none, or the bytes are no pair.
inline std::span<const std::byte> part_of(const void* pair, uint64_t length, int path) {
  Pair head{};
  if (pair == nullptr || length < sizeof head) return {};
  std::memcpy(&head, pair, sizeof head);
  if (length != sizeof head + uint64_t{head.length[0]} + head.length[1]) return {};
  const auto* const first = static_cast<const std::byte*>(pair) + sizeof head;
  return {first + (path == 1 ? head.length[0] : 0), head.length[path]};
}

inline constexpr uint64_t word_of(int path, uint32_t breaks) {
  return static_cast<uint64_t>(path) << 32 | breaks;
}

}  // namespace causeway::failover
