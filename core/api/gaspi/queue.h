// Queue: requests counted until gaspi_wait, those under way, and notifications that must not
// overtake data (GASPI 17.1, chapter 8).
//
// A request that is complete when its call returns - a store into mapped memory - is only counted.
// Others are an object each (Request) and belong to the queue's current Batch, which gaspi_wait
// waits for and gaspi_queue_purge abandons.
//
// Order: per target rank, requests that write are counted in the lane's open Step, but for puts
// that stay ahead of later messages by themselves (CWYC_CAP_ORDER_PUT_AM). A notification that
// finds unfinished ones closes the step and is deferred until they, and all closed steps before,
// are complete. It is then sent by whoever polls.
#pragma once

#include <GASPI.h>
#include <causeway/conduit.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "api/gaspi/deadline.h"
#include "api/gaspi/world.h"

namespace causeway::gaspi {

struct FarSegment;

// Requests that complete together as far as gaspi_wait can tell.
struct Batch {
  explicit Batch(uint32_t ranks) : by_rank(new std::atomic<uint32_t>[ranks]()) {}
  // Advanced under the queue's mutex, reduced by completions (release) and read with acquire, so
  // that what the requests wrote is visible once the count is 0.
  std::atomic<uint32_t> outstanding{0};
  std::unique_ptr<std::atomic<uint32_t>[]> by_rank;
  std::atomic<bool> failed{false};
};

// `outstanding`: requests of the step that are not complete, and one for the step before it while
// that is not complete. Advanced under the queue's mutex, reduced with release, read with acquire.
struct Step {
  std::atomic<uint32_t> outstanding{0};
  Step* next = nullptr;  // under the queue's mutex
};

// A request under way. Made by Queue::begin; ends when every bit that it needs is reported, then it
// is used again. One that failed is not: answers to it may still be on their way.
struct Request {
  cwyc_op op{};  // first: completions find the object by its address
  Batch* batch = nullptr;
  World* world = nullptr;
  Step* step = nullptr;     // the lane's, for requests that notifications wait for
  Step* own = nullptr;      // of the notification that follows this very request; as `step`
  uint64_t local_note = 0;  // a slot here that gets 1 at the end (gaspi_read_notify)
  struct ReadList* list = nullptr;
  uint32_t rank = 0, epoch = 1;
  uint32_t need = 0;
  uint32_t answer = 0;  // what an answer of the target stands for
  std::atomic<uint32_t> done{0};
  Request* next = nullptr;  // free list
};

// Shared by the requests of one list: the notification at their end.
struct ReadList {
  std::atomic<uint32_t> left{1};  // requests, and the call itself; acq_rel
  uint64_t slot;
  void join(Request* request) {
    left.fetch_add(1, std::memory_order_relaxed);
    request->list = this;
  }
  void leave();
};

struct Note {
  uint32_t rank;
  FarSegment* segment;
  uint32_t id, value;
};

class Queue {
 public:
  explicit Queue(World& world);
  ~Queue();

  // ---- counting ----
  // There is room, and nobody is in gaspi_wait or gaspi_queue_purge. For requests that are complete
  // before they are counted: the stores of an answer do not wait for the locked instruction.
  bool has_room() const { return state_.load(std::memory_order_relaxed) < limit_; }
  // Counts a request that is complete. Not counted when others took the last places meanwhile, or
  // when a gaspi_wait that runs now would forget it anyway.
  void count_complete() {
    uint32_t count = state_.load(std::memory_order_relaxed);
    // Relaxed: the count orders nothing.
    while (count < limit_ &&
           !state_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) {
    }
  }
  // So many more requests, limit() at most. GASPI_SUCCESS, GASPI_QUEUE_FULL, or GASPI_TIMEOUT while
  // another thread is in gaspi_wait or gaspi_queue_purge.
  gaspi_return_t enter(Deadline& deadline, uint32_t requests = 1) {
    uint32_t count;
    return try_enter(requests, count) ? GASPI_SUCCESS : enter_slowly(deadline, requests);
  }
  // The requests were not posted after all. A gaspi_wait of another thread may have forgotten them.
  void leave(uint32_t requests = 1) {
    uint32_t count = state_.load(std::memory_order_relaxed);
    while ((count & ~kPrivileged) >= requests &&
           !state_.compare_exchange_weak(count, count - requests, std::memory_order_relaxed)) {
    }
  }
  uint32_t limit() const { return limit_; }
  // The requests that were posted are not complete and never will be, until the queue is purged.
  void fail();
  uint32_t size() const { return state_.load(std::memory_order_relaxed) & ~kPrivileged; }

  // ---- requests under way ----
  // Nothing of this rank is under way: notifications cannot overtake. Acquire.
  bool quiet(uint32_t rank) const {
    return batch_.load(std::memory_order_acquire)->by_rank[rank].load(std::memory_order_acquire) ==
           0;
  }
  // `epoch`: of the process whose memory it is for. `holds_back`: notifications wait for it.
  Request* begin(uint32_t rank, uint32_t epoch, uint32_t need, bool holds_back);
  // From now on they do. Not posted yet.
  void hold_back(Request* request);
  ReadList* begin_list(uint64_t local_note) { return new ReadList{{1}, local_note}; }
  // It completed while it was posted.
  void finish_at_once(Request* request);
  // It was not posted.
  void take_back(Request* request);

  struct Deferred {
    Step* step;
    Note note;
    Request* request;  // the notification's own
  };
  // Sends `note`, now or once every earlier request to its rank is complete.
  gaspi_return_t notify(const Note& note, Deadline& deadline);
  // A notification that is to follow `request` alone: prepared before that is posted, then sent as
  // soon as it may, or cancelled when it was not.
  Deferred prepare_after(Request* request, const Note& note);
  void follow(const Deferred& deferred);
  void cancel(const Deferred& deferred);
  uint32_t send_deferred();

  gaspi_return_t wait(Deadline& deadline);
  gaspi_return_t purge(Deadline& deadline);
  // The rank's process is lost: what is under way with it has failed, and nothing more is sent.
  void forget(uint32_t rank);

 private:
  static constexpr uint32_t kPrivileged = 1u << 31;  // in state_: a thread is in wait or purge
  struct Lane {
    Step* open = nullptr;
  };
  // A batch that gaspi_queue_purge gave up, with the steps that its requests count in.
  struct Abandoned {
    std::unique_ptr<Batch> batch;
    std::vector<Step*> steps;
    bool over() const { return batch->outstanding.load(std::memory_order_acquire) == 0; }
  };
  void release(Abandoned& abandoned);
  // False: with this `count` there was no room, or a thread was in gaspi_wait or gaspi_queue_purge.
  bool try_enter(uint32_t requests, uint32_t& count) {
    count = state_.load(std::memory_order_relaxed);
    // Acquire: behind a purge, its batch. A failed exchange is another thread's request.
    while (count + (requests - 1) < limit_)
      if (state_.compare_exchange_weak(count, count + requests, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return true;
    return false;
  }
  gaspi_return_t enter_slowly(Deadline& deadline, uint32_t requests);
  gaspi_return_t privilege(Deadline& deadline);
  bool send_if_due(const Deferred& deferred);
  Lane& lane(uint32_t rank);
  // Under the mutex: counts a request that no step knows, and one that notifications wait for.
  Request* begin_counted(uint32_t rank, uint32_t epoch, uint32_t need);
  void count_in_step(Request& request);
  bool hopeless(const Batch& batch) const;

  World& world_;
  const uint32_t limit_;
  alignas(64) std::atomic<uint32_t> state_{0};
  std::atomic<Batch*> batch_;
  std::mutex mutex_;  // lanes, deferred_, and where requests join the batch. Nothing is posted, and
                      // no completion runs, under it
  Request* free_ = nullptr;  // not in use, to be taken by this queue; under the mutex
  std::vector<Lane> lanes_;
  std::deque<Deferred> deferred_;
  std::vector<Step*> lost_steps_;  // of lost ranks, in which requests of the batch may count
  std::atomic<uint32_t> deferred_count_{0};  // relaxed: a hint
  std::mutex send_mutex_;                    // one thread sends deferred notifications
  std::vector<Abandoned> abandoned_;
};

// The queue is deleted: kept until gaspi_proc_term(), because a thread that polls may be in it.
void retire(World& world, Queue* queue);

// Sends the message that `args` begin, with acknowledgements behind them. CWY_INPROGRESS: its
// answer will come; CWY_RETRY; or a failure.
cwy_status send_with_acknowledgements(World& world, uint32_t rank,
                                      int32_t (&args)[CWYC_AM_MAX_ARGS], unsigned nargs,
                                      const void* payload, size_t length);

// Sends a notification over messages, or stores it where memory is mapped and nothing is under way
// that only messages stay behind. CWY_OK: stored; CWY_INPROGRESS: `request` will be told;
// CWY_RETRY; or a failure.
cwy_status send_note(World& world, const Note& note, Request* request);

// Completion of a request by an answer of the target.
void request_done(uint64_t cookie, bool well);

}  // namespace causeway::gaspi
