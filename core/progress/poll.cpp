#include "progress/poll.h"

#include <fmt/core.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/membarrier.h"
#include "progress/blind_nap.h"
#include "progress/hints.h"
#include "progress/hooks.h"
#include "progress/waiter.h"
#include "thread/thread_state.h"

namespace causeway {

constinit ProgressHooks progress_hooks;

namespace {

constexpr uint32_t kBudget = 64;

// The table that polling walks: a flat array, so that a pass is one call per conduit, no more.
struct PollEntry {
  uint32_t (*progress)(cwyc_ep* ep, uint32_t budget, uint32_t lane);
  cwyc_ep* ep;  // what `progress` is called with
  ConduitEp* cep;
};
using PollTable = std::vector<PollEntry>;

// The table in force. Tables are never changed: who adds or removes entries, under the mutex,
// publishes another one (release) and keeps the old, which a thread may still be walking, as long
// as the process lives. Walkers load with acquire.
const PollTable& kNoEntries = *new PollTable;
std::atomic<const PollTable*> g_table{&kNoEntries};
std::mutex g_tables_mutex;
auto& g_tables = *new std::vector<std::unique_ptr<const PollTable>>;

// Relaxed: the table says the same, and polls that are late are waited for.
std::atomic<bool> g_ended{false};

// No instruction: only the compiler could move a look at the table to before the mark. The
// processor does too, and end_polls() has it come to a fence.
void enter_poll(ThreadState& thread) {
  thread.in_poll.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void leave_poll(ThreadState& thread) {
  // Release: what the poll did is done for the thread that looks for polls.
  thread.in_poll.store(false, std::memory_order_release);
}

const PollTable& entries() {
  return *g_table.load(std::memory_order_acquire);
}

void publish(PollTable table) {
  g_tables.push_back(std::make_unique<const PollTable>(std::move(table)));
  g_table.store(g_tables.back().get(), std::memory_order_release);
}

// Never NULL. Relaxed: a poll that misses the first moments of an interface loses nothing.
uint32_t nothing_to_do() {
  return 0;
}
std::atomic<uint32_t (*)()> g_hook{nothing_to_do};

// Conduits that sleep until something arrives.
struct Nappers {
  ConduitEp* next = nullptr;  // NULL: there is none
  uint32_t count = 0;
};

// A thread sleeps in each of them in turn: a conduit that holds something back, which only progress
// brings forward, ends its own naps and nobody else's.
Nappers nappers() {
  thread_local constinit uint32_t turn = 0;
  Nappers out;
  for (const PollEntry& e : entries()) out.count += (e.cep->caps & CWYC_CAP_NAP) != 0 ? 1 : 0;
  uint32_t skipped = out.count == 0 ? 0 : turn++ % out.count;
  for (const PollEntry& e : entries()) {
    if ((e.cep->caps & CWYC_CAP_NAP) == 0) continue;
    if (skipped-- == 0) out.next = e.cep;
  }
  return out;
}

// A conduit that neither has a descriptor nor ends naps: what arrives by it is found by looking.
bool has_mute_conduit() {
  return std::ranges::any_of(entries(), [](const PollEntry& e) {
    return (e.cep->caps & (CWYC_CAP_NAP | CWYC_CAP_WAIT_FD)) == 0;
  });
}

// Stands in for the progress call of conduits whose messages are taken over.
uint32_t taking_progress(cwyc_ep* cep, uint32_t budget, uint32_t lane) {
  return progress_and_run(*reinterpret_cast<ConduitEp*>(cep), budget, lane);
}

PollEntry entry_for(ConduitEp& cep) {
  if (cep.takes_over) return {&taking_progress, reinterpret_cast<cwyc_ep*>(&cep), &cep};
  return {cep.conduit->module().progress, cep.ep, &cep};
}

// The outcome of arming the conduits.
enum class Armed {
  all,
  pending,  // something has come: sleeping would be wrong
  busy      // another thread is inside, where one is let in at a time: it moves things on
};

// Every thread of this process that runs comes to a full fence: its poll either is marked, or meets
// the table that was published before. Kernels without that call leave it to the time that passes.
void fence_threads() {
  membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

// Adds armed descriptors to `fds`.
Armed arm_all(std::vector<pollfd>& fds) {
  Armed answer = Armed::all;
  for (const PollEntry& e : entries()) {
    if ((e.cep->caps & CWYC_CAP_WAIT_FD) == 0) continue;
    const cwyc_module& module = e.cep->conduit->module();
    // Not waited for: who is inside moves things on.
    std::unique_lock<EntryLock> inside(e.cep->mutex, std::defer_lock);
    if (e.cep->serial && !inside.try_lock()) {
      answer = Armed::busy;
      continue;
    }
    int fd = -1;
    if (module.wait_fd(e.cep->ep, &fd) != CWY_OK) continue;
    if (module.arm(e.cep->ep) != CWY_OK) return Armed::pending;
    fds.push_back({fd, POLLIN, 0});
  }
  return answer;
}

}  // namespace

void add_to_poll(const ConduitEps& ceps) {
  const std::lock_guard lock(g_tables_mutex);
  PollTable table = entries();
  for (const auto& cep : ceps)
    if (cep->needed.load(std::memory_order_relaxed) && !(cep->caps & CWYC_CAP_NO_PROGRESS))
      table.push_back(entry_for(*cep));
  publish(std::move(table));
}

void add_to_poll(ConduitEp& cep) {
  const std::lock_guard lock(g_tables_mutex);
  if (cep.needed.exchange(true, std::memory_order_relaxed) || cep.caps & CWYC_CAP_NO_PROGRESS)
    return;
  PollTable table = entries();
  table.push_back(entry_for(cep));
  publish(std::move(table));
}

void remove_from_poll(const Endpoint& ep) {
  const std::lock_guard lock(g_tables_mutex);
  PollTable table = entries();
  if (std::erase_if(table, [&](const PollEntry& e) { return e.cep->owner == &ep; }) != 0)
    publish(std::move(table));
}

void refresh_poll() {
  const std::lock_guard lock(g_tables_mutex);
  PollTable table = entries();
  for (PollEntry& e : table) e = entry_for(*e.cep);
  publish(std::move(table));
}

void end_polls() {
  {
    const std::lock_guard lock(g_tables_mutex);
    g_table.store(&kNoEntries, std::memory_order_release);
    g_ended.store(true, std::memory_order_relaxed);
  }
  constexpr useconds_t kPollTakesUs = 1000;
  constexpr int kLooks = 1000;
  // Replies that a send waits for and losses are looked for without the mark, and have that long.
  if (live_threads() > 1) {
    fence_threads();
    ::usleep(kPollTakesUs);
  }
  for (int i = 0; i < kLooks && others_poll(); ++i) ::usleep(kPollTakesUs);
}

void set_poll_hook(uint32_t (*hook)()) {
  // Looked at with everything else that is no conduit, from the first one on.
  if (g_hook.exchange(hook, std::memory_order_relaxed) == &nothing_to_do)
    poll_hints.fetch_add(1, std::memory_order_relaxed);
}

// Moves on what waits for something other than a conduit's news. Out of the way of polls that find
// nothing.
__attribute__((noinline)) static uint32_t push_hinted() {
  if (g_ended.load(std::memory_order_relaxed)) return 0;
  return progress_hooks.push() + g_hook.load(std::memory_order_relaxed)();
}

// Not nested.
[[gnu::always_inline]] static inline uint32_t poll(ThreadState& thread) {
  enter_poll(thread);
  if (__builtin_expect(!client_polled.load(std::memory_order_relaxed), 0) && !thread.internal)
    client_polled.store(true, std::memory_order_relaxed);
  uint32_t events = 0;
  for (const PollEntry& e : entries()) events += e.progress(e.ep, kBudget, CWYC_PROGRESS_ALL);
  if (__builtin_expect(poll_hints.load(std::memory_order_relaxed) != 0, 0)) events += push_hinted();
  leave_poll(thread);
  if (__builtin_expect(context().attention.load(std::memory_order_relaxed), 0) &&
      !g_ended.load(std::memory_order_relaxed))
    progress_hooks.attend();
  return events;
}

uint32_t poll_once() {
  ThreadState& thread = thread_state();
  return __builtin_expect(thread.polls(), 0) ? 0 : poll(thread);
}

uint32_t poll_for_client() {
  constexpr uint32_t kSome = 16;
  ThreadState& thread = thread_state();
  if (__builtin_expect(thread.polls(), 0)) return 0;
  const uint32_t events = poll(thread);
  if (events != 0)
    thread.vain_polls = 0;
  else if (__builtin_expect(++thread.vain_polls % kSome == 0, 0))
    yield_between_polls(thread.vain_polls);
  return events;
}

void poll_replies(const ConduitEps& ceps) {
  uint32_t events = 0;
  for (const auto& cep : ceps) {
    if (!cep->needed.load(std::memory_order_relaxed) || g_ended.load(std::memory_order_relaxed))
      continue;
    events += cep->progress(kBudget, CWYC_PROGRESS_REPLIES);
  }
  if (events == 0) ::sched_yield();
  // A dead peer may be the one that never makes room.
  if (context().attention.load(std::memory_order_relaxed)) context().attend();
}

uint32_t polled_networks() {
  const auto in_kernel = [](const PollEntry& e) { return (e.cep->caps & CWYC_CAP_NAP) == 0; };
  return std::max(static_cast<uint32_t>(std::ranges::count_if(entries(), in_kernel)), 1u);
}

std::string polled_conduits() {
  std::string out;
  for (const PollEntry& e : entries())
    out += fmt::format("{}{}", out.empty() ? "" : ",", e.cep->conduit->name());
  return out;
}

void nap(uint64_t max_ns, uint64_t waited_ns) {
  if (progress_hooks.copies_pending()) {
    ::sched_yield();
    return;
  }
  std::vector<pollfd> fds;
  // Inside the conduits, as in a poll: a handler that interrupts this must not enter them.
  ThreadState& thread = thread_state();
  const bool outer = thread.polls();
  enter_poll(thread);
  const Armed armed = arm_all(fds);
  if (!outer) leave_poll(thread);
  if (armed == Armed::pending) return;
  if (armed == Armed::busy || has_mute_conduit()) max_ns = blind_nap_ns(max_ns, waited_ns);
  // Several cannot be waited for together: look at the others often.
  constexpr uint64_t kMixedNap = 200000;
  // The first of a network's sleepers to run takes what came, and the others would sleep on.
  constexpr uint64_t kNapBesideThreads = 1000000;
  const bool shared = live_threads() > 1 || progress_thread_polls.load(std::memory_order_relaxed);
  if (shared && !thread.internal && !fds.empty()) max_ns = std::min(max_ns, kNapBesideThreads);
  const Nappers sleepers = nappers();
  const bool alone = sleepers.count + (fds.empty() ? 0 : 1) <= 1;
  const uint64_t bounded = alone ? max_ns : std::min(max_ns, kMixedNap);
  if (fds.empty() && sleepers.next != nullptr) {
    sleepers.next->conduit->module().nap(sleepers.next->ep, bounded);
    return;
  }
  const timespec limit{static_cast<time_t>(bounded / 1000000000ull),
                       static_cast<long>(bounded % 1000000000ull)};
  ::ppoll(fds.data(), fds.size(), &limit, nullptr);
}

}  // namespace causeway
