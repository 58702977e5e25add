// TeamSimulation: the team services of collective.h for all members in one process. Deliveries are
// late and in any order, posts are refused now and then, memory of other neighborhoods is not
// mapped: what a state machine must bear.
//
// Scratch is as scarce as in the core: a member has kFrames frames, run `seq` has frame
// seq % kFrames, and gets it when run seq - kFrames has ended there. A frame is filled with other
// bytes as soon as its run has ended, so what a partner reads there later is no run's data; and
// to ask for a region of a member whose run has ended is a breach, whatever lies there.
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

// The part of each other's memory that members reach, beside signals with data.
enum class Access {
  all,        // everything; within a neighborhood by loads and stores
  scratch,    // neighbors' scratch: buffers lie in no segment, and the kernel copies nothing
  transfers,  // neighbors' scratch; of buffers what transfers reach
  none,       // nothing
  mixed       // one member this, another that: none can take its luck for everybody's
};
constexpr Access kAccesses[] = {Access::all, Access::scratch, Access::transfers, Access::none,
                                Access::mixed};

// The sharing of memory in a team.
struct Sharing {
  Layout layout;
  bool domains;
};
constexpr Sharing kSharings[] = {{Layout::one, false},
                                 {Layout::one, true},
                                 {Layout::alternating, false},
                                 {Layout::alternating, true},
                                 {Layout::alone, false}};

struct TeamSetup {
  uint32_t size;
  Layout layout;
  bool
      domains;  // pairs of ranks are by turns in one memory domain of their neighborhood or another
  bool ordered;  // runs use an operator that does not commute
  Access access;
  uint64_t scratch;  // of a run, at each member
};

class TeamSimulation {
 public:
  TeamSimulation(const TeamSetup& setup, Random& random);

  cwyl_team* member(uint32_t rank) { return &members_[rank].team; }
  const cwyl_team_services* services() const { return &services_; }
  uint32_t size() const { return setup_.size; }
  bool has_much_scratch() const { return setup_.scratch >= kMuchScratch; }
  // Counts what has landed, what was posted and the members' ends of runs.
  uint64_t moves() const { return moves_; }
  // The shape that a score is asked about for a call on this team.
  cwyl_shape shape(uint32_t operation, uint64_t bytes, uint64_t element_bytes) const;
  static constexpr uint64_t kFrames = 4;
  // The least that a configuration may say, and enough for calls of hundreds of KiB.
  static constexpr uint64_t kLeastScratch = 4 << 10, kMuchScratch = 64 << 10;
  static constexpr uint64_t kPutMax = 1024, kRegionPutMax = 8192;
  static constexpr uint32_t kPosts = 4, kPostMax = 120, kSignals = 64;

  // Delivers some of what is under way; `all`: everything that has a frame to go to.
  void deliver(bool all);
  // Has this member a frame for that run?
  bool may_begin(uint32_t rank, cwyl_seq seq) const;
  // The member's state machine has answered CWY_OK: nothing may come for that run any more.
  void ended(uint32_t rank, cwyl_seq seq);
  // A breach of the services' contract by the plugin, or "".
  const std::string& breach() const { return breach_; }

  // Elements of the simulated runs: `width` affine maps each, composed where order must be kept,
  // else added.
  void set_width(cwyl_seq seq, uint64_t width) { widths_[seq] = width; }
  struct Affine {
    uint32_t a, b;
    bool operator==(const Affine&) const = default;
  };
  Affine combine(Affine left, Affine right) const {
    if (!setup_.ordered) return {left.a + right.a, left.b + right.b};
    return {right.a * left.a, right.a * left.b + right.b};
  }

 private:
  struct Run {
    uint64_t signals[kSignals] = {};
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
    std::vector<uint8_t> frames[kFrames];
    cwyl_seq ended = 0;  // it and all before it have
  };
  struct Flight {
    uint32_t to;  // of a region: its owner
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
  Run& run(uint32_t rank, cwyl_seq seq) { return members_[rank].runs[seq]; }
  uint8_t* scratch(uint32_t rank, cwyl_seq seq) {
    return members_[rank].frames[seq % kFrames].data();
  }
  bool is_own_scratch(uint32_t rank, const void* addr) const;
  bool are_neighbors(uint32_t a, uint32_t b) const { return nbrhd_of_[a] == nbrhd_of_[b]; }
  size_t pair(uint32_t from, uint32_t to) const { return size_t{from} * setup_.size + to; }
  bool land(const Flight& flight);  // false: there is no frame for it yet
  void describe(uint32_t rank);
  void decide_access();
  void combine_all(cwyl_seq seq, const void* left, const void* right, void* out, uint64_t count);
  // May `from` ask for that part of a region of `rank`? OK, UNSUPPORTED, or INVALID for a breach.
  cwy_status ask(uint32_t from, cwyl_seq seq, uint32_t rank, const cwyl_region& region,
                 uint64_t offset, uint64_t length);
  void fill_services();
  void fill_transfers();

  std::vector<Member> members_;
  std::vector<uint32_t> nbrhd_of_, domain_of_;
  std::deque<Flight> flights_;
  cwyl_team_services services_{};
  Random& random_;
  TeamSetup setup_;
  bool boards_;
  uint32_t domains_ = 0, domain_most_ = 0, nbrhds_ = 0, nbrhd_most_ = 0;
  std::map<cwyl_seq, uint64_t> widths_;
  // The members whose buffers and scratch are regions; and, by pair(who, whose), what is mapped of
  // them and which buffers transfers reach.
  std::vector<bool> exposes_, exposes_scratch_, maps_, maps_scratch_, transfers_;
  uint64_t moves_ = 0;
  std::string breach_;
};

}  // namespace causeway::conformance
