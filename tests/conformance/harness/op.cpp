#include "op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "loader/one_line.h"
#include "plugin_host.h"

namespace causeway::conformance {
namespace {

std::string bits_text(uint32_t bits) {
  if (bits == CWYC_DONE_LOCAL) return "LOCAL";
  if (bits == CWYC_DONE_REMOTE) return "REMOTE";
  if (bits == (CWYC_DONE_LOCAL | CWYC_DONE_REMOTE)) return "LOCAL|REMOTE";
  return fmt::format("{:#x}", bits);
}

}  // namespace

void Op::arm(const char* what, uint32_t required, uint32_t final_bit) {
  raw_ = {};
  raw_.fn = report;
  raw_.state = 0x6f70206f70206f70u;
  for (uint64_t& word : raw_.scratch) word = 0xc0ffee00c0ffee00u;
  what_ = what;
  required_ = required;
  final_ = final_bit;
}

void Op::after_post(cwy_status answer, const cwyc_op& before) {
  // Acquire/release on seen_ and state_: a report may come on another thread (CWYC_MULTI).
  const uint32_t seen = seen_.load(std::memory_order_acquire);
  if (answer == CWY_INPROGRESS) {
    state_.store(kPosted, std::memory_order_release);
    return;
  }
  if (!is_status(answer))
    PluginHost::violation(fmt::format("{}: answered {}", what_, reason({}, answer)));
  if (seen != 0) {
    PluginHost::violation(fmt::format("{}: reported {} and answered {}", what_, bits_text(seen),
                                      status_name(answer)));
  }
  if (answer == CWY_RETRY && std::memcmp(&before, &raw_, sizeof raw_) != 0) {
    PluginHost::violation(fmt::format("{}: answered RETRY but changed the cwyc_op", what_));
  }
  if (answer == CWY_OK) {
    rest();
    state_.store(kImmediate, std::memory_order_release);
    return;
  }
  state_.store(answer == CWY_RETRY ? kIdle : kRefused, std::memory_order_release);
  if (answer != CWY_RETRY) status_.store(answer, std::memory_order_release);
}

// Relaxed: ordered by the status behind it.
bool Op::explained() const {
  return explained_.load(std::memory_order_relaxed);
}

void Op::report(cwyc_op* raw, uint32_t what, cwy_status status, const cwy_detail* detail) {
  Op* op = reinterpret_cast<Op*>(raw);  // standard layout up to raw_: first member
  const uint32_t state = op->state_.load(std::memory_order_acquire);
  if (state != kPosted && state != kPosting) {
    PluginHost::violation(fmt::format("{}: reported {} after the call had answered {}", op->what_,
                                      bits_text(what), state == kImmediate ? "OK" : "an error"));
    return;
  }
  if (what == 0 || (what & ~uint32_t{CWYC_DONE_LOCAL | CWYC_DONE_REMOTE}) != 0) {
    PluginHost::violation(fmt::format("{}: reported the mask {:#x}", op->what_, what));
  }
  if (op->required_ == CWYC_DONE_LOCAL && (what & CWYC_DONE_REMOTE) != 0)
    PluginHost::violation(fmt::format("{}: reported REMOTE, and has LOCAL alone", op->what_));
  if (status == CWY_INPROGRESS || status == CWY_RETRY || !is_status(status)) {
    PluginHost::violation(
        fmt::format("{}: reported with status {}", op->what_, reason({}, status)));
  }
  if (detail != nullptr && detail->text != nullptr && *detail->text != '\0')
    op->explained_.store(true, std::memory_order_relaxed);
  if (is_error(status)) op->status_.store(status, std::memory_order_release);
  const uint32_t seen = op->seen_.fetch_or(what, std::memory_order_acq_rel);
  if ((seen & what) != 0) {
    PluginHost::violation(fmt::format("{}: {} reported twice", op->what_, bits_text(seen & what)));
  } else if ((seen & op->final_) != 0) {
    PluginHost::violation(
        fmt::format("{}: {} reported after {}, when the op was no longer the "
                    "conduit's",
                    op->what_, bits_text(what), bits_text(op->final_)));
  }
  const uint32_t now = seen | what;
  if ((now & op->final_) != 0 && (now & op->required_) != op->required_ && !is_error(status)) {
    PluginHost::violation(fmt::format("{}: {} reported without {}", op->what_,
                                      bits_text(op->final_), bits_text(op->required_ & ~now)));
  }
  if (is_error(status) || (now & op->final_) != 0) op->rest();
  if (is_error(status)) {
    op->seen_.fetch_or(op->required_, std::memory_order_release);
  }
}

namespace {
constexpr uint64_t kResting = 0x7265737472657374u;
}

// Release/acquire: somebody else may look (OpPool).
void Op::rest() {
  raw_.state = kResting;
  for (uint64_t& word : raw_.scratch) word = kResting;
  resting_.store(true, std::memory_order_release);
}

bool Op::disturbed() const {
  if (!resting_.load(std::memory_order_acquire)) return false;
  return raw_.fn != report || raw_.state != kResting ||
         std::any_of(std::begin(raw_.scratch), std::end(raw_.scratch),
                     [](uint64_t word) { return word != kResting; });
}

bool Op::done() const {
  return has(required_);
}

bool Op::has(uint32_t bits) const {
  const uint32_t state = state_.load(std::memory_order_acquire);
  if (state == kImmediate || state == kRefused) return true;
  return (seen_.load(std::memory_order_acquire) & bits) == bits;
}

cwy_status Op::status() const {
  return status_.load(std::memory_order_acquire);
}

Op& OpPool::get(const char* what, uint32_t required, uint32_t final_bit) {
  const std::lock_guard guard(lock_);
  Op& op = ops_.emplace_back();
  op.arm(what, required, final_bit);
  return op;
}

Op& OpPool::put(const char* what) {
  return get(what, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWYC_DONE_REMOTE);
}
Op& OpPool::fetch(const char* what) {
  return get(what, CWYC_DONE_REMOTE, CWYC_DONE_REMOTE);
}
Op& OpPool::am(const char* what) {
  return get(what, CWYC_DONE_LOCAL, CWYC_DONE_LOCAL);
}

OpPool::~OpPool() {
  if (const std::string what = disturbed(); !what.empty())
    PluginHost::violation(what + ": the cwyc_op was written to after its last bit");
}

std::string OpPool::disturbed() const {
  const std::lock_guard guard(lock_);
  for (const Op& op : ops_)
    if (op.disturbed()) return op.what_;
  return "";
}

size_t OpPool::unfinished() const {
  const std::lock_guard guard(lock_);
  size_t count = 0;
  for (const Op& op : ops_) {
    const uint32_t state = op.state_.load(std::memory_order_acquire);
    if (state == Op::kPosted && !op.done()) ++count;
  }
  return count;
}

std::string OpPool::describe_unfinished() const {
  const std::lock_guard guard(lock_);
  std::map<std::string, size_t> counts;
  for (const Op& op : ops_) {
    if (op.state_.load(std::memory_order_acquire) == Op::kPosted && !op.done()) ++counts[op.what_];
  }
  std::string text;
  for (const auto& [what, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  return text;
}

}  // namespace causeway::conformance
