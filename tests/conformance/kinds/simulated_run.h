// SimulatedRun: one run of one candidate on every member of a simulated team.
#pragma once

#include <causeway/collective.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "team_simulation.h"

namespace causeway::conformance {

std::string title(const cwyl_candidate& candidate);

// The call that a run makes.
struct Call {
  uint64_t count;      // elements
  uint64_t width = 1;  // affine maps in each
  uint32_t root = 0;
  bool in_place = false;  // source and destination are one where a member has both
};

// Does this candidate offer to serve that call?
bool serves(const cwyl_candidate& candidate, const TeamSimulation& team, const Call& call);

// Contents name their writer, their place and their run. A member's result is judged at the moment
// at which it says that it is done; what it then does with its buffers is a client's right: it
// writes something else there, which nobody may read, and nobody may write over.
class SimulatedRun {
 public:
  SimulatedRun(const cwyl_candidate& candidate, TeamSimulation& team, cwyl_seq seq,
               const Call& call);

  cwyl_seq seq() const { return seq_; }
  bool begun(uint32_t rank) const { return members_[rank].begun; }
  bool done(uint32_t rank) const { return members_[rank].done; }
  bool all_done() const;
  // start or one step of one member.
  void advance(uint32_t rank);
  // When nothing is under way any more.
  void judge() const;

 private:
  using Affine = TeamSimulation::Affine;
  struct StateDeleter {
    void operator()(void* p) const;
  };
  struct Member {
    std::vector<Affine> src, dst;
    std::unique_ptr<void, StateDeleter> state;
    cwyl_args args{};
    bool begun = false, done = false;
  };

  Affine element(uint32_t rank, uint64_t i) const;
  Affine expected(uint64_t i) const;
  bool has_result(uint32_t rank) const;
  bool is_in_place(uint32_t rank) const;
  void prepare(uint32_t rank);
  void finish(uint32_t rank);
  void expect_all_begun(uint32_t rank) const;
  std::string where(uint32_t rank, uint64_t i) const;

  const cwyl_candidate& c_;
  TeamSimulation& team_;
  cwyl_seq seq_;
  Call call_;
  uint64_t maps_;  // affine maps in a buffer
  std::vector<Member> members_;
};

}  // namespace causeway::conformance
