// How the members of a team agree on a number (object/team_ids.h).
#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "collective/exchange.h"
#include "object/team_ids.h"
#include "process/team_create.h"

namespace causeway {

uint32_t settle_team_id(Team& parent, uint32_t highest, uint32_t groups, const uint32_t* group,
                        uint32_t claims, uint64_t tag) {
  for (;;) {
    const uint32_t id = highest + (group != nullptr ? *group : 0);
    uint32_t claimed = 0;
    while (group != nullptr && claimed < claims && team_ids::claim(id, tag)) ++claimed;
    const bool agreed = group == nullptr || claimed == claims;
    team_ids::raise(highest + groups);
    // A member's vote: the lowest number that it would take next, behind a sign where it disagrees.
    const std::string vote = (agreed ? "" : "!") + std::to_string(team_ids::next());
    bool all = true;
    for (const std::string& other : causeway::exchange(parent, vote, "the creation of a team")) {
      const bool disagrees = other.starts_with('!');
      if (other.size() == static_cast<size_t>(disagrees))
        throw Error(CWY_ERR_INVALID, "a member's part of a team creation is missing");
      all &= !disagrees;
      highest = std::max(
          highest, static_cast<uint32_t>(std::strtoul(other.c_str() + disagrees, nullptr, 10)));
    }
    if (all) return id;
    while (claimed-- > 0) team_ids::release(id);
  }
}

}  // namespace causeway
