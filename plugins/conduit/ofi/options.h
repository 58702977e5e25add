// What the configuration may set, read once per domain.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/plugin.h>

#include <cstdint>
#include <string>

#include "../fabric/options.h"

namespace causeway::ofi {

using fabric::Native;

enum class EndpointKind : uint32_t { automatic, msg, rdm };
enum class MultiReceive : uint32_t { automatic, always, never };
enum class Delivery : uint32_t { automatic, complete, read, never };
enum class Wait : uint32_t { automatic, always, never };
enum class Progress : uint32_t { manual, automatic };
enum class Ethernet : uint32_t { take, leave };

struct Options : fabric::Options {
  std::string provider;  // as fi_info prints it; "" chooses
  std::string domain;    // as `device`, which has precedence
  EndpointKind endpoint = EndpointKind::automatic;
  uint64_t tx_size = 0, rx_size = 0, cq_size = 0;  // entries; 0: the provider's
  MultiReceive multi_receive = MultiReceive::automatic;
  uint64_t multi_receive_bytes = 0;
  uint64_t inject = 0;  // most bytes handed to inject calls
  Delivery delivery = Delivery::automatic;
  Wait wait = Wait::automatic;
  Progress progress = Progress::manual;
  uint64_t registration_cache_entries = 0;  // kept without users
  Ethernet ethernet = Ethernet::take;
  bool hmem = false;
  bool allow_faulty = false;

  cwy_status read(const cwy_options* opts, cwy_err* err);
};

}  // namespace causeway::ofi
