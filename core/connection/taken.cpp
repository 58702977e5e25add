#include "connection/taken.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "connection/conduit_set.h"
#include "connection/word.h"

namespace causeway {
namespace {

constexpr uint32_t kTakenAtOnce = 16;
// A smaller payload is copied in less time than it takes to keep it and give it back.
constexpr size_t kLeastKept = 1024;

// The endpoint whose conduit this thread polls.
thread_local constinit ConduitEp* t_polled __attribute__((tls_model("initial-exec"))) = nullptr;

uint32_t poll_conduit(ConduitEp& cep, uint32_t budget, uint32_t lane) {
  // Another thread makes progress here already: it is not waited for.
  std::unique_lock<EntryLock> inside(cep.mutex, std::defer_lock);
  if (cep.serial && !inside.try_lock()) return 0;
  ConduitEp* const outer = std::exchange(t_polled, &cep);
  const uint32_t events = cep.conduit->module().progress(cep.ep, budget, lane);
  t_polled = outer;
  return events;
}

}  // namespace

void TakenMessages::take(ConduitEp& cep, cwy_peer from, uint64_t word, uint32_t kind,
                         const int32_t* args, uint32_t nargs, void* payload, size_t length) {
  void* name = nullptr;
  const bool kept = kind == CWYC_AM_MEDIUM && length >= kLeastKept &&
                    cep.conduit->module().am_retain(cep.ep, payload, &name) == CWY_OK;
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) idle_.emplace_front();
  Message& m = idle_.front();
  m.from = from;
  m.word = word;
  m.kind = kind;
  m.nargs = nargs;
  std::copy_n(args, std::min<uint32_t>(nargs, CWYC_AM_MAX_ARGS),
              m.args);  // more: deliver() says so
  m.payload = payload;
  m.length = length;
  m.kept = kept;
  m.name = name;
  if (kind == CWYC_AM_MEDIUM && !kept) {
    m.payload = m.copy.of(length + 1);
    if (length != 0) std::memcpy(m.payload, payload, length);
  }
  Messages& lane = word & kWordReply ? replies_ : requests_;
  lane.splice(lane.end(), idle_, idle_.begin());
  waiting_.store(requests_.size() + replies_.size(), std::memory_order_relaxed);
}

// Gives back the message whose handler has run, and takes out the next one.
bool TakenMessages::next(Messages& running, uint32_t lane) {
  const std::lock_guard lock(mutex_);
  idle_.splice(idle_.begin(), running);
  Messages& from = replies_.empty() && lane == CWYC_PROGRESS_ALL ? requests_ : replies_;
  if (from.empty()) return false;
  running.splice(running.begin(), from, from.begin());
  waiting_.store(requests_.size() + replies_.size(), std::memory_order_relaxed);
  return true;
}

uint32_t TakenMessages::run(ConduitEp& cep, uint32_t lane) {
  uint32_t ran = 0;
  if (waiting_.load(std::memory_order_relaxed) == 0) return ran;
  for (Messages running; next(running, lane); ++ran) {
    Message& m = running.front();
    cep.deliver(&cep, m.from, m.word, m.kind, m.args, m.nargs, m.payload, m.length);
    if (m.kept) cep.conduit->module().am_release(cep.ep, m.name);
  }
  return ran;
}

void TakenMessages::drop(ConduitEp& cep) {
  for (const Messages* lane : {&requests_, &replies_}) {
    for (const Message& m : *lane)
      if (m.kept) cep.conduit->module().am_release(cep.ep, m.name);
  }
}

void deliver_or_take(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                     const int32_t* args, uint32_t nargs, void* payload, size_t length) {
  auto& cep = *static_cast<ConduitEp*>(core_ep);
  if (__builtin_expect(t_polled == &cep, 0))
    return cep.taken.take(cep, from, word, kind, args, nargs, payload, length);
  cep.deliver(core_ep, from, word, kind, args, nargs, payload, length);
}

uint32_t progress_and_run(ConduitEp& cep, uint32_t budget, uint32_t lane) {
  uint32_t events = cep.taken.run(cep, lane);
  events += poll_conduit(cep, std::min(budget, kTakenAtOnce), lane);
  cep.taken.run(cep, lane);  // counted as events already
  return events;
}

}  // namespace causeway
