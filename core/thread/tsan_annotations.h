// Annotations for ThreadSanitizer, which sees one process only: order that comes about through
// another process. In builds without ThreadSanitizer all of this is empty.
//
// Whichever thread polls stores into a client's memory, and loads from it, for other ranks. The
// order of these accesses with the client's own is real, but two links of it lie in the other
// process. Let thread T serve rank B and thread C be the client's:
//   T stores for B, then sends an answer: the header of a record in B's ring, release (shm:
//   TxLane::publish, or a network's queue). B polls it, acquire, goes on, and sends or signals in
//   turn, release: a record in this rank's ring, a signal or a post of a collective (frames.h), a
//   notification of GASPI. C finds that, acquire, or is told by the thread that found it, and
//   loads.
//
//   C loads or stores, then sends or signals, release; B finds it, acquire, and asks for the next
//   access, release; T finds the request in this rank's ring, acquire, and stores.
//
// The annotations tie the ends in this process to each other: messages that left before to requests
// served after (annotate_send, AnnotatePeerAccess), and requests served before to messages that
// come in after (AnnotatePeerAccess, annotate_receive).
//
// The same holds where the library's own thread runs a handler of the client's (threads.progress).
// Let T be that thread:
//   C stores, then sends or signals, release; B finds it, acquire, and sends the message, release;
//   T finds it in this rank's ring, acquire, and its handler loads.
//
//   T's handler stores, then replies, release; B finds the reply, acquire, and sends or signals,
//   release; C finds that, acquire, and loads.
//
// The annotations tie messages that left before to the handler (annotate_handler), and what the
// handler did before it replied to messages that come in after (annotate_reply). Handlers that a
// client's thread runs are not tied: programs of several threads keep these apart by locks or
// atomics of their own.
//
// The annotations state more order than there is: every message out counts as the one that B
// answers, and every message in as the one that B sent last. So an access that some other message
// happens to separate is not seen to race. An answer that leaves before its access is made is seen,
// and so is a client that touches the memory without having heard anything. Where no thread serves
// requests, as with memory that all ranks map, nothing is tied and nothing is hidden.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define CAUSEWAY_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAUSEWAY_THREAD_SANITIZER 1
#endif
#endif

#if defined(CAUSEWAY_THREAD_SANITIZER)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace causeway {

#if defined(CAUSEWAY_THREAD_SANITIZER)
inline constexpr bool kThreadSanitizer = true;
extern char what_was_sent, what_was_served;  // only their addresses matter

inline void annotate_send() {
  __tsan_release(&what_was_sent);
}
inline void annotate_receive() {
  __tsan_acquire(&what_was_served);
}
inline void annotate_handler() {
  __tsan_acquire(&what_was_sent);
}
inline void annotate_reply() {
  __tsan_release(&what_was_served);
}
class AnnotatePeerAccess {
 public:
  AnnotatePeerAccess() { __tsan_acquire(&what_was_sent); }
  ~AnnotatePeerAccess() { __tsan_release(&what_was_served); }
#else
inline constexpr bool kThreadSanitizer = false;

// This thread is about to send a message or to raise a signal that another process sees.
inline void annotate_send() {}
// This thread has found such a message or signal.
inline void annotate_receive() {}
// This thread is the library's own, and about to run a client's handler.
inline void annotate_handler() {}
// This thread is the library's own, and a handler that it runs is about to send, or has just sent.
inline void annotate_reply() {}
// Lives while this thread touches a client's memory for another rank; ends before the answer.
class AnnotatePeerAccess {
 public:
  AnnotatePeerAccess() {}
  ~AnnotatePeerAccess() {}
#endif
  AnnotatePeerAccess(const AnnotatePeerAccess&) = delete;
  AnnotatePeerAccess& operator=(const AnnotatePeerAccess&) = delete;
};

}  // namespace causeway
