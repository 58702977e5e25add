#include "progress/waiter.h"

#include <causeway/tools/atomics.h>
#include <gasnetex.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/context.h"
#include "base/log.h"
#include "config/config.h"
#include "connection/job.h"
#include "progress/hooks.h"
#include "progress/poll.h"

namespace causeway {
namespace {

// So many polls in vain follow each other at once: what is nearly here shall not wait for the
// processor's pause, which is as long as several polls. None among ranks that share processors, as
// the first rest finds out: the rank that is waited for may need this one. Relaxed: a hint.
std::atomic<uint32_t> g_hot_spins{64};
// A poll in vain takes a microsecond or two, system calls included. One that took this long has
// moved bytes: software providers receive a peer's puts, and push on large ones of this process,
// inside of polls that report nothing before the end. A nap then makes the other side wait, and a
// yield after each of them a little. The bound holds for each network that is polled.
constexpr uint64_t kBusyPollNs = 5000;
constexpr uint32_t kSpinsPerLook = 16;
// The first poll after a nap finds nothing in the caches, and takes as long as one that moves a few
// bytes: unless it took this long, the poll that follows it at once tells.
constexpr uint64_t kBusyColdPollNs = 20000;

// Spinning is counted: an empty poll takes some tens of nanoseconds, and reading the clock at each
// would cost as much. Polls of networks take twenty times as long, so each 16th looks at the clock.
// Yielding is timed: on a busy machine a yield is not over after a microsecond but after everybody
// else's turn, some milliseconds, and who comes back from so many of them sleeps seconds too late.
// A sleeper that is woken runs at once.
struct Patience {
  uint32_t spins;
  uint64_t spin_ns;
  uint64_t yield_ns;
  uint64_t nap_ns;
  uint64_t longest_nap_ns;

  // Ranks that share processors and wait long look less often: every look is taken from those that
  // are waited for, and hundreds of ranks would do nothing else. What arrives wakes a sleeper.
  uint64_t nap_after(uint64_t waited_ns) const {
    return std::clamp(waited_ns, nap_ns, longest_nap_ns);
  }
  // Has it spun for long enough since `began`? 0: it begins now, and ends with the answer yes.
  bool has_spun(uint64_t& began) const {
    const uint64_t now = now_ns();
    if (began == 0) began = now;
    if (now - began <= spin_ns) return false;
    began = 0;
    return true;
  }
  // Is nobody known to wait for this processor?
  bool spins_long() const { return spins > 0; }
};

std::atomic<WaitMode> g_mode{WaitMode::configured};  // relaxed: a hint

const Patience& patience() {
  static const Patience value = [] {
    constexpr uint64_t kPollNs = 25, kMostSpins = UINT32_MAX / 4;
    const Config& config = context().config();
    const JobFacts& job = context().job();
    Patience p;
    // With more ranks than processors a spinning rank keeps the one it waits for from running.
    const bool crowded = job.crowded();
    if (crowded) g_hot_spins.store(0, std::memory_order_relaxed);
    p.spin_ns = config.waiting.spin_ns;
    p.spins = crowded ? 0 : static_cast<uint32_t>(std::min(p.spin_ns / kPollNs, kMostSpins));
    p.yield_ns = config.waiting.yield_ns;
    p.nap_ns = std::max<uint64_t>(config.waiting.nap_ns, 1000);
    p.longest_nap_ns = p.nap_ns * job.ranks_per_cpu();
    return p;
  }();
  return value;
}

// With `log.level: debug` a wait in which nothing happens says so after 1, 2, 4 s, and so on.
void tell_stall(uint64_t since, uint64_t now) {
  if (log_level() < LogLevel::debug) return;
  constexpr uint64_t kSecond = 1'000'000'000;
  thread_local constinit uint64_t told_since = 0, tell_after = kSecond;
  if (told_since != since) {
    told_since = since;
    tell_after = kSecond;
  }
  if (now - since < tell_after) return;
  tell_after *= 2;
  log_debug("progress: nothing has happened for {} s; polls visit {}", (now - since) / kSecond,
            polled_conduits());
}

}  // namespace

void set_wait_mode(WaitMode mode) {
  g_mode.store(mode, std::memory_order_relaxed);
}

// The rank that is waited for may need this processor, where ranks share some. Elsewhere a yield
// costs as much as some polls, and lets threads and other programs run.
void yield_between_polls(uint32_t vain_polls) {
  constexpr uint32_t kAlone = 256;
  if (!patience().spins_long() || vain_polls % kAlone == 0) ::sched_yield();
}

bool Waiter::spins_long() {
  return patience().spins_long();
}

void Waiter::forget_idleness() {
  since_ = rested_ = idle_ = 0;
  sleepy_ = false;
}

void Waiter::step() {
  if (poll_once() != 0) return forget_idleness();
  if (++idle_ <= g_hot_spins.load(std::memory_order_relaxed)) return;
  rest();
}

void Waiter::enter(uint64_t now) {
  uint64_t& began = named_ ? subject_->began_ns : began_ns_;
  if (began == 0) began = now;
  if (now - began < kLastingNs) return;
  // Without a name each time: the entry is the thread's, and a wait within this one may have had
  // it.
  entered_ = enter_wait(named_ ? *subject_ : block_until_subject, began) && named_;
}

void Waiter::rest() {
  const Patience& p = patience();
  const WaitMode mode = g_mode.load(std::memory_order_relaxed);
  const uint32_t idle =
      mode == WaitMode::block ? UINT32_MAX : idle_ - g_hot_spins.load(std::memory_order_relaxed);
  if (idle <= p.spins) {
    gasnett_spinloop_hint();
    if (idle == p.spins) since_ = 0;
    if (idle % kSpinsPerLook == 1 && idle_ <= p.spins && p.has_spun(since_)) idle_ += p.spins;
    return;
  }
  const uint64_t now = now_ns();
  const uint64_t took = rested_ != 0 ? now - rested_ : 0;
  const uint32_t networks = polled_networks();
  const bool cold = std::exchange(napped_, false) && took <= kBusyColdPollNs * networks;
  const bool moved = took > kBusyPollNs * networks;
  if (moved && cold) {
    rested_ = now;
    return;
  }
  if (since_ == 0 || moved) since_ = now;
  if (!entered_) enter(now);
  if (moved && p.spins_long()) {
    idle_ = p.spins;  // g_hot_spins more polls before the next yield
    rested_ = 0;
    return;
  }
  if (mode == WaitMode::spin || (mode != WaitMode::block && now - since_ < p.yield_ns)) {
    ::sched_yield();
    rested_ = now_ns();
    sleepy_ = false;
    return;
  }
  const std::atomic<uint32_t>* const word = named_ ? subject_->sleep_word : nullptr;
  if (word != nullptr && (sleepy_ = !sleepy_)) {
    rested_ = 0;  // the caller's looks are no poll that moves bytes
    return;
  }
  tell_stall(since_, now);
  sleeping_waiters.fetch_add(1, std::memory_order_relaxed);
  // Neighbors raise the signals of collectives in memory, which wakes nobody: they are told, and
  // what they raised before they could know is looked at.
  const bool announced = progress_hooks.announce_nap();
  // Acquire: what the thread that cleared the word had written is there.
  if ((!announced || poll_once() == 0) &&
      (word == nullptr || word->load(std::memory_order_acquire) != 0)) {
    const uint64_t limit = named_ ? subject_->limit_ns : UINT64_MAX;
    nap(std::min(p.nap_after(now - since_), limit - std::min(limit, now)), now - since_);
  }
  if (announced) progress_hooks.end_nap();
  sleeping_waiters.fetch_sub(1, std::memory_order_relaxed);
  rested_ = now_ns();
  napped_ = true;
}

}  // namespace causeway
