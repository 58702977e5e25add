// Collectives of every kind begun on one member of a team and checked when they are complete. What
// the members give depends on who they are, so that data of another team or round shows.
#pragma once

#include <cstdint>
#include <vector>

#include "coll_testing.h"

namespace spec {

class TeamLoad {
 public:
  // `seed` and `count` are the same on all members. Nothing is begun yet.
  TeamLoad(gex_TM_t tm, uint64_t seed, size_t count)
      : tm_(tm),
        seed_(seed),
        size_(gex_TM_QuerySize(tm)),
        rank_(gex_TM_QueryRank(tm)),
        cast_(count),
        own_(count),
        sum_(count),
        maps_(count),
        composed_(count) {
    for (size_t i = 0; i < count; ++i) {
      own_[i] = word(rank_, i);
      maps_[i] = map(rank_, i);
      if (rank_ == root()) cast_[i] = word(root(), i + 1);
    }
  }
  // Their addresses are in use while they are under way.
  TeamLoad(const TeamLoad&) = delete;
  TeamLoad(TeamLoad&&) = default;

  static constexpr unsigned kKinds = 4;
  // Begins the collective number `kind` of the team; in increasing order on every member.
  gex_Event_t begin(unsigned kind) {
    switch (kind % kKinds) {
      case 0:
        return gex_Coll_BroadcastNB(tm_, root(), cast_.data(), cast_.data(),
                                    cast_.size() * sizeof(uint64_t), 0);
      case 1:
        return gex_Coll_ReduceToOneNB(tm_, root(), sum_.data(), own_.data(), GEX_DT_U64, 8,
                                      own_.size(), GEX_OP_ADD, nullptr, nullptr, 0);
      case 2:
        return gex_Coll_BarrierNB(tm_, 0);
      default:
        return gex_Coll_ReduceToAllNB(tm_, composed_.data(), maps_.data(), GEX_DT_USER,
                                      sizeof(coll::Affine), maps_.size(), GEX_OP_USER_NC,
                                      coll::compose_all, nullptr, 0);
    }
  }

  // All of it is complete: is it right?
  bool check() const {
    bool right = true;
    for (size_t i = 0; i < own_.size() && right; ++i) {
      uint64_t sum = 0;
      coll::Affine all = map(0, i);
      for (gex_Rank_t r = 0; r < size_; ++r) {
        sum += word(r, i);
        if (r > 0) all = coll::compose(all, map(r, i));
      }
      right = CHECK_EQ(cast_[i], word(root(), i + 1)) && CHECK(composed_[i] == all);
      if (rank_ == root()) right = CHECK_EQ(sum_[i], sum) && right;
    }
    return right;
  }

 private:
  gex_Rank_t root() const { return static_cast<gex_Rank_t>(seed_ % size_); }
  // An endpoint is known by where it is, and a team by its members.
  uint64_t place(gex_Rank_t rank) const {
    const gex_EP_Location_t at = gex_TM_TranslateRankToEP(tm_, rank, 0);
    return uint64_t{at.gex_rank} * GASNET_MAXEPS + at.gex_ep_index;
  }
  uint64_t word(gex_Rank_t rank, size_t i) const {
    return (place(rank) + 1) * 1000003 + seed_ * 7919 + i * size_;
  }
  coll::Affine map(gex_Rank_t rank, size_t i) const {
    const uint64_t w = word(rank, i);
    return {static_cast<uint32_t>(2 * w + 1), static_cast<uint32_t>(w >> 3)};
  }

  gex_TM_t tm_;
  uint64_t seed_;
  gex_Rank_t size_, rank_;
  std::vector<uint64_t> cast_, own_, sum_;
  std::vector<coll::Affine> maps_, composed_;
};

// All kinds at once on each of `teams`, whose own order is the same on all members while `turn`
// says in which order this process goes through the teams; completed in another order.
inline bool load_teams(const std::vector<gex_TM_t>& teams, uint64_t seed, size_t count,
                       size_t turn) {
  std::vector<TeamLoad> loads;
  loads.reserve(teams.size());
  for (const gex_TM_t tm : teams) loads.emplace_back(tm, seed, count);
  std::vector<gex_Event_t> events;
  const size_t n = teams.size();
  for (unsigned kind = 0; kind < TeamLoad::kKinds; ++kind)
    for (size_t i = 0; i < n; ++i) {
      // Forwards or backwards from somewhere, differently for each kind.
      const size_t step = (turn + kind) % 2 == 0 ? i : n - 1 - i;
      events.push_back(loads[(step + turn * (kind + 1)) % n].begin(kind));
    }
  if (turn % 3 == 0) {
    gex_Event_WaitAll(events.data(), events.size(), 0);
  } else {
    for (size_t i = events.size(); i-- > 0;) gex_Event_Wait(events[i]);
  }
  bool right = true;
  for (const TeamLoad& load : loads) right = load.check() && right;
  return right;
}

}  // namespace spec
