#include "collective/team_runs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "am/limits.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fatal.h"
#include "base/invariant.h"
#include "collective/arena.h"
#include "collective/domain.h"
#include "collective/stream_copy.h"
#include "config/config.h"
#include "connection/job.h"
#include "loader/one_line.h"
#include "object/endpoint.h"
#include "object/team.h"
#include "thread/event.h"
#include "thread/thread_state.h"
#include "thread/tsan_annotations.h"

namespace causeway {
namespace {

const char* call_name(uint32_t operation) {
  static constexpr const char* kNames[CWYL_OPERATIONS] = {
      "gex_Coll_BarrierNB()", "gex_Coll_BroadcastNB()", "gex_Coll_ReduceToOneNB()",
      "gex_Coll_ReduceToAllNB()"};
  return kNames[operation];
}

// A run is looked at this many times, about a microsecond, before it gets a handle.
constexpr uint32_t kFirstLooks = 100;

// With more ranks than processors the one that is waited for may not be running.
bool processors_are_shared() {
  static const bool shared = context().job().crowded();
  return shared;
}

uint64_t rounded(uint64_t bytes, uint64_t to) {
  return (bytes + to - 1) / to * to;
}

// Clears the state of a run. Short runs have short states, for which a call would cost more than
// the stores. Buffers are whole lines.
void clear_state(void* memory, size_t bytes) {
  if (bytes > kLine)
    std::memset(memory, 0, bytes);
  else if (bytes != 0)
    std::memset(memory, 0, kLine);
}

}  // namespace

BufferPool::Buffer BufferPool::take(size_t bytes) {
  size_t best = free_.size();
  for (size_t i = 0; i < free_.size(); ++i) {
    const bool fits = free_[i].bytes >= bytes && free_[i].bytes / 4 <= std::max(bytes, kLine);
    if (fits && (best == free_.size() || free_[i].bytes < free_[best].bytes)) best = i;
  }
  if (best != free_.size()) {
    const Buffer found = free_[best];
    free_[best] = free_.back();
    free_.pop_back();
    kept_ -= found.bytes;
    return found;
  }
  const size_t size = rounded(std::max<size_t>(bytes, kLine), kLine);
  return {std::aligned_alloc(kLine, size), size};
}

void BufferPool::give(Buffer buffer) {
  if (buffer.memory == nullptr) return;
  if (free_.size() >= kKeepCount || kept_ + buffer.bytes > kKeepBytes) {
    std::free(buffer.memory);
    return;
  }
  kept_ += buffer.bytes;
  free_.push_back(buffer);
}

BufferPool::~BufferPool() {
  for (const Buffer& b : free_) std::free(b.memory);
}

TeamRuns::TeamRuns(Team* team)
    : team_(team),
      scratch_(rounded(context().config().collective_scratch, kLine)),
      links_(team->size()),
      mailbox_(mailbox(team->id(), team->rank())) {
  make_block();
  describe();
  // Frames may be used from here on: what came early first.
  const std::lock_guard lock(mailbox_->mutex);
  mailbox_->team = this;
  for (const EarlySignal& e : mailbox_->early)
    if (e.is_post)
      deliver_post(e.sender, e.seq, e.signal, e.data.data(), e.data.size());
    else
      deliver(e.seq, e.offset, e.data.data(), e.data.size(), e.signal);
  mailbox_->early.clear();
}

TeamRuns::~TeamRuns() {
  {
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->team = nullptr;
  }
  for (auto& run : spare_) pool_.give(run->state);
  if (block_memory_ == nullptr) arena_release(block_offset_, block_bytes(scratch_));
}

void TeamRuns::make_block() {
  const size_t bytes = block_bytes(scratch_);
  block_offset_ = arena_allocate(bytes);
  if (block_offset_ != kNoOffset) {
    block_ = Block(own_arena() + block_offset_, scratch_);
  } else {
    // The used part is cleared below; pages that nobody touches cost nothing.
    block_memory_ = std::make_unique_for_overwrite<char[]>(bytes + kLine);
    const auto at = rounded(reinterpret_cast<uintptr_t>(block_memory_.get()), kLine);
    block_ = Block(reinterpret_cast<char*>(at), scratch_);
  }
  // Space of a destroyed team: nobody knows its new offset yet.
  block_.ended().store(0, std::memory_order_relaxed);
  for (uint64_t f = 0; f < kFrames; ++f) block_.reset(f);
  block_.clear_board();
}

void TeamRuns::describe() {
  info_.head = CWY_HEAD(cwyl_team_info);
  info_.size = team_->size();
  info_.rank = team_->rank();
  std::map<std::pair<bool, uint64_t>, uint32_t> nbrhds;
  std::map<uint64_t, uint32_t> hosts;
  JobFacts& job = context().job();
  for (uint32_t r = 0; r < info_.size; ++r) {
    const uint32_t job_rank = team_->job_rank(r);
    // A process that shares nothing is a neighborhood of its own.
    const bool shares = has_arena(job_rank);
    const std::pair<bool, uint64_t> nbrhd{shares, shares ? job.sharing_id(job_rank) : job_rank};
    const auto next_nbrhd = static_cast<uint32_t>(nbrhds.size());
    nbrhd_of_.push_back(nbrhds.emplace(nbrhd, next_nbrhd).first->second);
    const auto next_host = static_cast<uint32_t>(hosts.size());
    host_of_.push_back(hosts.emplace(job.host_id(job_rank), next_host).first->second);
  }
  for (uint32_t r = 0; r < info_.size; ++r) {
    if (nbrhd_of_[r] != nbrhd_of_[info_.rank]) continue;
    if (r == info_.rank) info_.nbrhd_rank = static_cast<uint32_t>(nbrhd_ranks_.size());
    nbrhd_ranks_.push_back(r);
  }
  std::vector<uint32_t> sizes(nbrhds.size());
  for (const uint32_t n : nbrhd_of_) nbrhd_most_ = std::max(nbrhd_most_, ++sizes[n]);
  info_.nbrhd_count = static_cast<uint32_t>(nbrhds.size());
  info_.nbrhd_index = nbrhd_of_[info_.rank];
  info_.nbrhd_of = nbrhd_of_.data();
  info_.nbrhd_size = static_cast<uint32_t>(nbrhd_ranks_.size());
  info_.nbrhd_ranks = nbrhd_ranks_.data();
  describe_domains();
  info_.host_count = static_cast<uint32_t>(hosts.size());
  info_.host_of = host_of_.data();
  info_.scratch_bytes = scratch_;
  info_.signals = kSignals;
  // A message that carries a put must fit into what every pair can send at once.
  info_.put_max = std::min<uint64_t>(scratch_, least_limits().medium) / kLine * kLine;
  info_.region_put_max = least_limits().long_max;
  // A post lies in its writer's memory until the readers have looked: no member may give its block
  // back before all others have ended their last run. gex_TM_Destroy() sees to that by an exchange,
  // but members of one process cannot all wait for one: they end by a barrier of the team, which
  // must therefore not be made of posts.
  info_.posts = nbrhd_most_ <= kReaders && !team_->shares_processes() ? kPosts : 0;
  info_.post_max = kPostMax;
}

// Where one member's domain is not known nobody's counts: neighborhoods are domains then.
void TeamRuns::describe_domains() {
  bool known = true;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> domains;
  for (uint32_t r = 0; r < info_.size; ++r) {
    const uint32_t domain = causeway::domain_of(team_->job_rank(r));
    known &= domain != kNoDomain;
    const auto next = static_cast<uint32_t>(domains.size());
    domain_of_.push_back(domains.emplace(std::pair(nbrhd_of_[r], domain), next).first->second);
  }
  if (!known) domain_of_ = nbrhd_of_;
  std::vector<uint32_t> sizes(info_.size);
  info_.domain_count = info_.domain_most = 0;
  for (const uint32_t d : domain_of_) {
    info_.domain_count = std::max(info_.domain_count, d + 1);
    info_.domain_most = std::max(info_.domain_most, ++sizes[d]);
  }
  info_.domain_of = domain_of_.data();
}

const CollectiveTable::Candidate& TeamRuns::choose(const cwyl_args& args) {
  Remembered& last = remembered_[args.operation];
  const uint64_t bytes = args.element_bytes * args.count;
  if (last.candidate != nullptr && last.bytes == bytes && last.dt == args.dt &&
      last.element_bytes == args.element_bytes && last.opcode == args.opcode &&
      last.flags == args.flags)
    return *last.candidate;
  cwyl_shape shape{};
  shape.head = CWY_HEAD(cwyl_shape);
  shape.operation = args.operation;
  shape.flags = args.flags;
  shape.team_size = info_.size;
  shape.nbrhd_count = info_.nbrhd_count;
  shape.dt = args.dt;
  shape.opcode = args.opcode;
  shape.bytes = bytes;
  shape.scratch_bytes = info_.scratch_bytes;
  shape.element_bytes = args.element_bytes;
  shape.host_count = info_.host_count;
  shape.nbrhd_most = nbrhd_most_;
  shape.domain_count = info_.domain_count;
  shape.domain_most = info_.domain_most;
  const CollectiveTable::Candidate& found =
      *context().collectives().choose(shape, team_->memory_classes()).candidate;
  last = {bytes, args.element_bytes, args.dt, args.opcode, args.flags, &found};
  return found;
}

static std::unique_ptr<Run> spare_run(std::vector<std::unique_ptr<Run>>& spare) {
  if (spare.empty()) return std::make_unique<Run>();
  std::unique_ptr<Run> run = std::move(spare.back());
  spare.pop_back();
  return run;
}

gex_Event_t TeamRuns::begin(const cwyl_args& args, const Reduction& reduction) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Run> run = spare_run(spare_);
  run->candidate = &choose(args);
  run->args = args;
  run->stage = staged(call_name(args.operation), run->args, info_.rank);
  run->reduction = reduction;
  run->kernel = reduction.fn == nullptr ? reduce_kernel(reduction.dt, reduction.op) : nullptr;
  run->started = run->over = false;
  run->looked_at_signals = run->prepared = false;
  // The operands and the results of all neighbors share the last cache.
  const uint64_t bytes = args.element_bytes * args.count;
  run->streams = exceeds_caches(
      bytes * (args.operation == CWYL_BROADCAST ? info_.nbrhd_size + 1 : 2 * info_.nbrhd_size));
  run->post_cursor = 0;
  run->op = nullptr;
  const size_t state_bytes = run->candidate->algorithm->state_bytes;
  if (run->state.bytes < state_bytes) {
    pool_.give(run->state);
    run->state = pool_.take(state_bytes);
    if (run->state.memory == nullptr) fatal(call_name(args.operation), "out of memory");
  }
  clear_state(run->state.memory, state_bytes);
  run->seq = ++next_seq_;
  run->candidate->runs->fetch_add(1, std::memory_order_relaxed);          // a statistic
  const uint64_t ended = block_.ended().load(std::memory_order_relaxed);  // ours
  const bool first_in_line = runs_.empty() || runs_.back()->started;
  if (first_in_line && run->seq <= ended + kFrames && advance(*run)) {
    finish(*run);
    recycle(std::move(run));
    return GEX_EVENT_INVALID;
  }
  // A short run is over as soon as the neighbors' lines are here, a few hundred nanoseconds if they
  // have begun too: a little patience now is cheaper than a handle. There is none while another
  // collective is under way here, since a program that begins several together wants them to
  // overlap, nor where nothing arrives without a poll.
  if (info_.nbrhd_count == 1 && active_runs.load(std::memory_order_relaxed) == 0 && run->started &&
      bytes <= kPostMax && !processors_are_shared()) {
    for (uint32_t look = 0; look < kFirstLooks; ++look) {
      if (!advance(*run)) continue;
      finish(*run);
      recycle(std::move(run));
      return GEX_EVENT_INVALID;
    }
  }
  ensure("runs of a team are begun in the order of their numbers",
         [&] { return runs_.empty() || runs_.back()->seq < run->seq; });
  run->op = thread_state().ops.take();
  run->op->arm_explicit(CWYC_DONE_REMOTE);
  run->op->collective.store(this, std::memory_order_relaxed);
  auto* event = reinterpret_cast<gex_Event_t>(run->op);
  runs_.push_back(std::move(run));
  active_.store(static_cast<uint32_t>(runs_.size()), std::memory_order_relaxed);
  active_runs.fetch_add(1, std::memory_order_relaxed);
  return event;
}

bool TeamRuns::transfers_done(Run& run) {
  std::erase_if(run.transfers, [&](RegionTransfer& t) {
    if (!happened(t.event)) return false;
    causeway::recycle(t.event);
    std::atomic_ref<uint32_t>(*t.done).store(1, std::memory_order_release);
    moved();
    return true;
  });
  return run.transfers.empty();
}

bool TeamRuns::advance(Run& run) {
  if (!run.transfers.empty()) transfers_done(run);
  if (run.stranded) return false;
  if (!run.over) {
    ensure("one run of a team is stepped at a time", [&] { return current_ == nullptr; });
    current_ = &run;
    const cwyl_candidate& a = *run.candidate->algorithm;
    const auto call = run.started ? a.step : a.start;
    run.started = true;
    const cwy_status status = call(as_c(), &kTeamServices, run.seq, &run.args, run.state.memory);
    current_ = nullptr;
    if (status == CWY_ERR_PEER_FAILED && !context().survives_failures()) {
      run.stranded = true;  // polls end this process as the peer's leave or failure demands
      context().note_stranded(fmt::format("{}: a peer is gone", call_name(run.args.operation)));
      return false;
    }
    if (status != CWY_OK && status != CWY_INPROGRESS) {
      fatal(call_name(run.args.operation), "algorithm {}/{} failed: {}", run.candidate->plugin,
            a.name, reason({}, status));
    }
    run.over = status == CWY_OK;
  }
  return run.over && run.transfers.empty();
}

CollectiveWait TeamRuns::oldest_with(uint32_t job_rank) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || runs_.empty() || !has_rank_of_job(*team_, job_rank)) return {};
  const Run& first = *runs_.front();
  return {call_name(first.args.operation), CollectiveSort::run, team_, first.seq, moves_};
}

std::optional<HowFar> TeamRuns::how_far(uint64_t seq) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  return HowFar{next_seq_ >= seq, moves_};
}

uint32_t TeamRuns::step() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return 0;
  const uint64_t before = moves_;
  uint32_t completed = 0;
  for (size_t i = 0; i < runs_.size();) {
    Run& run = *runs_[i];
    const uint64_t ended = block_.ended().load(std::memory_order_relaxed);  // ours
    if (run.seq > ended + kFrames) break;
    if (!advance(run)) {
      ++i;
      continue;
    }
    finish(run);
    Op* const op = run.op;
    std::unique_ptr<Run> over = std::move(runs_[i]);
    runs_.erase(runs_.begin() + static_cast<ptrdiff_t>(i));
    recycle(std::move(over));
    active_.store(static_cast<uint32_t>(runs_.size()), std::memory_order_relaxed);
    active_runs.fetch_sub(1, std::memory_order_relaxed);
    ++completed;
    op->collective.store(nullptr, std::memory_order_relaxed);
    op->conduit.fn(&op->conduit, CWYC_DONE_REMOTE, CWY_OK, nullptr);
  }
  return completed + (moves_ != before ? 1 : 0);
}

// Gives the frames of all runs that ended in one row to their next users.
void TeamRuns::finish(Run& run) {
  const std::lock_guard lock(mailbox_->mutex);
  uint64_t ended = block_.ended().load(std::memory_order_relaxed);  // ours
  ensure("a run ends among those that have frames",
         [&] { return run.seq > ended && run.seq <= ended + kFrames; });
  const uint64_t bit = 1ull << (run.seq - ended - 1);
  ensure("a run ends once", [&] { return (ended_out_of_order_ & bit) == 0; });
  ended_out_of_order_ |= bit;
  if (run.looked_at_signals) used_signals_ |= bit;
  if ((ended_out_of_order_ & 1) == 0) return;
  for (; ended_out_of_order_ & 1; ended_out_of_order_ >>= 1, used_signals_ >>= 1) {
    ++ended;
    if (used_signals_ & 1) block_.reset(ended);
  }
  // Release: a member that sees the frame free sees it reset.
  block_.ended().store(ended, std::memory_order_release);
  while (!mailed_posts_.empty() && std::get<0>(mailed_posts_.begin()->first) <= ended) {
    mailed_posts_.erase(mailed_posts_.begin());
    mailed_.fetch_sub(1, std::memory_order_relaxed);
  }
  while (!overflow_.empty() && overflow_.begin()->first <= ended + kFrames) {
    const auto first = overflow_.begin();
    for (const EarlySignal& e : first->second)
      if (first->first > ended)
        block_.store(e.seq, e.offset, e.data.data(), e.data.size(), e.signal);
    overflow_.erase(first);
  }
}

// Every run ends here, whichever look found it over: its result goes where the client wants it
// before the client hears of the end.
void TeamRuns::recycle(std::unique_ptr<Run> run) {
  if (run->stage != nullptr) {
    run->stage->finish();
    run->stage.reset();
  }
  for (const BufferPool::Buffer& b : run->memory) pool_.give(b);
  run->memory.clear();
  constexpr size_t kSpare = 8;
  if (spare_.size() < kSpare)
    spare_.push_back(std::move(run));
  else
    pool_.give(run->state);
}

void TeamRuns::deliver(uint64_t seq, uint64_t offset, const void* src, uint64_t length,
                       uint32_t signal) {
  if (signal >= kSignals || offset > scratch_ || length > scratch_ - offset) return;
  const uint64_t ended = block_.ended().load(std::memory_order_acquire);
  if (seq <= ended) return;  // of a run that has ended here
  if (block_.has_frame(seq, ended)) {
    const AnnotatePeerAccess access;  // the sender has heard that what lay there is consumed
    block_.store(seq, offset, src, length, signal);
    return;
  }
  const char* bytes = static_cast<const char*>(src);
  overflow_[seq].push_back({seq, offset, signal, std::vector<char>(bytes, bytes + length)});
}

void* TeamRuns::memory(uint64_t /*seq*/, uint64_t bytes) {
  const BufferPool::Buffer buffer = pool_.take(bytes);
  if (buffer.memory != nullptr) current_->memory.push_back(buffer);
  return buffer.memory;
}

}  // namespace causeway
