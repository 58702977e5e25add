#include "memkind/staged_transfer.h"

#include <sched.h>

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "memkind/bounce.h"
#include "memkind/imports.h"
#include "memkind/staging_service.h"
#include "object/runtime.h"
#include "rma/emulation.h"

namespace causeway {

void Hop::passed() {
  const uint32_t now = step.load(std::memory_order_relaxed);  // only this report changes it
  step.store(now + 1, std::memory_order_release);
}

// True: the journey ends. False: the job does, and the hop stays open until then.
bool Hop::failed(cwy_status status) {
  if (broken == nullptr || !runtime().survives_failures()) {
    operation_failed(&op, status);
    return false;
  }
  broken->store(status, std::memory_order_release);
  return true;
}

cwy_status Hop::settle(cwy_status status) {
  if (status == CWY_RETRY || status == CWY_INPROGRESS) return status;
  if (status != CWY_OK && !failed(status)) return CWY_INPROGRESS;
  passed();
  return CWY_OK;
}

cwy_status Hop::move(Device* device, void* dst, const void* src) {
  wired = false;
  if (device == nullptr) {
    std::memcpy(dst, src, bytes);
    return settle(CWY_OK);
  }
  copy.fn = copied;
  return settle(start_copy(*device, dst, src, bytes, copy));
}

void Hop::copied(PendingCopy& copy, cwy_status status) {
  if (status != CWY_OK) copy.device->copy_failed(status, copy.dst, copy.src, copy.length);
  reinterpret_cast<Hop*>(&copy)->passed();
}

void Hop::transferred(cwyc_op* op, uint32_t what, cwy_status status) {
  Hop& hop = *reinterpret_cast<Hop*>(reinterpret_cast<char*>(op) - offsetof(Hop, op));
  if (status != CWY_OK && !hop.failed(status)) return;
  // acq_rel: the last report passes on what the others saw. A failure may tell both again.
  const uint32_t before = hop.awaits.fetch_and(~what, std::memory_order_acq_rel);
  if (before != 0 && (before & ~what) == 0) hop.passed();
}

void Journey::give(Hop& hop) {
  if (hop.bounced) pool_->give(hop.memory);
  hop.bounced = false;
  hop.memory = nullptr;
}

bool Journey::withdraw() {
  bool waits = false;
  for (size_t i = 0; Hop* hop = piece(i); ++i) {
    if (!hop->under_way()) {
      give(*hop);
      continue;
    }
    waits = true;
    // Conduits have reported everything, so what is left goes over messages, whose answer may come
    // late or never: the buffer stays with it.
    if (lost_ && hop->wired && hop->bounced) {
      pool_->replace(hop->memory);
      hop->bounced = false;
    }
  }
  return !waits;
}

bool Journey::copying() {
  for (size_t i = 0; Hop* hop = piece(i); ++i) {
    if (hop->under_way() && !hop->wired) return true;
  }
  return false;
}

void Journey::count_read(Hop& hop) {
  if (!hop.counted) read_ += hop.bytes;
  hop.counted = true;
}

uint32_t Journey::news() {
  uint32_t what = 0;
  if (ends_.put && !told_local_ && (read_ == ends_.length || finished())) {
    told_local_ = true;
    what |= CWYC_DONE_LOCAL;
  }
  if (finished()) what |= CWYC_DONE_REMOTE;
  return what;
}

namespace {

// Journeys with buffers, and those that wait for some, oldest first: a queue for each pool (that
// is, device and direction) and peer, since none of these waits for another one. Empty queues go.
// Never held while a client's operation is completed. Not destroyed at exit: journeys that wait for
// answers of lost peers may be left, which know other objects.
using Journeys = std::vector<std::unique_ptr<Journey>>;
using Queue = std::deque<std::unique_ptr<Journey>>;
std::mutex g_mutex;
auto& g_active = *new Journeys;
auto& g_waiting = *new std::map<std::pair<const BouncePool*, uint32_t>, Queue>;

struct Report {
  cwyc_op* op;
  uint32_t what;
  cwy_status status;
};

// One that has a failure behind it: has it ended?
bool end_broken(Journey& j, std::vector<Report>& reports) {
  if (!j.withdraw()) return false;
  if (!j.lost()) j.give_up();
  reports.push_back({j.client(), j.owed(), j.failure()});
  return true;
}

// Has it ended? What the client is to hear goes to `reports`.
bool step(Journey& j, std::vector<Report>& reports, uint32_t& moved) {
  if (!j.broken()) j.advance(moved);
  const bool finished = j.finished();
  if (j.broken() && !finished) return end_broken(j, reports);
  if (const uint32_t what = j.news()) reports.push_back({j.client(), what, CWY_OK});
  return finished;
}

// Those that have buffers now, or end, become active. Even a finished or broken one: the next pass
// reports it.
void admit(Queue& queue, uint32_t& moved) {
  while (!queue.empty() && (queue.front()->broken() || queue.front()->advance(moved))) {
    g_active.push_back(std::move(queue.front()));
    queue.pop_front();
    ++moved;
  }
}

// Under g_mutex: one pass over everything. What has ended goes to `ended`, to be deleted without
// the lock: it may be the last owner of host buffers, which conduits know.
uint32_t pass(std::vector<Report>& reports, Journeys& ended) {
  uint32_t moved = push_landings();
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
  for (const Report& r : reports) r.op->fn(r.op, r.what, r.status);
}

}  // namespace

cwy_status launch(std::unique_ptr<Journey> journey) {
  emulations_waiting.fetch_add(1, std::memory_order_relaxed);
  std::vector<Report> reports;
  Journeys ended;
  {
    const std::lock_guard lock(g_mutex);
    g_waiting[{journey->pool(), journey->rank()}].push_back(std::move(journey));
    pass(reports, ended);
  }
  tell(reports);
  return CWY_INPROGRESS;
}

uint32_t push_journeys() {
  uint32_t events = 0;
  std::vector<Report> reports;
  Journeys ended;
  {
    const std::unique_lock lock(g_mutex, std::try_to_lock);
    if (!lock.owns_lock()) return 0;
    events = pass(reports, ended);
  }
  tell(reports);
  return events + static_cast<uint32_t>(reports.size());
}

void forget_journeys(uint32_t rank) {
  forget_landings(rank);
  forget_imports(rank);
  // The peer's memory that is mapped here goes with the peer, so copies are waited for.
  for (bool copying = true; copying;) {
    copying = false;
    const auto end = [&](Journey& j) {
      if (j.rank() != rank) return;
      j.break_off();
      copying |= j.copying();
    };
    {
      const std::lock_guard lock(g_mutex);
      for (const auto& j : g_active) end(*j);
      for (const auto& [which, queue] : g_waiting) {
        for (const auto& j : queue) end(*j);
      }
      copying |= copies_for(rank);
    }
    if (copying && progress_devices() == 0) ::sched_yield();
  }
}

}  // namespace causeway
