// What travels beside the engine's frames: the datagrams that make connections, endpoint addresses,
// rkeys. Both sides are little-endian processes of one job.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../fabric/wire.h"

namespace causeway::verbs {

using namespace fabric;  // frames, lanes and what else all networks have

inline constexpr uint32_t wire_magic = 0x42564643;  // "CFVB"

// How packets are addressed; both ends must speak the same one.
enum class Addressing : uint8_t { infiniband, roce_v1, roce_v2_ipv4, roce_v2_ipv6, roce_v2_local };

// What ep_address writes: where the datagram queue pair listens.
struct Address {
  uint32_t magic;
  uint16_t version;
  uint16_t lid;
  uint8_t gid[16];
  uint64_t nonce;  // of the endpoint
  uint32_t qpn;
  uint32_t pid_namespace;  // a process of the same one can be watched
  Addressing network;
  uint8_t mtu;        // ibv_mtu
  uint8_t rd_atomic;  // reads and atomics that one queue pair here serves at once
  uint8_t reserved[5];
};
static_assert(sizeof(Address) == 48);

enum Step : uint16_t { step_hello, step_welcome, step_refuse };

// A datagram. A hello asks for a connection and says everything the other side needs to make its
// queue pair; the welcome says the same in return. Hellos are repeated until something answers;
// a repeated one is answered again and does nothing else.
struct Hello {
  Introduction who;  // `step` is a Step
  uint32_t to_link;  // how the receiver names the link; no_link in a first hello
  uint32_t qpn;      // the queue pair of the sender's for this link
  uint32_t psn;
  uint32_t reserved;
  Address from;
};
static_assert(sizeof(Hello) == 112);

// Bytes that the adapter writes before each datagram.
inline constexpr size_t route_header = 40;

struct RkeyBlob {
  uint64_t base;  // the owner's address
  uint64_t length;
  uint32_t rkey;
  uint32_t host;  // 1: a processor can write there
};

}  // namespace causeway::verbs
