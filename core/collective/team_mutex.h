// TeamMutex: the mutex of what one team's collectives share between threads. Where the client has
// promised one thread at a time, and nothing of ours runs beside it, it is a mark that keeps a
// thread from entering twice: a short collective takes it several times, and a locked instruction
// each time would be a tenth of all it costs.
//
// Runtime::raise_threads() is called before a second thread exists, by a thread that holds none.
#pragma once

#include <mutex>

#include "base/context.h"
#include "base/invariant.h"

namespace causeway {

class TeamMutex {
 public:
  void lock() {
    if (__builtin_expect(context().multithreaded(), 0)) {
      mutex_.lock();
    } else {
      ensure("the one thread of a process enters a team's collectives once",
             [&] { return !held_; });
      held_ = true;
    }
  }
  bool try_lock() {
    if (__builtin_expect(context().multithreaded(), 0)) return mutex_.try_lock();
    if (held_) return false;
    held_ = true;
    return true;
  }
  void unlock() {
    if (__builtin_expect(context().multithreaded(), 0)) {
      mutex_.unlock();
    } else {
      ensure("no threads are raised while a team's mutex is held", [&] { return held_; });
      held_ = false;
    }
  }

 private:
  std::mutex mutex_;
  bool held_ = false;  // with one thread only
};

}  // namespace causeway
