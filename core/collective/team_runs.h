// TeamRuns: the collectives of one team as one of its members sees them: its block of frames, how
// it reaches the others, and the runs that are under way.
#pragma once

#include <causeway/collective.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/lazy_table.h"
#include "collective/engine.h"
#include "collective/frames.h"
#include "collective/kernels.h"
#include "collective/mailbox.h"
#include "collective/table.h"
#include "collective/team_mutex.h"
#include "staging/stage.h"
#include "thread/op.h"

namespace causeway {

// ---- messages (core-internal, Internal::signal) ----
// `placed`: a long whose payload is where it belongs; only the signal is left to raise.
// `how_far`, `so_far`: of inquiries.
enum class CollectiveMessage : int32_t {
  put,
  put_and_ask,
  block_offset,
  nudge,
  post,
  placed,
  how_far,
  so_far
};

// Memory for runs, kept from one to the next: fresh pages cost more than most collectives.
class BufferPool {
 public:
  struct Buffer {
    void* memory = nullptr;
    size_t bytes = 0;
  };
  Buffer take(size_t bytes);  // memory NULL: there is none
  void give(Buffer buffer);
  ~BufferPool();

 private:
  static constexpr size_t kKeepBytes = 64u << 20;
  static constexpr size_t kKeepCount = 16;
  std::vector<Buffer> free_;
  size_t kept_ = 0;
};

// A get or put of a region that has not completed.
struct RegionTransfer {
  gex_Event_t event;
  uint32_t* done;
};

struct Run {
  cwyl_seq seq = 0;
  const CollectiveTable::Candidate* candidate = nullptr;
  cwyl_args args{};
  Reduction reduction{};
  ReduceKernel kernel = nullptr;
  bool started = false;
  bool over = false;               // the state machine has ended; transfers may still be under way
  bool stranded = false;           // a peer is gone: stays as it is until this process ends
  bool looked_at_signals = false;  // without, none was raised for it: the frame is as it was
  bool streams = false;            // it moves more than the caches hold: do not write through them
  bool prepared = false;           // the line of this member's post in the next run is here
  std::unique_ptr<CollectiveStage> stage;  // buffers in device memory; usually none
  BufferPool::Buffer state;
  std::vector<BufferPool::Buffer> memory;
  std::vector<RegionTransfer> transfers;
  uint32_t post_cursor = 0;  // of the post under way: neighbors before it have their message
  Op* op = nullptr;
};

// How one member reaches another's frames.
struct Link {
  // Offset of the other's block in its arena, learnt from the answer to a message: written by
  // whoever delivers it (release), read by whoever runs the team (acquire).
  std::atomic<uint64_t> offset{kUnknown};
  // The rest belongs to the thread that holds the mutex of TeamRuns.
  Block block;
  char* arena = nullptr;
  uint64_t ended_seen = 0;
  bool reads_board = false;  // the other looks at this member's board
  bool told = false;         // the other knows that this member looks at its board

  static constexpr uint64_t kUnknown = UINT64_MAX - 1;
};

class TeamRuns {
 public:
  explicit TeamRuns(Team* team);
  ~TeamRuns();

  // Begins a run, now or, when too many are under way, as soon as one has ended.
  gex_Event_t begin(const cwyl_args& args, const Reduction& reduction);
  // A step of every run. 0 when nothing moved or another thread is at it.
  uint32_t step();
  // The run begun first of those that are not over, where that rank of the job is a member. None
  // when another thread is at it.
  CollectiveWait oldest_with(uint32_t job_rank);
  std::optional<HowFar> how_far(uint64_t seq);
  bool idle() const { return active_.load(std::memory_order_relaxed) == 0; }

  // A signal that came as a message; with the mailbox' mutex held.
  void deliver(uint64_t seq, uint64_t offset, const void* src, uint64_t length, uint32_t signal);
  // A post that came as a message; with the mailbox' mutex held.
  void deliver_post(uint32_t sender, uint64_t seq, uint32_t which, const void* src,
                    uint64_t length);
  uint64_t block_offset() const { return block_offset_; }
  Link& link(uint32_t rank) { return links_.at(rank, std::make_unique<Link>); }

  static TeamRuns& of(cwyl_team* team) { return *reinterpret_cast<TeamRuns*>(team); }
  cwyl_team* as_c() { return reinterpret_cast<cwyl_team*>(this); }

  // ---- the services, and what they work with; called from start() and step() of a run only ----
  const cwyl_team_info& info() const { return info_; }
  Team& team() const { return *team_; }
  Run& current() const { return *current_; }
  const Block& block() const { return block_; }
  uint64_t scratch_bytes() const { return scratch_; }
  cwy_status put(uint64_t seq, uint32_t rank, const void* src, uint64_t length, uint64_t offset,
                 uint32_t signal);
  // Into that member's bound segment, which is not mapped here; then the signal.
  cwy_status put_far(uint32_t rank, uint64_t seq, uint64_t raddr, const void* src, uint64_t length,
                     uint32_t signal, uint32_t* done);
  cwy_status post(uint64_t seq, uint32_t which, const void* src, uint64_t length);
  cwy_status posted(uint64_t seq, uint32_t rank, uint32_t which, void* dst, uint64_t length);
  void* memory(uint64_t seq, uint64_t bytes);
  void moved() { ++moves_; }

 private:
  void describe();
  void describe_domains();
  void make_block();
  const CollectiveTable::Candidate& choose(const cwyl_args& args);
  bool advance(Run& run);  // true: the run has ended on this member
  bool transfers_done(Run& run);
  void finish(Run& run);
  void recycle(std::unique_ptr<Run> run);
  std::array<int32_t, 8> signal_args(CollectiveMessage message, uint32_t rank, uint64_t seq,
                                     uint32_t signal, uint64_t offset) const;
  cwy_status put_direct(Link& link, uint32_t rank, uint64_t seq, const void* src, uint64_t length,
                        uint64_t offset, uint32_t signal);
  bool map(Link& link, uint32_t rank);
  bool looks_at_board(Link& link, uint32_t rank);
  cwy_status post_by_messages(uint64_t seq, uint32_t which, const void* src, uint64_t length);
  void nudge(const Link& link, uint32_t rank);
  void prepare_next(uint64_t seq, uint32_t which);
  cwy_status clear_for_post(uint64_t seq, bool* all);

  // The last choice of each operation is remembered: programs repeat themselves.
  struct Remembered {
    uint64_t bytes = 0, element_bytes = 0;
    uint32_t dt = 0, opcode = 0, flags = 0;
    const CollectiveTable::Candidate* candidate = nullptr;
  };

  Team* team_;
  cwyl_team_info info_{};
  std::vector<uint32_t> nbrhd_of_, nbrhd_ranks_, host_of_, domain_of_;
  uint32_t nbrhd_most_ = 1;
  uint64_t scratch_;
  Block block_;
  uint64_t block_offset_;
  std::unique_ptr<char[]> block_memory_;  // when the arena has no room
  LazyTable<Link> links_;                 // by rank, of members that this one has to do with

  // Guards what follows. Held while a run's start() or step() runs, so runs of one team go forward
  // on one thread at a time; runs of different teams do not meet here.
  TeamMutex mutex_;
  uint64_t next_seq_ = 0;
  uint64_t ended_out_of_order_ = 0;   // bit i: run ended + 1 + i has ended too
  uint64_t board_is_free_until_ = 0;  // for all look and were far enough
  uint64_t used_signals_ = 0;         // bit i: and has left signals in its frame
  uint64_t moves_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;  // by increasing seq
  std::vector<std::unique_ptr<Run>> spare_;
  Run* current_ = nullptr;
  BufferPool pool_;
  Remembered remembered_[CWYL_OPERATIONS];

  std::atomic<uint32_t> active_{0};  // relaxed: a hint for polls
  std::shared_ptr<Mailbox> mailbox_;
  std::map<uint64_t, std::vector<EarlySignal>> overflow_;  // guarded by the mailbox' mutex
  // Posts that came as messages, by run, sender and number; guarded by the mailbox' mutex. The
  // count beside them is a hint (relaxed): most looks find that there are none.
  std::map<std::tuple<uint64_t, uint32_t, uint32_t>, std::vector<char>> mailed_posts_;
  std::atomic<uint32_t> mailed_{0};
};

extern const cwyl_team_services kTeamServices;

// ---- regions.cpp: memory of one member that others of its team reach during a run ----

// CWY_ERR_UNSUPPORTED for memory that is neither in the bound segment nor in the scratch, where the
// kernel is not to copy it either.
cwy_status expose_region(TeamRuns& runs, cwyl_seq seq, void* addr, uint64_t length,
                         cwyl_region* out);
void* direct_region(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                    uint64_t offset);
cwy_status put_region(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                      uint64_t offset, const void* src, uint64_t length, uint32_t* done);
cwy_status get_region(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                      uint64_t offset, void* dst, uint64_t length, uint32_t* done);
cwy_status put_region_signal(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                             uint64_t offset, const void* src, uint64_t length, uint32_t signal,
                             uint32_t* done);

// left (op) right into out, as the run's reduction says; out may be left or right.
void apply_reduction(const Run& run, const void* left, const void* right, void* out,
                     uint64_t count);

}  // namespace causeway
