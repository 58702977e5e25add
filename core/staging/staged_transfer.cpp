#include "staging/staged_transfer.h"

#include <sched.h>

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "base/context.h"
#include "progress/hints.h"
#include "staging/bounce.h"
#include "staging/imports.h"
#include "staging/staging_service.h"

namespace causeway {

void Chunk::passed() {
  const uint32_t now = step.load(std::memory_order_relaxed);  // only this report changes it
  step.store(now + 1, std::memory_order_release);
}

// True: the transfer ends. False: the job ends, and the stage stays open until then.
bool Chunk::failed(cwy_status status, const cwy_detail* detail) {
  if (broken == nullptr || !context().survives_failures()) {
    operation_failed(status, detail);
    return false;
  }
  broken->note(status, detail);
  return true;
}

cwy_status Chunk::settle(cwy_status status) {
  if (status == CWY_RETRY || status == CWY_INPROGRESS) return status;
  if (status != CWY_OK && !failed(status, nullptr)) return CWY_INPROGRESS;
  passed();
  return CWY_OK;
}

cwy_status Chunk::move(Device* device, void* dst, const void* src) {
  wired = false;
  if (device == nullptr) {
    std::memcpy(dst, src, bytes);
    return settle(CWY_OK);
  }
  copy.fn = copied;
  return settle(start_copy(*device, dst, src, bytes, copy));
}

void Chunk::copied(PendingCopy& copy) {
  reinterpret_cast<Chunk*>(&copy)->passed();
}

void Chunk::transferred(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail* detail) {
  Chunk& chunk = *reinterpret_cast<Chunk*>(reinterpret_cast<char*>(op) - offsetof(Chunk, op));
  if (status != CWY_OK && !chunk.failed(status, detail)) return;
  // acq_rel: the last report passes on what the others saw. A failure may tell both again.
  const uint32_t before = chunk.awaits.fetch_and(~what, std::memory_order_acq_rel);
  if (before != 0 && (before & ~what) == 0) chunk.passed();
}

void StagedTransfer::give(Chunk& chunk) {
  if (chunk.bounced) pool_->give(chunk.memory);
  chunk.bounced = false;
  chunk.memory = nullptr;
}

bool StagedTransfer::withdraw() {
  bool waits = false;
  for (size_t i = 0; Chunk* chunk = chunk_at(i); ++i) {
    if (!chunk->under_way()) {
      give(*chunk);
      continue;
    }
    waits = true;
    // Conduits have reported everything, so the chunk left is carried by messages, whose answer may
    // come late or never: the buffer stays with the chunk.
    if (lost_ && chunk->wired && chunk->bounced) {
      pool_->replace(chunk->memory);
      chunk->bounced = false;
    }
  }
  return !waits;
}

bool StagedTransfer::copying() {
  for (size_t i = 0; Chunk* chunk = chunk_at(i); ++i)
    if (chunk->under_way() && !chunk->wired) return true;
  return false;
}

void StagedTransfer::count_read(Chunk& chunk) {
  if (!chunk.counted) read_ += chunk.bytes;
  chunk.counted = true;
}

// False when the chunk has to wait.
bool StagedTransfer::begin_stage(Chunk& chunk, bool is_first) {
  chunk.step.store(is_first ? Chunk::first : Chunk::second, std::memory_order_relaxed);
  if (run_stage(chunk, is_first) != CWY_RETRY) return true;
  chunk.step.store(is_first ? Chunk::idle : Chunk::first_done, std::memory_order_relaxed);
  return false;
}

// The chunk's next step; false when the chunk has to wait.
bool StagedTransfer::push(Chunk& chunk, uint32_t& moved) {
  // Acquire: what the stage before wrote is there.
  switch (chunk.step.load(std::memory_order_acquire)) {
    case Chunk::idle:
      return (chunk.memory != nullptr || take(chunk)) && begin_stage(chunk, true);
    case Chunk::first_done:
      return begin_stage(chunk, false);
    case Chunk::second_done:
      count_read(chunk);
      if (!hand_over(chunk)) return false;
      give(chunk);
      ++moved;
      chunk.counted = false;
      chunk.step.store(Chunk::idle, std::memory_order_relaxed);
      return true;
    default:
      return false;  // in a stage
  }
}

void StagedTransfer::push(uint32_t& moved) {
  for (size_t i = 0; Chunk* chunk = chunk_at(i); ++i) {
    while (!broken() && push(*chunk, moved)) {
    }
  }
}

uint32_t StagedTransfer::news() {
  uint32_t what = 0;
  if (ends_.put && !told_local_ && (read_ == ends_.length || finished())) {
    told_local_ = true;
    what |= CWYC_DONE_LOCAL;
  }
  if (finished()) what |= CWYC_DONE_REMOTE;
  return what;
}

namespace {

// Transfers that have buffers, and transfers that wait for some, oldest first. Each pool (that is,
// device and direction) and peer has a queue of its own, since none of these waits for another one.
// Empty queues are removed. The mutex is never held while a client's operation is completed. The
// lists are not destroyed at exit: transfers that wait for answers of lost peers may be left in
// them, and know other objects.
using StagedTransfers = std::vector<std::unique_ptr<StagedTransfer>>;
using Queue = std::deque<std::unique_ptr<StagedTransfer>>;
std::mutex g_staged_transfer_mutex;
auto& g_active = *new StagedTransfers;
auto& g_waiting = *new std::map<std::pair<const BouncePool*, uint32_t>, Queue>;

struct Report {
  cwyc_op* op;
  uint32_t what;
  const FirstFailure* failure;  // of a transfer that has ended; NULL: it goes well
};

// Has the broken transfer ended?
bool end_broken(StagedTransfer& j, std::vector<Report>& reports) {
  if (!j.withdraw()) return false;
  if (!j.lost()) j.give_up();
  reports.push_back({j.client(), j.owed(), &j.failure()});
  return true;
}

// Has the transfer ended? What the client is to hear goes to `reports`.
bool step(StagedTransfer& j, std::vector<Report>& reports, uint32_t& moved) {
  if (!j.broken()) j.advance(moved);
  const bool finished = j.finished();
  if (j.broken() && !finished) return end_broken(j, reports);
  if (const uint32_t what = j.news()) reports.push_back({j.client(), what, nullptr});
  return finished;
}

// Transfers that have buffers now, or have ended, become active. The next pass reports a finished
// or broken one.
void admit(Queue& queue, uint32_t& moved) {
  while (!queue.empty() && (queue.front()->broken() || queue.front()->advance(moved))) {
    g_active.push_back(std::move(queue.front()));
    queue.pop_front();
    ++moved;
  }
}

// A pass over everything, under g_staged_transfer_mutex. Transfers that have ended go to `ended`,
// to be deleted without the lock: a transfer may be the last owner of host buffers, which conduits
// know.
uint32_t pass(std::vector<Report>& reports, StagedTransfers& ended) {
  uint32_t moved = push_served_transfers();
  for (size_t i = 0; i < g_active.size();) {
    if (!step(*g_active[i], reports, moved)) {
      ++i;
      continue;
    }
    ended.push_back(std::move(g_active[i]));
    std::swap(g_active[i], g_active.back());
    g_active.pop_back();
    emulations_waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  for (auto at = g_waiting.begin(); at != g_waiting.end();) {
    admit(at->second, moved);
    at = at->second.empty() ? g_waiting.erase(at) : std::next(at);
  }
  return moved;
}

void tell(const std::vector<Report>& reports) {
  for (const Report& r : reports)
    if (r.failure != nullptr)
      r.failure->report(r.op, r.what);
    else
      r.op->fn(r.op, r.what, CWY_OK, nullptr);
}

}  // namespace

cwy_status start_staged_transfer(std::unique_ptr<StagedTransfer> transfer) {
  emulations_waiting.fetch_add(1, std::memory_order_relaxed);
  std::vector<Report> reports;
  StagedTransfers ended;
  {
    const std::lock_guard lock(g_staged_transfer_mutex);
    g_waiting[{transfer->pool(), transfer->rank()}].push_back(std::move(transfer));
    pass(reports, ended);
  }
  tell(reports);
  return CWY_INPROGRESS;
}

uint32_t push_staged_transfers() {
  uint32_t events = 0;
  std::vector<Report> reports;
  StagedTransfers ended;
  {
    const std::unique_lock lock(g_staged_transfer_mutex, std::try_to_lock);
    if (!lock.owns_lock()) return 0;
    events = pass(reports, ended);
  }
  tell(reports);
  return events + static_cast<uint32_t>(reports.size());
}

void forget_staged_transfers(uint32_t rank) {
  forget_served_transfers(rank);
  forget_imports(rank);
  // The peer's memory that is mapped here goes with the peer, so copies are waited for.
  for (bool copying = true; copying;) {
    copying = false;
    const auto end = [&](StagedTransfer& j) {
      if (j.rank() != rank) return;
      j.break_off();
      copying |= j.copying();
    };
    {
      const std::lock_guard lock(g_staged_transfer_mutex);
      for (const auto& j : g_active) end(*j);
      for (const auto& [which, queue] : g_waiting)
        for (const auto& j : queue) end(*j);
      copying |= copies_for(rank);
    }
    if (copying && progress_devices() == 0) ::sched_yield();
  }
}

}  // namespace causeway
