// Waiting in the raw loops: as the library waits while a message is near, by looking again at once.
#pragma once

#include <sched.h>

namespace causeway::bench::raw {

// Gives the core away now and then, so that a loop still ends when its partner has to share this
// core: soon when it is known that ranks share cores, late otherwise, where it only matters when
// another program takes the partner's core.
class Spinner {
 public:
  explicit Spinner(bool cores_are_shared) : looks_(cores_are_shared ? 16 : 1 << 16) {}
  void step() {
    if (++turns_ % looks_ == 0) sched_yield();
  }

 private:
  unsigned looks_;
  unsigned turns_ = 0;
};

}  // namespace causeway::bench::raw
