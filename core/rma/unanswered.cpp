#include "rma/unanswered.h"

#include <atomic>
#include <vector>

#include "base/context.h"

namespace causeway {
namespace {

// Relaxed throughout: looked at now and then, and acted upon when they have not changed for
// seconds. They wrap; equal means that nothing is open.
struct Count {
  std::atomic<uint32_t> asked{0}, answered{0};
};
std::vector<Count>& counts() {
  static auto* const by_rank = new std::vector<Count>(context().size());
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

}  // namespace causeway
