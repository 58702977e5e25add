#include "atomics/mechanism.h"

#include <algorithm>

#include "base/error.h"

namespace causeway {

MechanismWish parse_mechanism(const std::string& word) {
  if (word == "cpu") return MechanismWish::cpu;
  return word == "nic" ? MechanismWish::nic : MechanismWish::automatic;
}

namespace {

// The first member for whom the first member's adapter will not do; the count when there is none.
size_t first_without(const std::vector<AtomicView>& members) {
  const std::string& adapter = members.front().adapter;
  if (adapter.empty()) return 0;
  const auto odd = std::ranges::find_if(members, [&](auto& m) { return m.adapter != adapter; });
  return static_cast<size_t>(odd - members.begin());
}

[[noreturn]] void no_adapter(const std::vector<AtomicView>& members, size_t rank) {
  const AtomicView& m = members[rank];
  if (m.adapter.empty()) {
    throw Error(CWY_ERR_UNSUPPORTED,
                "atomics.mechanism is nic, but no adapter serves rank {} of the team: {}", rank,
                m.obstacle);
  }
  throw Error(CWY_ERR_UNSUPPORTED,
              "atomics.mechanism is nic, but rank {} of the team would use conduit {} and rank 0 "
              "conduit {}",
              rank, m.adapter, members.front().adapter);
}

}  // namespace

std::string choose_mechanism(MechanismWish wish, gex_Flags_t flags,
                             const std::vector<AtomicView>& members) {
  if (wish == MechanismWish::cpu) return {};
  const size_t odd = first_without(members);
  const bool possible = odd == members.size();
  if (wish == MechanismWish::nic) {
    if (!possible) no_adapter(members, odd);
    return members.front().adapter;
  }
  const bool near = std::ranges::all_of(members, &AtomicView::near);
  const bool favors_near = flags & (GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD);
  const bool favors_far = flags & GEX_FLAG_AD_FAVOR_REMOTE;
  const bool wanted = favors_far || !(favors_near || near);
  return possible && wanted ? members.front().adapter : std::string();
}

}  // namespace causeway
