// What the configuration may set, read once per domain.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/plugin.h>

#include <cstdint>
#include <string>

#include "../fabric/caching.h"

namespace causeway::verbs {

enum class Native : uint32_t { automatic, never };

struct Options {
  int64_t gid_index = -1;   // -1 chooses
  uint64_t mtu = 0;         // bytes; 0 takes the port's
  uint64_t pkey_index = 0;  // of the port's table of partitions
  uint64_t service_level = 0;
  uint64_t traffic_class = 0;
  uint64_t am_medium = 0;        // payload bytes
  uint64_t credits = 0;          // messages per lane and connection; 0 chooses
  uint64_t receive_buffers = 0;  // of an endpoint; 0 chooses
  uint64_t tx_depth = 0;         // work requests per connection
  uint64_t inline_bytes = 0;
  uint64_t copy_below = 0;  // unregistered local buffers are copied up to here
  Native atomics = Native::automatic;
  fabric::Caching registration_cache = fabric::Caching::watch;
  uint64_t registration_cache_bytes = 0;  // registered and unused at most
  uint64_t ack_timeout_ns = 0;            // 0 follows peer_timeout
  uint64_t peer_timeout_ns = 0;           // 0: no keepalive
  uint64_t connect_timeout_ns = 0;
};

// Manifest lines of the options; beside their reader so that the two cannot drift apart.
#define CWY_VERBS_OPTIONS                                                                          \
  "options:\n"                                                                                     \
  "  gid_index: {type: int, default: -1, min: -1, max: 255,\n"                                     \
  "    help: 'entry of the port''s GID table; -1: RoCE v2 over IPv4 if there is one'}\n"           \
  "  mtu: {type: enum, choices: [auto, '256', '512', '1024', '2048', '4096'], default: auto,\n"    \
  "    help: largest packet; both sides use the smaller of theirs}\n"                              \
  "  pkey_index: {type: int, default: 0, min: 0, max: 65535,\n"                                    \
  "    help: 'entry of the port''s table of partition keys'}\n"                                    \
  "  service_level: {type: int, default: 0, min: 0, max: 15,\n"                                    \
  "    help: InfiniBand service level}\n"                                                          \
  "  traffic_class: {type: int, default: 0, min: 0, max: 255,\n"                                   \
  "    help: 'traffic class of routed packets, RoCE''s priority'}\n"                               \
  "  am_medium: {type: size, default: 4KiB, min: 512, max: 1MiB,\n"                                \
  "    help: largest payload of one active message}\n"                                             \
  "  credits: {type: int, default: 0, min: 0, max: 4096,\n"                                        \
  "    help: 'messages under way per connection and lane; 0 chooses by the size of the job'}\n"    \
  "  receive_buffers: {type: int, default: 0, min: 0, max: 1048576,\n"                             \
  "    help: 'most receive buffers of an endpoint, all connections together; 0 chooses'}\n"        \
  "  tx_depth: {type: int, default: 128, min: 8, max: 16384,\n"                                    \
  "    help: work requests that a connection has under way}\n"                                     \
  "  inline: {type: size, default: 192, min: 0, max: 4KiB,\n"                                      \
  "    help: 'most bytes that travel inside a work request, within the device''s limit'}\n"        \
  "  copy_below: {type: size, default: 8KiB, min: 0, max: 1MiB,\n"                                 \
  "    help: 'local buffers that are not registered are copied up to here, and registered "        \
  "above'}\n"                                                                                      \
  "  atomics: {type: enum, choices: [auto, never], default: auto,\n"                               \
  "    help: the atomics that the device has}\n"                                                   \
  "  registration_cache: {type: enum, choices: [watch, in_flight, keep], default: watch,\n"        \
  "    help: 'registrations of local buffers: kept and watched by userfaultfd (in_flight where "   \
  "the kernel refuses that), only while in use, or kept unwatched, for programs that never "       \
  "unmap such memory'}\n"                                                                          \
  "  registration_cache_bytes: {type: size, default: 256MiB, min: 0, max: 1TiB,\n"                 \
  "    help: most bytes that are kept registered without being in use}\n"                          \
  "  ack_timeout: {type: time, default: '0', min: 0, max: 60s,\n"                                  \
  "    help: 'wait for an acknowledgement before a packet is sent again, six times; 0: a "         \
  "sixteenth of peer_timeout, at most 0.5 s'}\n"                                                   \
  "  peer_timeout: {type: time, default: 30s, min: 0, max: 3600s,\n"                               \
  "    help: silence after which an idle peer is asked for a sign of life is a quarter of this}\n" \
  "  connect_timeout: {type: time, default: 30s, min: 1ms, max: 3600s,\n"                          \
  "    help: how long a connection may take}\n"

cwy_status read_options(const cwy_services& services, const cwy_options* opts, Options& out,
                        cwy_err* err);

}  // namespace causeway::verbs
