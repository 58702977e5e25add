// What the stand-ins for drivers with streams and events (CUDA, HIP) share: both number their
// answers alike.
#pragma once

#include "simulated.h"

#define ENTRY extern "C" __attribute__((visibility("default"))) int

namespace standin {

inline int code(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return 0;
    case Outcome::not_ready:
      return 600;
    case Outcome::invalid:
      return 1;
    case Outcome::no_memory:
      return 2;
    case Outcome::no_device:
      return 100;
    case Outcome::unsupported:
      return 801;
    case Outcome::forked:
      return 3;
    case Outcome::lost:
      break;
  }
  return 719;
}

inline bool valid(int device) {
  return device >= 0 && device < device_count();
}

struct Event {
  Queue* queue = nullptr;
  uint64_t place = 0;
};
inline int record(void* event, void* stream) {
  auto* const queue = static_cast<Queue*>(stream);
  *static_cast<Event*>(event) = {queue, mark(queue)};
  return 0;
}
inline int query(void* event) {
  const Event& e = *static_cast<Event*>(event);
  return e.queue == nullptr ? 0 : code(reached(e.queue, e.place));
}
// pin() and unpin() as both drivers answer them.
inline int lock(void* addr, size_t bytes) {
  return pin(addr, bytes) == Outcome::ok ? 0 : 712;
}
inline int unlock(void* addr) {
  return unpin(addr) == Outcome::ok ? 0 : 713;
}

}  // namespace standin
