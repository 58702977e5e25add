// Part: some members of a team as a team of their own, so that any algorithm can run among them
// inside a run of the whole team: it has a part of that run's signals and scratch. What the
// algorithm calls its team is the Part; its calls go on to the whole team.
#pragma once

#include <causeway/collective.h>

#include "hier.h"

namespace hier {

struct Part {
  cwyl_team_info info;
  cwyl_team* whole;
  const cwyl_team_services* services;  // of the whole team
  const uint32_t* ranks;               // in the whole team, of the part's members
  uint64_t scratch_at, scratch_bytes;
  uint32_t signal_at;

  cwyl_team* as_team() { return reinterpret_cast<cwyl_team*>(this); }
};

// The share that a part gets of the run's signals and scratch.
struct Share {
  uint32_t signal_at, signals;
  uint64_t scratch_at, scratch_bytes;
};

// `ranks`: by rank in the part, `count` of them, this member at `own`. They share memory when
// `neighbors`; else each is alone. `identity`: 0, 1, 2, ... for at least `count`.
void make_part(Part* part, const Run& run, const uint32_t* ranks, uint32_t count, uint32_t own,
               bool neighbors, const uint32_t* identity, const Share& share);

// The services that algorithms among a part's members call.
extern const cwyl_team_services part_services;

}  // namespace hier
