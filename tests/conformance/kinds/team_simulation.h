// TeamSimulation: the team services of collective.h for all members in one process. Deliveries are
// late and in any order, posts are refused now and then, memory of other neighborhoods is not
// mapped: what a state machine must bear.
#pragma once

#include <causeway/collective.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/random.h"

struct cwyl_team {
  void* simulation;
  uint32_t rank;
};

namespace causeway::conformance {

// How the members lie on neighborhoods.
enum class Layout { one, alternating, alone };

class TeamSimulation {
 public:
  // `ordered`: runs use an operator that does not commute.
  // `domains`: pairs of ranks are by turns in one memory domain of their neighborhood and in
  // another.
  TeamSimulation(uint32_t size, Layout layout, bool domains, bool ordered, Random& random);

  cwyl_team* member(uint32_t rank) { return &members_[rank].team; }
  const cwyl_team_services* services() const { return &services_; }
  static constexpr uint64_t kScratch = 16384;
  static constexpr uint64_t kPutMax = 1024, kRegionPutMax = 8192;
  static constexpr uint32_t kPosts = 4, kPostMax = 120;

  // Delivers some of what is under way; `all`: everything.
  void deliver(bool all);
  // The member's state machine has answered CWY_OK: nothing may come for that run any more.
  void ended(uint32_t rank, cwyl_seq seq);
  // A breach of the services' contract by the plugin, or "".
  const std::string& breach() const { return breach_; }

  // Elements of the simulated runs: affine maps, composed where order must be kept, else added.
  struct Affine {
    uint32_t a, b;
    bool operator==(const Affine&) const = default;
  };
  Affine combine(Affine left, Affine right) const {
    if (!ordered_) return {left.a + right.a, left.b + right.b};
    return {right.a * left.a, right.a * left.b + right.b};
  }

 private:
  struct Run {
    std::vector<uint8_t> scratch;
    std::vector<uint64_t> signals;
    std::vector<std::unique_ptr<uint8_t[]>> memory;
    std::vector<uint8_t> posts[kPosts];
    bool posted[kPosts] = {};
    bool ended = false;
  };
  struct Member {
    cwyl_team team;
    cwyl_team_info info;
    std::vector<uint32_t> nbrhd_ranks;
    std::map<cwyl_seq, Run> runs;
  };
  struct Flight {
    uint32_t to;
    cwyl_seq seq;
    std::vector<uint8_t> data;
    uint64_t offset;
    uint32_t signal;
    bool signals = false;                  // put_region_signal
    uint8_t* region_to = nullptr;          // put_region, put_region_signal
    const uint8_t* region_from = nullptr;  // get_region, put_region_signal
    uint64_t length = 0;
    uint32_t* done = nullptr;
  };

  static TeamSimulation& of(cwyl_team* team);
  Run& run(uint32_t rank, cwyl_seq seq);
  void land(const Flight& flight);
  void fill_services();

  std::vector<Member> members_;
  std::vector<uint32_t> nbrhd_of_, domain_of_;
  std::deque<Flight> flights_;
  cwyl_team_services services_{};
  Random& random_;
  bool ordered_;
  // Which members can expose memory, and who reaches whose: all, none, or some, by chance. Members
  // of one neighborhood may still differ in this.
  std::vector<bool> exposes_, reaches_;
  std::string breach_;
};

}  // namespace causeway::conformance
