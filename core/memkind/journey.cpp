#include "memkind/journey.h"

#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "memkind/landing.h"
#include "rma/emulation.h"

namespace causeway {

void Hop::passed() {
  const uint32_t now = step.load(std::memory_order_relaxed);  // only this report changes it
  step.store(now + 1, std::memory_order_release);
}

cwy_status Hop::settle(cwy_status status) {
  if (status == CWY_OK) passed();
  if (status < 0 && status != CWY_RETRY) operation_failed(&op, status);
  return status;
}

cwy_status Hop::move(Device* device, void* dst, const void* src) {
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
  if (status != CWY_OK) return operation_failed(op, status);
  Hop& hop = *reinterpret_cast<Hop*>(reinterpret_cast<char*>(op) - offsetof(Hop, op));
  // acq_rel: the last report passes on what the others saw.
  if (hop.awaits.fetch_and(~what, std::memory_order_acq_rel) == what) hop.passed();
}

void Journey::count_read(Hop& hop) {
  if (!hop.counted) read_ += hop.bytes;
  hop.counted = true;
}

uint32_t Journey::news() {
  uint32_t what = 0;
  if (ends_.put && !told_local_ && read_ == ends_.length) {
    told_local_ = true;
    what |= CWYC_DONE_LOCAL;
  }
  if (finished()) what |= CWYC_DONE_REMOTE;
  return what;
}

namespace {

// Journeys with buffers, and those that wait for some, oldest first. Never held while a client's
// operation is completed.
std::mutex g_mutex;
std::vector<std::unique_ptr<Journey>> g_active;
std::deque<std::unique_ptr<Journey>> g_waiting;

struct Report {
  cwyc_op* op;
  uint32_t what;
};

// Under g_mutex: one pass over everything.
uint32_t pass(std::vector<Report>& reports) {
  uint32_t moved = push_landings();
  for (size_t i = 0; i < g_active.size();) {
    Journey& j = *g_active[i];
    j.advance(moved);
    const bool finished = j.finished();
    if (const uint32_t what = j.news()) reports.push_back({j.client(), what});
    if (!finished) {
      ++i;
      continue;
    }
    g_active[i] = std::move(g_active.back());
    g_active.pop_back();
    emulations_waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  while (!g_waiting.empty() && g_waiting.front()->advance(moved)) {
    // Even a finished one: the next pass reports it.
    g_active.push_back(std::move(g_waiting.front()));
    g_waiting.pop_front();
    ++moved;
  }
  return moved;
}

void tell(const std::vector<Report>& reports) {
  for (const Report& r : reports) r.op->fn(r.op, r.what, CWY_OK);
}

}  // namespace

cwy_status launch(std::unique_ptr<Journey> journey) {
  emulations_waiting.fetch_add(1, std::memory_order_relaxed);
  std::vector<Report> reports;
  {
    const std::lock_guard lock(g_mutex);
    g_waiting.push_back(std::move(journey));
    pass(reports);
  }
  tell(reports);
  return CWY_INPROGRESS;
}

uint32_t push_journeys() {
  uint32_t events = 0;
  std::vector<Report> reports;
  {
    const std::unique_lock lock(g_mutex, std::try_to_lock);
    if (!lock.owns_lock()) return 0;
    events = pass(reports);
  }
  tell(reports);
  return events + static_cast<uint32_t>(reports.size());
}

}  // namespace causeway
