#include "base/waits.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "base/clock.h"
#include "base/log.h"

namespace causeway {

thread_local constinit const WaitSubject* entered_subject = nullptr;

namespace {

// The thread that claimed an entry writes it; a handler of a signal reads it, on any thread.
struct Entry {
  enum State : uint32_t { free, written, readable };
  // Release by its thread when the rest is written; acquire by readers, which look once more behind
  // their copy and pass over an entry that has changed meanwhile.
  std::atomic<uint32_t> state{free};
  std::atomic<uint32_t> round{0};  // entries of this place so far
  pid_t thread = 0;
  const char* call = nullptr;
  uint64_t since_ns = 0;
  size_t length = 0;
  std::array<char, 160> what{};
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "read in handlers of signals");

std::array<Entry, 64> g_entries;
thread_local constinit Entry* t_entry __attribute__((tls_model("initial-exec"))) = nullptr;

Entry* claim() {
  for (Entry& entry : g_entries) {
    uint32_t expected = Entry::free;
    if (entry.state.load(std::memory_order_relaxed) != expected) continue;
    if (entry.state.compare_exchange_strong(expected, Entry::written, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
      return &entry;
    }
  }
  return nullptr;
}

bool tell(const Entry& entry) {
  if (entry.state.load(std::memory_order_acquire) != Entry::readable) return false;
  const uint32_t round = entry.round.load(std::memory_order_relaxed);
  const uint64_t waited_ms = (now_ns() - entry.since_ns) / 1'000'000;
  std::array<char, 320> line;
  const auto end = fmt::format_to_n(
      line.data(), line.size(), "asked: {} has waited for {}.{} s for {} (thread {})", entry.call,
      waited_ms / 1000, waited_ms / 100 % 10, std::string_view(entry.what.data(), entry.length),
      entry.thread);
  std::atomic_thread_fence(std::memory_order_acquire);  // the copy is made before the second look
  if (entry.state.load(std::memory_order_relaxed) != Entry::readable ||
      entry.round.load(std::memory_order_relaxed) != round) {
    return false;
  }
  write_line_in_handler({line.data(), std::min(end.size, line.size())});
  return true;
}

}  // namespace

const WaitSubject block_until_subject{"GASNET_BLOCKUNTIL()", [](const void*) -> std::string {
                                        return "a condition of the program's";
                                      }};

bool enter_wait(const WaitSubject& subject, uint64_t since_ns) {
  if (entered_subject == &subject) return true;
  if (entered_subject == &block_until_subject) forget_wait();
  if (entered_subject != nullptr) return false;
  Entry* const entry = claim();
  if (entry == nullptr) return false;
  entry->round.fetch_add(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // what follows is not seen before that
  const std::string what =
      subject.what != nullptr ? subject.what(subject.arg) : "another rank or thread";
  entry->thread = ::gettid();
  entry->call = subject.call;
  entry->since_ns = since_ns;
  entry->length = what.copy(entry->what.data(), entry->what.size());
  entry->state.store(Entry::readable, std::memory_order_release);
  t_entry = entry;
  entered_subject = &subject;
  return true;
}

void forget_wait() {
  if (t_entry == nullptr) return;
  t_entry->state.store(Entry::free, std::memory_order_release);
  t_entry = nullptr;
  entered_subject = nullptr;
}

void tell_waits() {
  bool any = false;
  for (const Entry& entry : g_entries) any |= tell(entry);
  if (!any) {
    write_line_in_handler(
        "asked: no call of the library waits for long here; the program computes, waits elsewhere, "
        "starts or ends");
  }
}

}  // namespace causeway
