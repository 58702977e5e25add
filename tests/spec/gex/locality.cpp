// Neighborhood, host and position: the rules by which the answers of all ranks fit together.
#include <atomic>
#include <map>
#include <set>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

struct Position {
  gex_Rank_t nbrhd_sets, nbrhd_set, host_sets, host_set;
};
std::vector<Position> positions;
std::atomic<unsigned> arrived{0};

void on_position(gex_Token_t token, gex_AM_Arg_t nbrhd_sets, gex_AM_Arg_t nbrhd_set,
                 gex_AM_Arg_t host_sets, gex_AM_Arg_t host_set) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  positions[info.gex_srcrank] = {
      static_cast<gex_Rank_t>(nbrhd_sets), static_cast<gex_Rank_t>(nbrhd_set),
      static_cast<gex_Rank_t>(host_sets), static_cast<gex_Rank_t>(host_set)};
  arrived.fetch_add(1, std::memory_order_release);
}
spec::Handler position_handler(&on_position, GEX_FLAG_AM_REQUEST, "position");

template <typename Query>
std::vector<gex_Rank_t> check_info(Query query) {
  gex_RankInfo_t* info = nullptr;
  gex_Rank_t count = 0;
  gex_Rank_t mine = GEX_RANK_INVALID;
  query(&info, &count, &mine);
  std::vector<gex_Rank_t> members;
  if (!CHECK(info != nullptr) || !CHECK(count > 0) || !CHECK(mine < count)) return members;
  CHECK_EQ(info[mine].gex_jobrank, gex_System_QueryJobRank());
  for (gex_Rank_t i = 0; i < count; ++i) {
    members.push_back(info[i].gex_jobrank);
    CHECK(info[i].gex_jobrank < job().size);
    if (i > 0) CHECK(info[i - 1].gex_jobrank < info[i].gex_jobrank);
  }
  // Every output may be left out, and asking again gives the same answer.
  query(nullptr, nullptr, nullptr);
  gex_Rank_t again = 0;
  query(nullptr, &again, nullptr);
  CHECK_EQ(again, count);
  query(nullptr, nullptr, &again);
  CHECK_EQ(again, mine);
  return members;
}

}  // namespace

// Would catch unsorted tables, a caller missing from its own set, and hosts smaller than
// neighborhoods.
SPEC_CASE(locality, members) {
  const auto nbrhd = check_info(gex_System_QueryNbrhdInfo);
  const auto host = check_info(gex_System_QueryHostInfo);
  const std::set<gex_Rank_t> on_host(host.begin(), host.end());
  for (gex_Rank_t rank : nbrhd) CHECK(on_host.contains(rank));
}

// Would catch set sizes that differ between callers and set ranks that do not match membership.
SPEC_CASE(locality, positions_agree) {
  positions.assign(job().size, {});
  spec::barrier();
  Position mine{};
  gex_System_QueryMyPosition(&mine.nbrhd_sets, &mine.nbrhd_set, &mine.host_sets, &mine.host_set);
  gex_System_QueryMyPosition(nullptr, nullptr, nullptr, nullptr);
  for (gex_Rank_t rank = 0; rank < job().size; ++rank)
    gex_AM_RequestShort4(
        job().tm, rank, position_handler, 0, static_cast<gex_AM_Arg_t>(mine.nbrhd_sets),
        static_cast<gex_AM_Arg_t>(mine.nbrhd_set), static_cast<gex_AM_Arg_t>(mine.host_sets),
        static_cast<gex_AM_Arg_t>(mine.host_set));
  GASNET_BLOCKUNTIL(arrived.load(std::memory_order_acquire) == job().size);
  arrived.store(0, std::memory_order_relaxed);

  CHECK(mine.nbrhd_set < mine.nbrhd_sets);
  CHECK(mine.host_set < mine.host_sets);
  const auto nbrhd = check_info(gex_System_QueryNbrhdInfo);
  const auto host = check_info(gex_System_QueryHostInfo);
  const std::set<gex_Rank_t> in_nbrhd(nbrhd.begin(), nbrhd.end());
  const std::set<gex_Rank_t> on_host(host.begin(), host.end());
  std::set<gex_Rank_t> nbrhd_sets, host_sets;
  for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
    const Position& other = positions[rank];
    nbrhd_sets.insert(other.nbrhd_set);
    host_sets.insert(other.host_set);
    CHECK_EQ(other.nbrhd_sets, mine.nbrhd_sets);
    CHECK_EQ(other.host_sets, mine.host_sets);
    CHECK_EQ(other.nbrhd_set == mine.nbrhd_set, in_nbrhd.contains(rank));
    CHECK_EQ(other.host_set == mine.host_set, on_host.contains(rank));
  }
  CHECK_EQ(nbrhd_sets.size(), mine.nbrhd_sets);
  CHECK_EQ(host_sets.size(), mine.host_sets);
  spec::barrier();
}
