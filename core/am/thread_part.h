// State of messages per thread: its prepared send, and the buffer that it gave back last.
#pragma once

#include "am/send_buffer.h"
#include "am/src_desc.h"
#include "thread/thread_state.h"

namespace causeway {

class AmThread final : public ThreadPart {
 public:
  // Ends the job where something is prepared: nobody can commit it any more.
  void leave() override;

  NegotiatedSend negotiated;
  SendBufferCache send_buffers;
};

AmThread& make_am_thread(ThreadState& thread);

inline AmThread& am_thread(ThreadState& thread) {
  ThreadPart* const part = thread.part(ThreadSlot::am);
  return __builtin_expect(part != nullptr, 1) ? static_cast<AmThread&>(*part)
                                              : make_am_thread(thread);
}

}  // namespace causeway
