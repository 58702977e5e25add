// The objects of the chaos conduit, and how an operation passes through it.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "../common/wrapping.h"
#include "held.h"
#include "plan.h"

namespace causeway::chaos {

struct Settings {
  uint64_t seed = 0;
  Rates rates;
  uint64_t fail_at = 0, die_at = 0;  // operation numbers from 1; 0: never
  int64_t victim = -1;               // rank; -1: every one
  bool direct = false;
};

struct ChaosFront : wrapping::Front {
  ChaosFront(const cwy_wrapped& inner, const Settings& s, uint32_t rank)
      : Front(inner), settings(s), plan(s.seed, rank, s.rates) {}
  const Settings settings;
  const Plan plan;
  std::atomic<bool> announced{false};
};

struct Endpoint;

// The core's operation while the conduit behind has ours: its reports come here first.
struct Relay {
  cwyc_op op{};  // first: report() finds the object by its address
  Relay* next = nullptr;
  cwyc_op* theirs = nullptr;
  Endpoint* ep = nullptr;
  const cwyc_conn* conn = nullptr;
  uint32_t last_bit = 0, hold = 0;
  uint32_t at_once = 0;  // bits that are not held back
};

// Behind the conduit's own bytes of a connection. Zeroed by the core. Relaxed everywhere: which
// number an operation has matters to nobody but the plan.
struct ConnState {
  std::atomic<uint64_t> accepted;
  std::atomic<uint32_t> refused;  // of the operation that is to come next
  std::atomic<uint32_t> failed;
};

struct Endpoint {
  ChaosFront* front = nullptr;
  void* core_ep = nullptr;
  cwyc_deliver_fn deliver = nullptr;
  decltype(cwyc_ep_params::peer_state) peer_state = nullptr;
  uint64_t state_offset = 0;  // of ConnState behind a cwyc_conn
  uint64_t medium_max = 0, long_max = 0, rma_max = 0;
  wrapping::RelayPool<Relay> relays;
  HeldReports reports;
  HeldMessages messages;
  std::mutex received_mutex;
  std::map<uint32_t, uint64_t> received;  // messages by rank
  // Counters and the number of the next call of progress; relaxed, as above.
  std::atomic<uint64_t> polls{0}, operations{0}, refusals{0}, delayed{0}, kept{0}, shortened{0};
  std::atomic<uint32_t> in_a_row{0};  // empty polls

  ConnState& state(cwyc_conn* conn) const {
    return *reinterpret_cast<ConnState*>(reinterpret_cast<char*>(conn + 1) + state_offset);
  }
  uint64_t poll_number() const { return polls.load(std::memory_order_relaxed); }
};

using conduit::services;
extern wrapping::EndpointTable<Endpoint> endpoints;

// Puts the operations of this conduit over those behind (operations.cpp).
void replace_operations(ChaosFront& front);

// In place of the core's operation, where its reports are to be held back for `hold` calls of
// progress. NULL: no memory.
Relay* relay_for(Endpoint& ep, const cwyc_conn* conn, cwyc_op* theirs, uint32_t last_bit,
                 uint32_t hold);
void report_through(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail*);

}  // namespace causeway::chaos
