#include "collective/engine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "am/internal.h"
#include "collective/table.h"
#include "diag/error.h"
#include "event/op.h"
#include "object/endpoint.h"
#include "object/fatal.h"
#include "object/runtime.h"
#include "object/team.h"
#include "progress/thread_state.h"

namespace causeway {
namespace {

constexpr uint32_t kSignals = 64;
constexpr size_t kScratchBytes = 4096;

// What has arrived for one run, possibly before this member starts it. Signals are counted with
// release after their payload is stored and read with acquire.
struct Inbox {
  std::array<std::atomic<uint64_t>, kSignals> signals{};
  alignas(64) std::array<char, kScratchBytes> scratch{};
};
using RunKey = std::pair<uint32_t, cwyl_seq>;  // team id, run

// Guards the map, not the inboxes: an inbox stays where it is until its run ends here, and a
// message for a run that ended here cannot come (its sender would have had to wait for us).
std::mutex g_inbox_mutex;
std::map<RunKey, std::unique_ptr<Inbox>> g_inboxes;

Inbox& inbox(uint32_t team_id, cwyl_seq seq) {
  const std::lock_guard lock(g_inbox_mutex);
  auto& slot = g_inboxes[{team_id, seq}];
  if (slot == nullptr) slot = std::make_unique<Inbox>();
  return *slot;
}

struct Run {
  TeamCollectives* team;
  cwyl_seq seq;
  const cwyl_candidate* algorithm;
  cwyl_args args;
  std::unique_ptr<std::byte[]> state;
  Op* op;
};
std::mutex g_runs_mutex;
std::vector<std::unique_ptr<Run>> g_runs;

TeamCollectives& team_of(cwyl_team* team) {
  return *reinterpret_cast<TeamCollectives*>(team);
}

void store_signal(Inbox& box, uint64_t offset, const void* src, uint64_t length, uint32_t signal) {
  if (length != 0) std::memcpy(box.scratch.data() + offset, src, length);
  box.signals[signal].fetch_add(1, std::memory_order_release);
}

// ---- the team services ----

const cwyl_team_info* service_info(cwyl_team* team) {
  return &team_of(team).info;
}

cwy_status service_put_signal(cwyl_team* team, cwyl_seq seq, uint32_t rank, const void* src,
                              uint64_t length, uint64_t offset, uint32_t signal) {
  Team& t = *team_of(team).team;
  if (rank >= t.size() || signal >= kSignals || offset > kScratchBytes ||
      length > kScratchBytes - offset) {
    return CWY_ERR_INVALID;
  }
  if (rank == t.rank()) {
    store_signal(inbox(t.id(), seq), offset, src, length, signal);
    return CWY_OK;
  }
  const int32_t args[] = {static_cast<int32_t>(t.id()), low_half(seq), high_half(seq),
                          static_cast<int32_t>(signal), static_cast<int32_t>(offset)};
  return try_send_internal(t.member(rank), Internal::signal, args, 5, length != 0 ? src : nullptr,
                           length, false);
}

uint64_t service_signal(cwyl_team* team, cwyl_seq seq, uint32_t signal) {
  if (signal >= kSignals) return 0;
  return inbox(team_of(team).team->id(), seq).signals[signal].load(std::memory_order_acquire);
}

void* service_scratch(cwyl_team* team, cwyl_seq seq, uint64_t* length) {
  *length = kScratchBytes;
  return inbox(team_of(team).team->id(), seq).scratch.data();
}

// Buffers of members are not reachable through the services yet: algorithms use scratch, as the
// interface tells them to when expose() answers UNSUPPORTED.
cwy_status service_expose(cwyl_team*, cwyl_seq, void*, uint64_t, cwyl_region*) {
  return CWY_ERR_UNSUPPORTED;
}
void* service_direct(cwyl_team*, cwyl_seq, uint32_t, const cwyl_region*, uint64_t) {
  return nullptr;
}
cwy_status service_put_region(cwyl_team*, cwyl_seq, uint32_t, const cwyl_region*, uint64_t,
                              const void*, uint64_t, uint32_t*) {
  return CWY_ERR_UNSUPPORTED;
}
cwy_status service_get_region(cwyl_team*, cwyl_seq, uint32_t, const cwyl_region*, uint64_t, void*,
                              uint64_t, uint32_t*) {
  return CWY_ERR_UNSUPPORTED;
}
// No reduction can be started through the client interface yet, so none can ask for its operator.
void service_reduce(cwyl_team*, cwyl_seq, const void*, void*, uint64_t) {
  fatal("collective plugin", "asked for a reduction inside an operation that has none");
}
void service_copy(cwyl_team*, cwyl_seq, void* dst, const void* src, uint64_t length) {
  std::memcpy(dst, src, length);
}

const cwyl_team_services kServices = {CWY_HEAD(cwyl_team_services),
                                      service_info,
                                      service_put_signal,
                                      service_signal,
                                      service_scratch,
                                      service_expose,
                                      service_direct,
                                      service_put_region,
                                      service_get_region,
                                      service_reduce,
                                      service_copy};

cwyl_team* as_cwyl(TeamCollectives* team) {
  return reinterpret_cast<cwyl_team*>(team);
}

void end_run(const Run& run) {
  const std::lock_guard lock(g_inbox_mutex);
  g_inboxes.erase({run.team->team->id(), run.seq});
}

void require_ok(const Run& run, cwy_status status) {
  if (status == CWY_OK || status == CWY_INPROGRESS) return;
  fatal("gex_Coll_BarrierNB()", "algorithm {} failed: {}", run.algorithm->name,
        status_name(status));
}

}  // namespace

TeamCollectives::TeamCollectives(Team* of) : team(of) {
  info.head = CWY_HEAD(cwyl_team_info);
  info.size = team->size();
  info.rank = team->rank();
  std::map<uint64_t, uint32_t> indices;
  JobFacts& job = runtime().job();
  for (uint32_t r = 0; r < info.size; ++r) {
    const Card& card = job.card(team->member(r).rank);
    const auto [found, fresh] =
        indices.emplace(card.sharing_id, static_cast<uint32_t>(indices.size()));
    nbrhd_of.push_back(found->second);
  }
  for (uint32_t r = 0; r < info.size; ++r) {
    if (nbrhd_of[r] != nbrhd_of[info.rank]) continue;
    if (r == info.rank) info.nbrhd_rank = static_cast<uint32_t>(nbrhd_ranks.size());
    nbrhd_ranks.push_back(r);
  }
  info.nbrhd_count = static_cast<uint32_t>(indices.size());
  info.nbrhd_index = nbrhd_of[info.rank];
  info.nbrhd_of = nbrhd_of.data();
  info.nbrhd_size = static_cast<uint32_t>(nbrhd_ranks.size());
  info.nbrhd_ranks = nbrhd_ranks.data();
  info.host_count = job.facts().host_count;
  info.memkind_classes = 1u << CWY_MEM_HOST;
  info.scratch_bytes = kScratchBytes;
  info.signals = kSignals;
}

gex_Event_t start_barrier(Team& team) {
  TeamCollectives& t = team.collectives();
  cwyl_shape shape{};
  shape.head = CWY_HEAD(cwyl_shape);
  shape.operation = CWYL_BARRIER;
  shape.team_size = t.info.size;
  shape.nbrhd_count = t.info.nbrhd_count;
  shape.memkind_classes = t.info.memkind_classes;
  shape.scratch_bytes = t.info.scratch_bytes;
  auto run = std::make_unique<Run>();
  run->team = &t;
  run->algorithm = runtime().collectives().choose(shape).algorithm;
  run->args.head = CWY_HEAD(cwyl_args);
  run->args.operation = CWYL_BARRIER;
  run->state = std::make_unique<std::byte[]>(run->algorithm->state_bytes + 64);
  // The barrier's release is that of its messages: a conduit publishes them with release, after
  // everything this thread wrote (conduit-api/README.md).
  const std::lock_guard lock(g_runs_mutex);
  run->seq = ++t.next_seq;
  const cwy_status status =
      run->algorithm->start(as_cwyl(&t), &kServices, run->seq, &run->args, run->state.get());
  require_ok(*run, status);
  if (status == CWY_OK) {
    end_run(*run);
    return GEX_EVENT_INVALID;
  }
  run->op = thread_state().ops.take();
  run->op->arm_explicit(CWYC_DONE_REMOTE);
  auto* event = reinterpret_cast<gex_Event_t>(run->op);
  g_runs.push_back(std::move(run));
  active_runs.fetch_add(1, std::memory_order_relaxed);
  return event;
}

uint32_t step_runs() {
  const std::unique_lock lock(g_runs_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return 0;
  uint32_t completed = 0;
  std::erase_if(g_runs, [&](const std::unique_ptr<Run>& run) {
    const cwy_status status = run->algorithm->step(as_cwyl(run->team), &kServices, run->seq,
                                                   &run->args, run->state.get());
    require_ok(*run, status);
    if (status != CWY_OK) return false;
    end_run(*run);
    ++completed;
    run->op->conduit.fn(&run->op->conduit, CWYC_DONE_REMOTE, CWY_OK);
    return true;
  });
  active_runs.fetch_sub(completed, std::memory_order_relaxed);
  return completed;
}

void on_collective_signal(Peer&, const int32_t* args, unsigned, void* payload, size_t length) {
  const auto signal = static_cast<uint32_t>(args[3]);
  const auto offset = static_cast<uint32_t>(args[4]);
  if (signal >= kSignals || offset > kScratchBytes || length > kScratchBytes - offset) return;
  store_signal(inbox(static_cast<uint32_t>(args[0]), join_halves(args[1], args[2])), offset,
               payload, length, signal);
}

}  // namespace causeway
