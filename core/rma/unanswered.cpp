#include "rma/unanswered.h"

#include <atomic>
#include <vector>

#include "base/context.h"
#include "base/log.h"

namespace causeway {
namespace {

// Relaxed throughout: looked at now and then, and acted upon when they have not changed for
// seconds. They wrap; equal means that nothing is open.
struct Count {
  std::atomic<uint32_t> asked{0}, answered{0};
};
// Made with the first question. Release when it is, acquire in a handler of a signal.
std::atomic<std::vector<Count>*> g_counts{nullptr};
std::vector<Count>& counts() {
  static auto* const by_rank = [] {
    auto* const made = new std::vector<Count>(context().size());
    g_counts.store(made, std::memory_order_release);
    return made;
  }();
  return *by_rank;
}

}  // namespace

void note_question(uint32_t rank) {
  counts()[rank].asked.fetch_add(1, std::memory_order_relaxed);
}

void note_answer(uint32_t rank) {
  counts()[rank].answered.fetch_add(1, std::memory_order_relaxed);
}

std::optional<uint32_t> answers_while_owing(uint32_t rank) {
  const Count& count = counts()[rank];
  const uint32_t answered = count.answered.load(std::memory_order_relaxed);
  if (count.asked.load(std::memory_order_relaxed) == answered) return std::nullopt;
  return answered;
}

void tell_unanswered() {
  const std::vector<Count>* const all = g_counts.load(std::memory_order_acquire);
  if (all == nullptr) return;
  uint32_t told = 0;
  for (uint32_t rank = 0; rank < all->size() && told < 8; ++rank) {
    const Count& count = (*all)[rank];
    const uint32_t open = count.asked.load(std::memory_order_relaxed) -
                          count.answered.load(std::memory_order_relaxed);
    // An answer may be counted before its question is.
    if (static_cast<int32_t>(open) <= 0) continue;
    ++told;
    write_line_in_handler(
        "asked: rank {} owes {} answer(s) to parts of operations that went to it as messages", rank,
        open);
  }
}

}  // namespace causeway
