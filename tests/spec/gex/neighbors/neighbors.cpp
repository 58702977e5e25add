// Prints the neighborhoods of a job, by the lowest rank of each rank's: "neighborhoods 0 0 2".
// Before that, every rank loads a word of every neighbor's segment, and rank 0 looks whether the
// answers of all ranks fit together. A line "wrong" otherwise.
#include <gasnet_coll.h>

#include <cstdint>
#include <cstdio>
#include <set>

namespace {

constexpr gex_Rank_t kMost = 64;  // ranks: a bit each

// Every rank tells rank 0 this.
struct Answer {
  uint64_t rank, members, lowest, index, sets, set;
};

gex_TM_t team;
gex_Rank_t rank, size;

bool wrong(const char* what, gex_Rank_t who) {
  std::printf("wrong: rank %u: %s %u\n", rank, what, who);
  std::fflush(stdout);
  return false;
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

// The neighbor's segment is here, and what it has written is read without a call.
bool is_here(gex_Rank_t neighbor) {
  void* local = nullptr;
  uintptr_t bytes = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, neighbor, nullptr, &local, &bytes, 0));
  if (local == nullptr || bytes < sizeof(Answer)) return wrong("no local address of", neighbor);
  if (static_cast<volatile Answer*>(local)->rank != neighbor)
    return wrong("other words of", neighbor);
  return true;
}

bool look(Answer* own) {
  bool good = true;
  gex_RankInfo_t* info = nullptr;
  gex_Rank_t count = 0, index = 0, sets = 0, set = 0;
  gex_System_QueryNbrhdInfo(&info, &count, &index);
  gex_System_QueryMyPosition(&sets, &set, nullptr, nullptr);
  own->lowest = info[0].gex_jobrank;
  own->index = index;
  own->sets = sets;
  own->set = set;
  for (gex_Rank_t i = 0; i < count; ++i) {
    own->members |= uint64_t{1} << info[i].gex_jobrank;
    if (info[i].gex_jobrank != rank) good = is_here(info[i].gex_jobrank) && good;
  }
  return good;
}

// On rank 0: its segment has all answers behind its own.
bool they_agree(const Answer* all) {
  bool good = true;
  std::set<uint64_t> lowest, sets;
  for (gex_Rank_t r = 0; r < size; ++r) {
    lowest.insert(all[r].lowest);
    sets.insert(all[r].set);
    if ((all[r].members >> r & 1) == 0) good = wrong("it is not its own neighbor:", r);
    for (gex_Rank_t s = 0; s < size; ++s) {
      const bool neighbors = (all[r].members >> s & 1) != 0;
      if (neighbors != (all[r].members == all[s].members)) good = wrong("not an equivalence at", s);
      if (neighbors != (all[r].set == all[s].set)) good = wrong("another set's number at", s);
    }
  }
  for (gex_Rank_t r = 0; r < size; ++r)
    if (all[r].sets != lowest.size()) good = wrong("another number of sets at", r);
  return good && sets.size() == lowest.size();
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &team, "NEIGHBORS", &argc, &argv, 0) != GASNET_OK) return 3;
  rank = gex_TM_QueryRank(team);
  size = gex_TM_QuerySize(team);
  if (size > kMost || gex_Segment_Attach(&segment, team, 1 << 16) != GASNET_OK) return 3;
  auto* const own = static_cast<Answer*>(gex_Segment_QueryAddr(segment));
  *own = {rank, 0, 0, 0, 0, 0};
  barrier();
  bool good = look(own);
  void* first = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 0, &first, nullptr, nullptr, 0));
  gex_RMA_PutBlocking(team, 0, static_cast<Answer*>(first) + 1 + rank, own, sizeof *own, 0);
  barrier();
  if (rank == 0) {
    good = they_agree(own + 1) && good;
    std::printf("neighborhoods");
    for (gex_Rank_t r = 0; r < size; ++r)
      std::printf(" %u", static_cast<unsigned>(own[1 + r].lowest));
    std::printf("\n");
    std::fflush(stdout);
  }
  barrier();
  gasnet_exit(good ? 0 : 1);
}
