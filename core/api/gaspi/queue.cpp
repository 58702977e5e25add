#include "api/gaspi/queue.h"

#include <utility>

#include "am/internal.h"
#include "api/gaspi/acknowledgements.h"
#include "api/gaspi/messages.h"
#include "api/gaspi/segment.h"
#include "api/gaspi/stores.h"
#include "object/endpoint.h"
#include "process/runtime.h"

namespace causeway::gaspi {
namespace {

constexpr uint32_t kBoth = CWYC_DONE_LOCAL | CWYC_DONE_REMOTE;

// Requests that completions gave back: pushed one by one (release), and taken all at once (acquire)
// by a queue that has none left, so that nobody takes one off a list that others take from.
// Process-wide; slabs live until the process ends.
std::atomic<Request*> g_given{nullptr};

Request* make_requests() {
  constexpr size_t kSlab = 64;
  auto* const slab = new Request[kSlab];
  for (size_t i = 0; i + 1 < kSlab; ++i) slab[i].next = &slab[i + 1];
  return slab;
}

void give_request(Request* request) {
  request->next = g_given.load(std::memory_order_relaxed);
  while (!g_given.compare_exchange_weak(request->next, request, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}

// Everything that the request stood for is complete. The batch is counted last, because its owner
// may go then.
void settle(Request* r) {
  if (r->local_note != 0) store_note(r->local_note, 1);
  if (r->list != nullptr) r->list->leave();
  if (r->step != nullptr) {
    r->step->outstanding.fetch_sub(1, std::memory_order_release);
    if (r->own != nullptr) r->own->outstanding.fetch_sub(1, std::memory_order_release);
  }
  r->batch->by_rank[r->rank].fetch_sub(1, std::memory_order_release);
  r->batch->outstanding.fetch_sub(1, std::memory_order_release);
}

void report(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail* detail) {
  auto* const r = reinterpret_cast<Request*>(op);
  if (__builtin_expect(status != CWY_OK, 0)) {
    r->batch->failed.store(true, std::memory_order_release);
    operation_error(*r->world, r->rank, r->epoch, status, detail);
    r->local_note = 0;
    if (r->list != nullptr) r->list->slot = 0;
  }
  const uint32_t need = r->need;
  if (status != CWY_OK) what = need;  // no more comes, or nobody waits for it
  // acq_rel: the last report sees what the others stand for.
  const uint32_t before = r->done.fetch_or(what, std::memory_order_acq_rel);
  if ((before & need) == need || ((before | what) & need) != need) return;
  settle(r);
  if (status == CWY_OK) give_request(r);
}

}  // namespace

void request_done(uint64_t cookie, bool well) {
  cwyc_op* const op = take_over(cookie);
  op->fn(op, reinterpret_cast<Request*>(op)->answer, well ? CWY_OK : CWY_ERR_INVALID, nullptr);
}

void ReadList::leave() {
  // acq_rel: the last one sees what all have read.
  if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (slot != 0) store_note(slot, 1);
  delete this;
}

void retire(World& world, Queue* queue) {
  const std::lock_guard lock(world.process_mutex);
  world.retired_queues.emplace_back(queue);
}

// ---- counting ----

Queue::Queue(World& world)
    : world_(world),
      limit_(world.config.queue_size_max),
      batch_(new Batch(world.size)),
      lanes_(world.size) {}

Queue::~Queue() {
  while (free_ != nullptr) give_request(std::exchange(free_, free_->next));
  Abandoned last{nullptr, std::move(lost_steps_)};
  for (const Lane& lane : lanes_) last.steps.push_back(lane.open);
  for (const Deferred& d : deferred_) last.steps.push_back(d.step);
  last.batch.reset(batch_.load(std::memory_order_relaxed));
  abandoned_.push_back(std::move(last));
  for (Abandoned& a : abandoned_) {
    if (a.over()) {
      release(a);
    } else {
      // Requests to a lost rank, whose completion may still come and count here.
      static_cast<void>(a.batch.release());
    }
  }
}

void Queue::release(Abandoned& a) {
  for (const Step* step : a.steps) delete step;
  a.steps.clear();
  a.batch.reset();
}

gaspi_return_t Queue::enter_slowly(Deadline& deadline, uint32_t requests) {
  return wait_for(deadline, [this, requests] {
    uint32_t count;
    if (try_enter(requests, count)) return GASPI_SUCCESS;
    return count & kPrivileged ? GASPI_TIMEOUT : GASPI_QUEUE_FULL;
  });
}

gaspi_return_t Queue::privilege(Deadline& deadline) {
  return wait_for(deadline, [this] {
    const uint32_t before = state_.fetch_or(kPrivileged, std::memory_order_acq_rel);
    return before & kPrivileged ? GASPI_TIMEOUT : GASPI_SUCCESS;
  });
}

// ---- requests ----

void Queue::fail() {
  const std::lock_guard lock(mutex_);
  // Release: as where a request fails.
  batch_.load(std::memory_order_relaxed)->failed.store(true, std::memory_order_release);
}

Queue::Lane& Queue::lane(uint32_t rank) {
  Lane& lane = lanes_[rank];
  if (lane.open == nullptr) lane.open = new Step;
  return lane;
}

Request* Queue::begin_counted(uint32_t rank, uint32_t epoch, uint32_t need) {
  if (free_ == nullptr) free_ = g_given.exchange(nullptr, std::memory_order_acquire);
  if (free_ == nullptr) free_ = make_requests();
  Request* const r = std::exchange(free_, free_->next);
  r->op.fn = report;
  r->world = &world_;
  r->step = nullptr;
  r->own = nullptr;
  r->local_note = 0;
  r->list = nullptr;
  r->rank = rank;
  r->epoch = epoch;
  r->need = r->answer = need;
  r->done.store(0, std::memory_order_relaxed);  // not shared yet
  r->batch = batch_.load(std::memory_order_relaxed);
  r->batch->outstanding.fetch_add(1, std::memory_order_relaxed);
  r->batch->by_rank[rank].fetch_add(1, std::memory_order_relaxed);
  return r;
}

Request* Queue::begin(uint32_t rank, uint32_t epoch, uint32_t need, bool holds_back) {
  const std::lock_guard lock(mutex_);
  Request* const r = begin_counted(rank, epoch, need);
  if (holds_back) count_in_step(*r);
  return r;
}

void Queue::count_in_step(Request& r) {
  r.step = lane(r.rank).open;
  r.step->outstanding.fetch_add(1, std::memory_order_relaxed);
  if (r.own != nullptr) r.own->outstanding.fetch_add(1, std::memory_order_relaxed);
}

void Queue::hold_back(Request* request) {
  const std::lock_guard lock(mutex_);
  count_in_step(*request);
}

void Queue::finish_at_once(Request* request) {
  settle(request);
  give_request(request);
}

void Queue::take_back(Request* request) {
  request->local_note = 0;
  finish_at_once(request);
}

// ---- notifications ----

cwy_status send_with_acknowledgements(World& world, uint32_t rank,
                                      int32_t (&args)[CWYC_AM_MAX_ARGS], unsigned nargs,
                                      const void* payload, size_t length) {
  const Acknowledgements::Load load =
      world.acknowledgements->take(world, rank, args + nargs, CWYC_AM_MAX_ARGS - nargs);
  const cwy_status status = try_send_internal(world.peer(rank), Internal::interface, args,
                                              nargs + load.nargs, payload, length, false);
  if (status == CWY_OK) return CWY_INPROGRESS;
  world.acknowledgements->give_back(world, rank, args + nargs, load);
  return status;
}

cwy_status send_note(World& world, const Note& note, Request* request) {
  const FarSegment& s = *note.segment;
  // Acquire: what the requests before it wrote is there. This one is counted too.
  if (s.notes_direct && request->batch->by_rank[note.rank].load(std::memory_order_acquire) == 1) {
    store_note(note, s.mapped_slot(note.id));
    return CWY_OK;
  }
  const uint64_t slot = s.slots + note.id * sizeof(uint64_t);
  if (!world.may_send(note.rank, s.epoch)) return CWY_ERR_PEER_FAILED;
  const auto cookie = reinterpret_cast<uint64_t>(&request->op);
  hand_over(&request->op);
  int32_t args[CWYC_AM_MAX_ARGS] = {
      static_cast<int32_t>(Message::note), low_half(slot),   high_half(slot),
      static_cast<int32_t>(note.value),    low_half(cookie), high_half(cookie)};
  return send_with_acknowledgements(world, note.rank, args, kNoteArgs, nullptr, 0);
}

gaspi_return_t Queue::notify(const Note& note, Deadline& deadline) {
  Request* request = nullptr;
  {
    const std::lock_guard lock(mutex_);
    request = begin_counted(note.rank, note.segment->epoch, kBoth);
    Lane& l = lane(note.rank);
    // Acquire: the data is there before the notification leaves.
    if (l.open->outstanding.load(std::memory_order_acquire) != 0) {
      auto* const fresh = new Step;
      fresh->outstanding.store(1, std::memory_order_relaxed);  // for the one that is closed now
      l.open->next = fresh;
      deferred_.push_back({l.open, note, request});
      l.open = fresh;
      deferred_count_.fetch_add(1, std::memory_order_relaxed);
      world_.work.fetch_add(1, std::memory_order_relaxed);
      return GASPI_SUCCESS;
    }
  }
  gaspi_return_t result = wait_for(deadline, [&] {
    const cwy_status status = send_note(world_, note, request);
    if (status == CWY_RETRY) return GASPI_TIMEOUT;
    if (status == CWY_OK) finish_at_once(request);
    return !is_error(status) ? GASPI_SUCCESS
                             : operation_error(world_, note.rank, request->epoch, status);
  });
  if (result != GASPI_SUCCESS) take_back(request);
  return result;
}

Queue::Deferred Queue::prepare_after(Request* request, const Note& note) {
  const std::lock_guard lock(mutex_);
  request->own = new Step;
  request->own->outstanding.store(request->step != nullptr, std::memory_order_relaxed);
  return {request->own, note, begin_counted(note.rank, note.segment->epoch, kBoth)};
}

void Queue::follow(const Deferred& deferred) {
  if (send_if_due(deferred)) {
    delete deferred.step;
    return;
  }
  const std::lock_guard lock(mutex_);
  deferred_.push_back(deferred);
  deferred_count_.fetch_add(1, std::memory_order_relaxed);
  world_.work.fetch_add(1, std::memory_order_relaxed);
}

void Queue::cancel(const Deferred& deferred) {
  delete deferred.step;
  take_back(deferred.request);
}

// False: later.
bool Queue::send_if_due(const Deferred& d) {
  // Acquire: as above.
  if (d.step->outstanding.load(std::memory_order_acquire) != 0) return false;
  const cwy_status status = send_note(world_, d.note, d.request);
  if (status == CWY_RETRY) return false;
  if (status == CWY_OK) finish_at_once(d.request);
  if (is_error(status)) d.request->op.fn(&d.request->op, d.request->need, status, nullptr);
  return true;
}

uint32_t Queue::send_deferred() {
  if (deferred_count_.load(std::memory_order_relaxed) == 0) return 0;
  const std::unique_lock one(send_mutex_, std::try_to_lock);
  if (!one.owns_lock()) return 0;
  std::deque<Deferred> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(deferred_);
  }
  uint32_t moved = 0;
  std::deque<Deferred> later;
  for (Deferred& d : all) {
    if (!send_if_due(d)) {
      later.push_back(d);
      continue;
    }
    ++moved;
    world_.work.fetch_sub(1, std::memory_order_relaxed);
    deferred_count_.fetch_sub(1, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (d.step->next != nullptr) d.step->next->outstanding.fetch_sub(1, std::memory_order_release);
    delete d.step;
  }
  const std::lock_guard lock(mutex_);
  deferred_.insert(deferred_.begin(), later.begin(), later.end());
  return moved;
}

// ---- gaspi_wait and gaspi_queue_purge ----

// Something under way is with a rank that is corrupt, and will not end.
bool Queue::hopeless(const Batch& batch) const {
  if (world_.corrupt.load(std::memory_order_acquire) == 0) return false;
  for (uint32_t r = 0; r < world_.size; ++r)
    if (batch.by_rank[r].load(std::memory_order_acquire) != 0 && world_.is_corrupt(r)) return true;
  return false;
}

gaspi_return_t Queue::wait(Deadline& deadline) {
  gaspi_return_t result = privilege(deadline);
  if (result != GASPI_SUCCESS) return result;
  const Batch& batch = *batch_.load(std::memory_order_acquire);
  result = wait_for(deadline, [&] {
    // Acquire: see Batch.
    const bool complete = batch.outstanding.load(std::memory_order_acquire) == 0;
    if (batch.failed.load(std::memory_order_acquire) || (!complete && hopeless(batch)))
      return GASPI_ERROR;
    return complete ? GASPI_SUCCESS : GASPI_TIMEOUT;
  });
  if (result == GASPI_SUCCESS) {
    state_.store(0, std::memory_order_release);  // nobody else changes it: see enter()
  } else {
    if (result == GASPI_ERROR) note_told(world_);
    state_.fetch_and(~kPrivileged, std::memory_order_release);
  }
  return result;
}

// Requests under way are left to themselves: they end, or not, in a batch that nobody waits for.
gaspi_return_t Queue::purge(Deadline& deadline) {
  const gaspi_return_t result = privilege(deadline);
  if (result != GASPI_SUCCESS) return result;
  {
    const std::lock_guard one(send_mutex_);
    const std::lock_guard lock(mutex_);
    Abandoned old{nullptr, std::move(lost_steps_)};
    lost_steps_.clear();
    for (const Deferred& d : deferred_) {
      old.steps.push_back(d.step);
      world_.work.fetch_sub(1, std::memory_order_relaxed);
      deferred_count_.fetch_sub(1, std::memory_order_relaxed);
      finish_at_once(d.request);
    }
    deferred_.clear();
    for (Lane& lane : lanes_)
      if (lane.open != nullptr) old.steps.push_back(std::exchange(lane.open, nullptr));
    old.batch.reset(batch_.exchange(new Batch(world_.size), std::memory_order_acq_rel));
    abandoned_.push_back(std::move(old));
    std::erase_if(abandoned_, [this](Abandoned& a) {
      if (a.over()) release(a);
      return a.batch == nullptr;
    });
  }
  state_.store(0, std::memory_order_release);
  return GASPI_SUCCESS;
}

void Queue::forget(uint32_t rank) {
  const std::lock_guard one(send_mutex_);
  const std::lock_guard lock(mutex_);
  Batch& batch = *batch_.load(std::memory_order_acquire);
  if (batch.by_rank[rank].load(std::memory_order_acquire) != 0)
    batch.failed.store(true, std::memory_order_release);
  std::erase_if(deferred_, [&](const Deferred& d) {
    if (d.note.rank != rank) return false;
    lost_steps_.push_back(d.step);
    world_.work.fetch_sub(1, std::memory_order_relaxed);
    deferred_count_.fetch_sub(1, std::memory_order_relaxed);
    finish_at_once(d.request);
    return true;
  });
  if (lanes_[rank].open != nullptr)
    lost_steps_.push_back(std::exchange(lanes_[rank].open, nullptr));
}

}  // namespace causeway::gaspi
