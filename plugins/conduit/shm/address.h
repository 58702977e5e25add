// Data that processes exchange to find each other: an endpoint's address and a memory's rkey.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "object.h"

namespace causeway::shm {

struct EndpointAddress {
  uint64_t magic;
  uint32_t version;
  uint32_t uid;
  uint64_t nonce;
  uint64_t pid_namespace;
  ObjectAddress object;
};

struct RkeyBlob {
  uint64_t magic;
  uint64_t base;
  uint64_t length;
  uint32_t pid;
  uint32_t mappable;  // else by cross-memory attach
  // A word of the owner's memory and its value: reading it proves that the attach works and meets
  // the right process.
  uint64_t probe_address;
  uint64_t probe_value;
  ObjectAddress object;  // when mappable
  uint64_t sum;          // of all before
};

// This process's probe word; random, set once at init.
extern uint64_t probe_word;
uint64_t random_word();

}  // namespace causeway::shm
