#include "object/departed.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "bootstrap/quiet_thread.h"
#include "collective/engine.h"
#include "collective/exchange.h"
#include "object/exit.h"
#include "object/fatal.h"
#include "object/runtime.h"
#include "progress/clock.h"
#include "rma/unanswered.h"

namespace causeway {
namespace {

struct Departed {
  std::mutex mutex;
  std::vector<uint32_t> ranks;
  CollectiveWait wait{};  // what stood still at the last look, and since when
  uint64_t since = 0;
};
Departed& departed() {
  static auto* const instance = new Departed;  // polls look to the very end
  return *instance;
}
// Relaxed: a hint whether to take the mutex.
std::atomic<bool> g_any{false};

// Over shared memory nothing fails that waits for one who is gone: so the polls are made to look.
// By a thread of their own, because looks that cost nothing are too rare and others cost too much.
void look_often() {
  constexpr std::chrono::milliseconds kBetweenLooks(200);
  quiet_thread([kBetweenLooks] {
    while (!exiting()) {
      std::this_thread::sleep_for(kBetweenLooks);
      runtime().attention.store(true, std::memory_order_release);
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

CollectiveWait what_waits_for(uint32_t rank) {
  if (exchange_waits_for(rank)) return {"a collective call of teams or segments"};
  if (const std::optional<uint32_t> answers = answers_while_owing(rank))
    return {"a put, get or atomic operation", nullptr, *answers};
  return collective_that_needs(rank);
}

// A member that has been through such a collective leaves it to the others to come through by
// themselves, which they do within moments once all have begun it: and all have, or it had not.
void look_at_departed() {
  if (!g_any.load(std::memory_order_relaxed)) return;
  Departed& d = departed();
  std::string line;
  CollectiveWait wait{};
  {
    const std::lock_guard lock(d.mutex);
    for (const uint32_t rank : d.ranks) {
      wait = what_waits_for(rank);
      if (wait.call == nullptr) continue;
      line = fmt::format("it waits for rank {}, which has left the job", rank);
      break;
    }
    const uint64_t now = now_ns();
    if (wait.call == nullptr || !(wait == d.wait)) d.since = now;
    d.wait = wait;
    if (wait.call == nullptr || now - d.since < runtime().config().timeouts.exit_ns) return;
  }
  fatal_text(wait.call, line);
}

}  // namespace causeway
