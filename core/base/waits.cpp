#include "base/waits.h"

#include <unistd.h>

#include <atomic>
#include <string_view>

#include "base/log.h"

namespace causeway {

thread_local constinit const WaitSubject* entered_subject = nullptr;

namespace {

WaitEntries g_own_entries;
// Relaxed: set while one thread is in the library, before it waits.
std::atomic<WaitEntries*> g_entries{&g_own_entries};
thread_local constinit WaitEntry* t_entry __attribute__((tls_model("initial-exec"))) = nullptr;

WaitEntries& entries() {
  return *g_entries.load(std::memory_order_relaxed);
}

WaitEntry* claim() {
  for (WaitEntry& entry : entries()) {
    uint32_t expected = WaitEntry::free;
    if (entry.state.load(std::memory_order_relaxed) != expected) continue;
    if (entry.state.compare_exchange_strong(expected, WaitEntry::written, std::memory_order_acquire,
                                            std::memory_order_relaxed))
      return &entry;
  }
  return nullptr;
}

bool tell(const WaitEntry& entry) {
  WaitEntry::Told wait;
  if (!entry.read(wait)) return false;
  const uint64_t waited_ms = (now_ns() - wait.since_ns) / 1'000'000;
  write_line_in_handler("asked: {} has waited for {}.{} s for {} (thread {})", wait.call,
                        waited_ms / 1000, waited_ms / 100 % 10, wait.what, wait.thread);
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
  WaitEntry* const entry = claim();
  if (entry == nullptr) return false;
  entry->round.fetch_add(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // what follows is not seen before that
  const std::string what =
      subject.what != nullptr ? subject.what(subject.arg) : "another rank or thread";
  WaitEntry::Told& told = entry->told;
  told = {::gettid(), since_ns, {}, {}};
  std::string_view(subject.call).copy(told.call, sizeof told.call - 1);
  what.copy(told.what, sizeof told.what - 1);
  entry->state.store(WaitEntry::readable, std::memory_order_release);
  t_entry = entry;
  entered_subject = &subject;
  return true;
}

void show_waits(WaitEntries& where) {
  g_entries.store(&where, std::memory_order_relaxed);
}

void forget_wait() {
  if (t_entry == nullptr) return;
  t_entry->state.store(WaitEntry::free, std::memory_order_release);
  t_entry = nullptr;
  entered_subject = nullptr;
}

void tell_waits(uint32_t in_handlers) {
  bool any = in_handlers != 0;
  if (any) write_line_in_handler("asked: the handler of a message runs");
  for (const WaitEntry& entry : entries()) any |= tell(entry);
  if (!any)
    write_line_in_handler(
        "asked: no call of the library waits for long here; the program computes, waits elsewhere, "
        "starts or ends");
}

}  // namespace causeway
