// Data that processes exchange to find each other: an endpoint's address and a memory's rkey.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>

#include "../../common/plugin_error.h"
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
  uint64_t sum;          // of what travels, while this is 0
  ObjectAddress object;  // when mappable
};

// Both end with the object's name, which is empty or short, and only that much travels: every rank
// gets those of all others.
template <class Data>
uint64_t travelling_bytes(const Data& data) {
  return offsetof(Data, object) + offsetof(ObjectAddress, name) + std::strlen(data.object.name) + 1;
}
template <class Data>
cwy_status give_travelling(const char* what, const Data& data, void* buf, uint64_t* len,
                           cwy_err* err) {
  const uint64_t room = *len;
  *len = travelling_bytes(data);
  if (room < *len)
    return report(err, CWY_ERR_INVALID, "%s of this conduit needs %llu bytes", what,
                  static_cast<unsigned long long>(*len));
  std::memcpy(buf, &data, *len);
  return CWY_OK;
}
// False: it is not what give_travelling() wrote, or only a part.
template <class Data>
bool take_travelling(const void* from, uint64_t length, Data& data) {
  data = {};
  if (length == 0 || length > sizeof data) return false;  // `from` may be NULL then
  std::memcpy(&data, from, length);
  data.object.name[sizeof data.object.name - 1] = '\0';
  return travelling_bytes(data) == length;
}

// This process's probe word; random, set once at init.
extern uint64_t probe_word;
uint64_t random_word();

}  // namespace causeway::shm
