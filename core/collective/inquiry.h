// Inquiry: for whom does a collective of this process stand still?
//
// A member that has left the job may never have come to the collective, or may have done its part
// and be through, while another one, which lives, is at work and makes no calls. Nobody can ask the
// first. So the living are asked how far they are, and answer in their polls: who is at work does
// not answer, and is waited for. When every living member has begun the collective, and none of
// them has moved from one round of answers to the next, a member that has left is what is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace causeway {

class Team;
struct Peer;

// The machineries that run collectives; each counts its own.
enum class CollectiveSort : int32_t { run, named_barrier, blocks };
inline constexpr size_t kCollectiveSorts = 3;

// A collective under way here, and what it has come to.
struct CollectiveWait {
  const char* call = nullptr;  // NULL: none
  CollectiveSort sort{};
  Team* team = nullptr;  // lives as long as the collective
  uint64_t seq = 0;      // from 1: its number among the collectives of its sort on the team
  uint64_t moves = 0;    // grows when this member goes on
  bool operator==(const CollectiveWait&) const = default;
};

// How far a member says that it is with the collective of a number.
struct HowFar {
  bool begun = false;
  uint64_t moves = 0;
};

// The answer of a machinery beside the engine: a collective of its sort that has that rank of the
// job among its members, and how far this process is with one.
struct CollectiveMachinery {
  CollectiveWait (*with)(uint32_t job_rank) = [](uint32_t) { return CollectiveWait{}; };
  std::optional<HowFar> (*how_far)(uint32_t team_id, uint64_t seq) =
      [](uint32_t, uint64_t) -> std::optional<HowFar> { return HowFar{}; };
};
// Told by wiring.cpp, before any message can come.
void set_machinery(CollectiveSort sort, CollectiveMachinery other);

bool has_rank_of_job(const Team& team, uint32_t job_rank);

// A collective that has that rank of the job among its members. None where other threads are at it.
CollectiveWait collective_with(uint32_t job_rank);

// Called now and then with a collective that stands still. True when it has stood still for at
// least `patience_ns` and waits for a member that has left.
bool waits_for_departed(const CollectiveWait& wait, const std::vector<uint32_t>& departed,
                        uint64_t patience_ns);

// A question or an answer (CollectiveMessage::how_far, so_far).
void on_inquiry(Peer& from, const int32_t* args, unsigned nargs);
// Answers what others have asked. From polls.
void answer_inquiries();

}  // namespace causeway
