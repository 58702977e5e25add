#include "am/thread_part.h"

#include "am/negotiated.h"

namespace causeway {

void AmThread::leave() {
  if (negotiated.kind != Negotiation::none) left_prepared(negotiated.kind, "thread ended");
}

AmThread& make_am_thread(ThreadState& thread) {
  auto& part = thread.parts[static_cast<size_t>(ThreadSlot::am)];
  part = std::make_unique<AmThread>();
  return static_cast<AmThread&>(*part);
}

}  // namespace causeway
