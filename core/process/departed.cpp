#include "process/departed.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fatal.h"
#include "bootstrap/quiet_thread.h"
#include "collective/exchange.h"
#include "collective/inquiry.h"
#include "process/closed.h"
#include "process/exit.h"
#include "process/runtime.h"
#include "rma/unanswered.h"

namespace causeway {
namespace {

struct Departed {
  std::mutex mutex;
  std::vector<uint32_t> ranks;
};
Departed& departed() {
  static auto* const instance = new Departed;  // polls look to the very end
  return *instance;
}
// Relaxed: a hint whether to take the mutex.
std::atomic<bool> g_any{false};

std::vector<uint32_t> ranks_that_left() {
  Departed& d = departed();
  const std::lock_guard lock(d.mutex);
  return d.ranks;
}

// Over shared memory a wait for a rank that is gone never fails, so polls are made to look at
// departed ranks. A thread of its own does that, because looks that cost nothing are too rare and
// others cost too much, and because a program that has not polled for a while sends before it
// polls.
void look_often() {
  constexpr std::chrono::milliseconds kBetweenLooks(200);
  quiet_thread([kBetweenLooks] {
    while (!exiting()) {
      for (const uint32_t rank : ranks_that_left()) close_requests_to(rank);
      runtime().attention.store(true, std::memory_order_release);
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }).detach();
}

}  // namespace

void note_departed(uint32_t rank) {
  Departed& d = departed();
  const std::lock_guard lock(d.mutex);
  if (std::find(d.ranks.begin(), d.ranks.end(), rank) != d.ranks.end()) return;
  d.ranks.push_back(rank);
  if (!g_any.exchange(true, std::memory_order_relaxed)) look_often();
}

std::string departed_words(uint32_t rank) {
  Departed& d = departed();
  const std::lock_guard lock(d.mutex);
  if (std::find(d.ranks.begin(), d.ranks.end(), rank) == d.ranks.end()) return "";
  return fmt::format("; rank {} has left the job", rank);
}

std::string departed_words() {
  Departed& d = departed();
  const std::lock_guard lock(d.mutex);
  if (d.ranks.empty()) return "";
  if (d.ranks.size() == 1) return fmt::format("; rank {} has left the job", d.ranks.front());
  return fmt::format("; ranks {} have left the job", fmt::join(d.ranks, ","));
}

namespace {

// Something under way here that only that rank can end, and what has become of it.
struct Want {
  const char* call = nullptr;  // NULL: nothing
  uint32_t rank = 0;
  uint32_t answers = 0;  // that it has given
  bool operator==(const Want&) const = default;
};

Want wanted_of(const std::vector<uint32_t>& ranks) {
  for (const uint32_t rank : ranks) {
    if (exchange_waits_for(rank)) return {"a collective call of teams or segments", rank, 0};
    if (const std::optional<uint32_t> answers = answers_while_owing(rank))
      return {"a put, get or atomic operation", rank, *answers};
  }
  return {};
}

// For so long as this, as at the last look.
uint64_t unchanged_for(const Want& want) {
  static std::mutex mutex;
  static Want last;
  static uint64_t since = 0;
  const std::lock_guard lock(mutex);
  const uint64_t now = now_ns();
  if (want.call == nullptr || !(want == last)) since = now;
  last = want;
  return now - since;
}

// Those that are members of the team of the collective that is waited for.
std::string members_that_left(const CollectiveWait& wait, const std::vector<uint32_t>& ranks) {
  std::vector<uint32_t> members;
  for (const uint32_t rank : ranks)
    if (has_rank_of_job(*wait.team, rank)) members.push_back(rank);
  if (members.size() == 1)
    return fmt::format("it waits for rank {}, which has left the job", members.front());
  return fmt::format("it waits for one of the ranks {}, which have left the job",
                     fmt::join(members, ","));
}

CollectiveWait collective_with_any(const std::vector<uint32_t>& ranks) {
  CollectiveWait wait;
  for (const uint32_t rank : ranks) {
    wait = collective_with(rank);
    if (wait.call != nullptr) break;
  }
  return wait;
}

}  // namespace

void look_at_departed() {
  if (!g_any.load(std::memory_order_relaxed)) return;
  const std::vector<uint32_t> ranks = ranks_that_left();
  const uint64_t patience = runtime().config().timeouts.exit_ns;
  const Want want = wanted_of(ranks);
  if (unchanged_for(want) >= patience && want.call != nullptr)
    fatal(want.call, "it waits for rank {}, which has left the job", want.rank);
  const CollectiveWait wait = collective_with_any(ranks);
  if (waits_for_departed(wait, ranks, patience))
    fatal_text(wait.call, members_that_left(wait, ranks));
}

}  // namespace causeway
