// Waiter: how every wait in the library waits. Spins while there is hope, then yields, then
// sleeps, so that more ranks than processors still finish. Each step polls once.
#pragma once

#include <cstdint>

namespace causeway {

class Waiter {
 public:
  Waiter();
  // Polls; when nothing happened for long enough, yields or sleeps.
  void step();

 private:
  void rest();

  uint32_t idle_ = 0;  // polls in a row without an event
};

}  // namespace causeway
