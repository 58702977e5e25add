// Waits that have lasted: what each thread of this process waits for and since when, so that a rank
// that hangs can be asked (process/asked.h). Waits that end soon are never entered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace causeway {

// What a wait is for, told to a person when it lasts.
struct WaitSubject {
  const char* call;  // as diagnoses name it, "gex_Event_Wait()"; a literal
  // "a put to rank 3"; called by the waiting thread, outside of locks. NULL: nothing more is known.
  std::string (*what)(const void* arg) = nullptr;
  const void* arg = nullptr;
  uint64_t began_ns = 0;  // when the wait first yielded
};

// Enters a wait of the calling thread, which has one entry at most: the wait within a wait stays
// out, and so does what finds no room. `call` is a literal, `what` is copied and cut to fit.
// `since_ns`: of now_ns(). True when the wait is entered; its end calls leave_wait() then.
bool enter_wait(const char* call, std::string_view what, uint64_t since_ns);
// Takes the calling thread's entry out, if there is one.
void leave_wait();

// For as long as the object lives; for waits that poll nothing, such as an exchange at the start.
class WaitEntry {
 public:
  WaitEntry(const char* call, std::string_view what);
  ~WaitEntry();
  WaitEntry(const WaitEntry&) = delete;
  WaitEntry& operator=(const WaitEntry&) = delete;

 private:
  bool entered_;
};

// Writes a line of the log for each wait, or one that says that there is none. May be called in a
// handler of a signal.
void tell_waits();

}  // namespace causeway
