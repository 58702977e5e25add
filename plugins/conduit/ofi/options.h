// What the configuration may set, read once per domain.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/plugin.h>

#include <cstdint>
#include <string>

#include "../fabric/caching.h"

namespace causeway::ofi {

enum class EndpointKind : uint32_t { automatic, msg, rdm };
enum class MultiReceive : uint32_t { automatic, always, never };
enum class Delivery : uint32_t { automatic, complete, read, never };
enum class Native : uint32_t { automatic, never };
enum class Wait : uint32_t { automatic, always, never };
enum class Progress : uint32_t { manual, automatic };

struct Options {
  std::string provider;  // as fi_info prints it; "" chooses
  std::string domain;    // as `device`, which has precedence
  EndpointKind endpoint = EndpointKind::automatic;
  uint64_t tx_size = 0, rx_size = 0;  // entries; 0: the provider's
  uint64_t am_medium = 0;             // payload bytes
  uint64_t credits = 0;               // messages per lane and connection; 0 chooses
  MultiReceive multi_receive = MultiReceive::automatic;
  uint64_t multi_receive_bytes = 0;
  uint64_t inject = 0;      // most bytes handed to inject calls
  uint64_t copy_below = 0;  // local buffers that need a registration are copied up to here
  Delivery delivery = Delivery::automatic;
  Native atomics = Native::automatic;
  Wait wait = Wait::automatic;
  Progress progress = Progress::manual;
  fabric::Caching registration_cache = fabric::Caching::watch;
  uint64_t registration_cache_entries = 0, registration_cache_bytes = 0;  // kept without users
  bool hmem = false;
  bool allow_faulty = false;
  uint64_t connect_timeout_ns = 0;
};

// Manifest lines of the options; beside their reader so that the two cannot drift apart.
#define CWY_OFI_OPTIONS                                                                          \
  "options:\n"                                                                                   \
  "  provider: {type: string, default: '',\n"                                                    \
  "    help: 'libfabric provider as fi_info prints it, such as tcp or tcp;ofi_rxm; empty: the "  \
  "best usable one'}\n"                                                                          \
  "  domain: {type: string, default: '',\n"                                                      \
  "    help: 'libfabric domain or local address; the same as device, which has precedence'}\n"   \
  "  endpoint: {type: enum, choices: [auto, msg, rdm], default: auto,\n"                         \
  "    help: connected (msg) or reliable-datagram (rdm) endpoints}\n"                            \
  "  tx_size: {type: int, default: 0, min: 0, max: 1048576,\n"                                   \
  "    help: operations in the hands of the provider; 0 takes its default}\n"                    \
  "  rx_size: {type: int, default: 0, min: 0, max: 1048576,\n"                                   \
  "    help: receive buffers in the hands of the provider; 0 takes its default}\n"               \
  "  am_medium: {type: size, default: 16KiB, min: 512, max: 16MiB,\n"                            \
  "    help: largest payload of one active message}\n"                                           \
  "  credits: {type: int, default: 0, min: 0, max: 4096,\n"                                      \
  "    help: messages under way per connection and lane; 0 chooses by the size of the job}\n"    \
  "  multi_receive: {type: enum, choices: [auto, always, never], default: auto,\n"               \
  "    help: 'buffers that take several messages, where the provider has them; auto: but not "   \
  "over shm'}\n"                                                                                 \
  "  multi_receive_bytes: {type: size, default: 1MiB, min: 64KiB, max: 1GiB,\n"                  \
  "    help: 'bytes of one such buffer, four of the largest messages at least'}\n"               \
  "  inject: {type: size, default: 64KiB, min: 0, max: 1GiB,\n"                                  \
  "    help: most bytes given to inject calls, within the provider's limit}\n"                   \
  "  copy_below: {type: size, default: 8KiB, min: 0, max: 1MiB,\n"                               \
  "    help: local buffers that need a registration and have none are copied up to here}\n"      \
  "  delivery: {type: enum, choices: [auto, complete, read, never], default: auto,\n"            \
  "    help: 'how a put knows that its data is visible: delivery-complete, a read behind it; "   \
  "never leaves puts to the core'}\n"                                                            \
  "  atomics: {type: enum, choices: [auto, never], default: auto,\n"                             \
  "    help: the atomics that the provider has}\n"                                               \
  "  wait: {type: enum, choices: [auto, always, never], default: auto,\n"                        \
  "    help: 'a descriptor to sleep on, where the provider has one; auto: where the host has "   \
  "more ranks than processors'}\n"                                                               \
  "  progress: {type: enum, choices: [manual, auto], default: manual,\n"                         \
  "    help: who moves data forward; auto may start a thread of the provider}\n"                 \
  "  registration_cache: {type: enum, choices: [watch, in_flight, keep], default: watch,\n"      \
  "    help: 'registrations of local buffers: kept and watched by userfaultfd (in_flight where " \
  "the kernel refuses that), only while in use, or kept unwatched, for programs that never "     \
  "unmap such memory'}\n"                                                                        \
  "  registration_cache_entries: {type: int, default: 1024, min: 1, max: 1048576,\n"             \
  "    help: 'most registrations that are kept while not in use'}\n"                             \
  "  registration_cache_bytes: {type: size, default: 1GiB, min: 4KiB,\n"                         \
  "    help: 'most bytes of those'}\n"                                                           \
  "  hmem: {type: bool, default: false,\n"                                                       \
  "    help: ask the provider for device memory}\n"                                              \
  "  allow_faulty: {type: bool, default: false,\n"                                               \
  "    help: take a provider that is refused because it is known to crash or hang}\n"            \
  "  connect_timeout: {type: time, default: 30s, min: 1ms, max: 3600s,\n"                        \
  "    help: how long a connection may take}\n"

cwy_status read_options(const cwy_services& services, const cwy_options* opts, Options& out,
                        cwy_err* err);

}  // namespace causeway::ofi
