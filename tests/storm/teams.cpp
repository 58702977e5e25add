#include "teams.h"

#include <algorithm>

#include "family.h"
#include "world.h"

namespace storm {
namespace {

constexpr size_t kMostTeams = 6;

void check_team(const Step& step, const Team& team) {
  const gex_Rank_t rank = team.rank_of(world().rank);
  if ((rank != GEX_RANK_INVALID) != team.here())
    fail(step, "a team of %u has %s handle here", team.size(), team.here() ? "a" : "no");
  if (!team.here()) return;
  if (gex_TM_QuerySize(team.tm) != team.size() || gex_TM_QueryRank(team.tm) != rank)
    fail(step, "rank %u of %u in a team, expected %u of %u", gex_TM_QueryRank(team.tm),
         gex_TM_QuerySize(team.tm), rank, team.size());
  for (gex_Rank_t i = 0; i < team.size(); ++i)
    if (gex_TM_TranslateRankToJobrank(team.tm, i) != team.members[i])
      fail(step, "member %u of a team is rank %u, expected %u", i,
           gex_TM_TranslateRankToJobrank(team.tm, i), team.members[i]);
}

void add(const Step& step, Team team) {
  check_team(step, team);
  teams().push_back(std::move(team));
}

void duplicate(const Step& step, const Team& parent) {
  Team team{GEX_TM_INVALID, parent.members};
  if (parent.here()) gex_TM_Dup(&team.tm, parent.tm, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  add(step, std::move(team));
}

// Members of one color, by key and then by their rank in the parent. Members without a color take
// part and get no team.
void split(const Step& step, const Team& parent) {
  const uint64_t how = mix(step.key, 41);
  const int colors = 1 + static_cast<int>(how % 2);
  const bool leave_out = how / 2 % 3 == 0;
  const auto color_of = [&](gex_Rank_t jobrank) {
    const uint64_t own = mix(step.key, 500 + jobrank);
    return leave_out && own % 4 == 0 ? -1 : static_cast<int>(own / 4 % colors);
  };
  const auto key_of = [&](gex_Rank_t jobrank) {
    return static_cast<int>(mix(step.key, 900 + jobrank) % 5) - 2;
  };
  std::vector<Team> made(static_cast<size_t>(colors));
  for (const gex_Rank_t jobrank : parent.members)
    if (const int color = color_of(jobrank); color >= 0)
      made[static_cast<size_t>(color)].members.push_back(jobrank);
  for (Team& team : made)
    std::stable_sort(team.members.begin(), team.members.end(),
                     [&](gex_Rank_t a, gex_Rank_t b) { return key_of(a) < key_of(b); });
  if (parent.here()) {
    const int color = color_of(world().rank);
    gex_TM_t tm = GEX_TM_INVALID;
    gex_TM_Split(color < 0 ? nullptr : &tm, parent.tm, std::max(color, 0), key_of(world().rank),
                 nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    if (color >= 0) made[static_cast<size_t>(color)].tm = tm;
  }
  for (Team& team : made)
    if (team.size() > 0) add(step, std::move(team));
}

// A list of endpoints in an order of its own, with some members left out.
void create(const Step& step, const Team& parent) {
  Team team;
  team.members = parent.members;
  Random common = step.common();
  for (size_t i = team.members.size(); i > 1; --i)
    std::swap(team.members[i - 1], team.members[common.below(i)]);
  if (team.size() > 2 && common.chance(50)) team.members.pop_back();
  if (parent.here()) {
    std::vector<gex_EP_Location_t> places;
    const bool member = team.rank_of(world().rank) != GEX_RANK_INVALID;
    for (const gex_Rank_t jobrank : team.members) places.push_back({parent.rank_of(jobrank), 0});
    gex_TM_Create(&team.tm, member ? 1 : 0, parent.tm, member ? places.data() : nullptr,
                  member ? places.size() : 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    if (!member) team.tm = GEX_TM_INVALID;
  }
  add(step, std::move(team));
}

// Local quiescence asks for collectives only: puts and the like that were begun with the team may
// be under way when it ends. The flag says that all members have come so far, which a barrier of
// the team itself could not tell: it would be one more collective that some have not completed.
void destroy(const Step& step, size_t number, Flights& flights) {
  const Team team = teams()[number];
  teams().erase(teams().begin() + static_cast<ptrdiff_t>(number));
  if (team.here()) flights.settle_team(team.tm);
  const bool quiesced = mix(step.key, 43) % 2 == 0;
  if (quiesced) barrier();
  if (team.here()) gex_TM_Destroy(team.tm, nullptr, quiesced ? GEX_FLAG_GLOBALLY_QUIESCED : 0);
}

}  // namespace

gex_Rank_t Team::rank_of(gex_Rank_t jobrank) const {
  const auto at = std::find(members.begin(), members.end(), jobrank);
  return at == members.end() ? GEX_RANK_INVALID : static_cast<gex_Rank_t>(at - members.begin());
}

std::vector<Team>& teams() {
  static std::vector<Team> all;
  return all;
}

void start_teams() {
  Team job{world().tm, {}};
  for (gex_Rank_t r = 0; r < world().size; ++r) job.members.push_back(r);
  teams().push_back(std::move(job));
}

void change_teams(const Step& step, Flights& flights) {
  Random common(mix(step.key, 2));
  const size_t number = common.chance(60) ? teams().size() - 1 : common.below(teams().size());
  if (number > 0 && (common.chance(50) || teams().size() >= kMostTeams)) {
    stand_at(step, "destroys a team");
    destroy(step, number, flights);
    return;
  }
  if (teams().size() >= kMostTeams) return;
  const Team parent = teams()[number];
  stand_at(step, "makes teams");
  switch (common.below(4)) {
    case 0:
      duplicate(step, parent);
      break;
    case 1:
      create(step, parent);
      break;
    default:
      split(step, parent);
      break;
  }
}

void end_teams(Flights& flights) {
  const Step last{};
  while (teams().size() > 1) destroy(last, teams().size() - 1, flights);
}

Way way_to(gex_Rank_t target, Actor actor, Random& whim) {
  if (whim.chance(20)) return {gex_TM_Pair(world().ep, 0), target};
  if (actor.thread != 0) return {world().tm, target};
  // The newest as a rule, which is the next to end: what it was used for is under way then.
  const size_t number = whim.chance(60) ? teams().size() - 1 : whim.below(teams().size());
  const Team& team = teams()[number];
  const gex_Rank_t rank = team.here() ? team.rank_of(target) : GEX_RANK_INVALID;
  return rank == GEX_RANK_INVALID ? Way{world().tm, target} : Way{team.tm, rank};
}

namespace {

class TeamChanges : public FamilyPart {
 public:
  void run(const Step& step, Flights& flights) override { change_teams(step, flights); }
};

}  // namespace

std::unique_ptr<FamilyPart> make_team_changes() {
  return std::make_unique<TeamChanges>();
}

}  // namespace storm
