// What travels beside the engine's frames: endpoint addresses and rkeys. Introductions stand in
// hellos and welcomes (datagrams, with the sender's address behind that of a hello), or in the
// private data of a connection request, which has room for 56 bytes.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../fabric/wire.h"

namespace causeway::ofi {

using namespace fabric;  // frames, lanes and what else all networks have

inline constexpr uint32_t wire_magic = 0x4f574643;  // "CFWO"

// Bytes that a credit stands for where many frames share a receive buffer; elsewhere it is a frame.
inline constexpr size_t credit_unit = 1024;

inline constexpr size_t longest_address = 128;

// What ep_address writes; `length` bytes of `bytes` are the provider's.
struct Address {
  uint32_t magic;
  uint16_t version;
  uint8_t msg;
  uint8_t loopback;
  uint64_t nonce;
  uint64_t pid_namespace;
  char provider[30];
  uint16_t length;
  uint8_t bytes[longest_address];
};
static_assert(sizeof(Address) == 56 + longest_address);

struct RkeyBlob {
  uint64_t base;  // the owner's address
  uint64_t length;
  uint64_t origin;  // what the provider calls the first byte: its address, or 0
  uint64_t key;
  uint64_t host;  // 1: a processor can write there
};

}  // namespace causeway::ofi
