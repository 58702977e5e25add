// The teams that exist. Every rank knows all of them, also those that it is no member of, because
// the script speaks of them by number.
#pragma once

#include <gasnetex.h>

#include <vector>

#include "flights.h"
#include "script.h"

namespace storm {

struct Team {
  gex_TM_t tm = GEX_TM_INVALID;     // where this rank is a member
  std::vector<gex_Rank_t> members;  // job ranks, in the order of the team

  gex_Rank_t size() const { return static_cast<gex_Rank_t>(members.size()); }
  bool here() const { return tm != GEX_TM_INVALID; }
  // GEX_RANK_INVALID where it is none.
  gex_Rank_t rank_of(gex_Rank_t jobrank) const;
};

// The first is the job's own and stays.
std::vector<Team>& teams();
void start_teams();
// A team more or less, as the step's key says.
void change_teams(const Step& step, Flights& flights);
void end_teams(Flights& flights);
// A team, or a pair of endpoints, through which the actor reaches `target`, and its rank there.
struct Way {
  gex_TM_t tm;
  gex_Rank_t rank;
};
// The first thread makes and ends teams, hence the others keep to the job's own.
Way way_to(gex_Rank_t target, Actor actor, Random& whim);

}  // namespace storm
