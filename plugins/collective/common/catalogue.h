// Catalogue: every algorithm that works on any team over any transport, as a state machine. Plugin
// `base` offers each to whole teams, plugin `hier` to the leaders of neighborhoods.
#pragma once

#include <causeway/collective.h>

namespace base {

using Step = cwy_status (*)(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                            const cwyl_args* args, void* state);

struct Algorithm {
  const char* name;
  uint32_t operation;
  uint32_t keeps_order;
  int32_t (*score)(const cwyl_shape* shape);
  uint32_t state_bytes;
  Step start, step;
};

constexpr uint32_t kAlgorithms = 13;
extern const Algorithm catalogue[kAlgorithms];

// The largest team they take.
constexpr uint32_t kMostMembers = 1u << 20;

}  // namespace base
