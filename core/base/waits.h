// Waits that have lasted: what each thread of this process waits for and since when, so that a rank
// that hangs can be asked (process/stops.h). Waits that end soon are never entered.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/status_page.h"

namespace causeway {

// The purpose of a wait, told to a person when it lasts.
struct WaitSubject {
  const char* call;  // as diagnoses name it, "gex_Event_Wait()"; a literal
  // "a put to rank 3"; called by the waiting thread, outside of locks. NULL: nothing more is known.
  std::string (*what)(const void* arg) = nullptr;
  const void* arg = nullptr;
  uint64_t began_ns = 0;  // when the wait first yielded
  // Memory that others look at when they have written what is waited for, and clear when they wake
  // the waiting thread. NULL: messages wake it.
  const std::atomic<uint32_t>* sleep_word = nullptr;
  uint64_t limit_ns = UINT64_MAX;  // the waiting call ends then, as now_ns() counts
};

// The subject of the calling thread's entry; NULL: it has none.
extern thread_local constinit const WaitSubject* entered_subject
    __attribute__((tls_model("initial-exec")));
// Takes out the entry of the calling thread; also when it ends, having left a wait by longjmp().
void forget_wait();

// Enters a wait of the calling thread, which has one entry at most: an outer wait's goes first, but
// for GASNET_BLOCKUNTIL()'s. `since_ns`: of now_ns(). The address of `subject` names the entry,
// which leave_wait() takes out. False: it is not in the list.
bool enter_wait(const WaitSubject& subject, uint64_t since_ns);
inline void leave_wait(const WaitSubject& subject) {
  if (__builtin_expect(entered_subject == &subject, 0)) forget_wait();
}

// A shorter wait is nobody's question.
inline constexpr uint64_t kLastingNs = 100'000'000;

// A wait that no Waiter steps. It enters itself when it has lasted, and leaves at its end.
class LastingWait {
 public:
  explicit LastingWait(WaitSubject subject) : subject_(subject), since_(now_ns()) {}
  ~LastingWait() { leave_wait(subject_); }
  LastingWait(const LastingWait&) = delete;
  LastingWait& operator=(const LastingWait&) = delete;
  // To be called now and then.
  void look() {
    if (entered_subject != &subject_ && now_ns() - since_ >= kLastingNs)
      enter_wait(subject_, since_);
  }

 private:
  WaitSubject subject_;
  const uint64_t since_;
};

// GASNET_BLOCKUNTIL()'s: the macro's end does not name the waiter, and may be skipped.
extern const WaitSubject block_until_subject;

// Waits that are entered from now on stand there. While one thread is in the library.
void show_waits(WaitEntries& where);

// Writes a line for each wait, and for handlers that so many threads are in, or one that says that
// there is neither. For handlers of signals.
[[gnu::cold]] void tell_waits(uint32_t in_handlers);

}  // namespace causeway
