// Waiter: how every wait in the library waits. Spins while there is hope, then yields, then
// sleeps, so that more ranks than processors still finish. Each step polls once.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/waits.h"

namespace causeway {

// Threads that sleep in a wait now: they wake for what arrives, and poll. Relaxed: a hint.
[[gnu::visibility("hidden")]] inline std::atomic<uint32_t> sleeping_waiters{0};

// Lets another thread or process have the processor now and then, for a client that polls in a loop
// of its own: called after each 16th poll in vain in a row.
[[gnu::cold]] void yield_between_polls(uint32_t vain_polls);

// How all waits of the process behave from now on: as the configuration's `waiting:` says, without
// ever sleeping, or sleeping as soon as there is nothing to do. Any thread.
enum class WaitMode { configured, spin, block };
void set_wait_mode(WaitMode mode);

class Waiter {
 public:
  Waiter() = default;
  // Polls; when nothing happened for long enough, yields or sleeps.
  void step();
  // The next step sleeps. A caller whose subject has a sleep word says so there, and looks once
  // more.
  bool is_sleepy() const { return sleepy_; }
  // Something moved that step() did not see: it starts anew.
  void forget_idleness();
  // Is no other rank known to wait for this processor?
  static bool spins_long();

 protected:
  explicit Waiter(WaitSubject* subject) : named_(true), subject_(subject) {}
  // The wait is over.
  void end() {
    if (__builtin_expect(entered_, 0)) leave_wait(*subject_);
  }

 private:
  void rest();
  void enter(uint64_t now);

  uint32_t idle_ = 0;     // polls in a row without an event
  bool entered_ = false;  // among the waits that have lasted (base/waits.h)
  bool napped_ = false;   // the last rest was a nap
  bool sleepy_ = false;
  const bool named_ = false;  // not GASNET_BLOCKUNTIL()
  union {
    uint64_t began_ns_ = 0;  // when it first yielded; of a wait without a name
    WaitSubject* subject_;
  };
  // When spinning or yielding began; 0: neither has. From a poll that moved bytes on anew.
  uint64_t since_ = 0;
  uint64_t rested_ = 0;  // when the last yield or nap was over; 0: none since the last event
};

// A wait that says what it is for.
class WaiterFor : public Waiter {
 public:
  explicit WaiterFor(WaitSubject subject) : Waiter(&subject_), subject_(subject) {}
  ~WaiterFor() { end(); }
  WaiterFor(const WaiterFor&) = delete;
  WaiterFor& operator=(const WaiterFor&) = delete;

 private:
  WaitSubject subject_;
};

}  // namespace causeway
