// Order that comes about through another process, told to the thread sanitizer, which sees only
// one. In every other build all of this is empty.
//
// Whichever thread polls stores into a client's memory, and loads from it, for other ranks. Its
// order with the client's own accesses is real, but two of its links lie in the other process. Let
// thread T serve rank B and thread C be the client's:
//   T stores for B, then sends an answer: the header of a record in B's ring, release (shm:
//   TxLane::publish, or a network's queue). B polls it, acquire, goes on, and sends or signals in
//   turn, release: a record in this rank's ring, a signal or a post of a collective (frames.h), a
//   notification of GASPI. C finds that, acquire, or is told by the thread that found it, and
//   loads.
//
//   C loads or stores, then sends or signals, release; B finds it, acquire, and asks for the next
//   access, release; T finds the question in this rank's ring, acquire, and stores.
//
// Here the ends in this process are tied to each other: what left before to what is served after
// (note_sent, ServesPeer), and what was served before to what comes in after (ServesPeer,
// note_heard).
//
// The same where the library's own thread runs a handler of the client's (threads.progress). Let T
// be that thread:
//   C stores, then sends or signals, release; B finds it, acquire, and sends the message, release;
//   T finds it in this rank's ring, acquire, and its handler loads.
//
//   T's handler stores, then replies, release; B finds the reply, acquire, and sends or signals,
//   release; C finds that, acquire, and loads.
//
// Here: what left before to the handler (note_handler), and what the handler did before it
// replied to what comes in after (note_replied). Handlers that a client's thread runs are not
// tied: programs of several threads keep these apart by locks or atomics of their own.
//
// That is more order than there is: every message out counts as the one that B answers, and every
// message in as the one that B sent last. So an access that some other message happens to separate
// is not seen to race. An answer that leaves before its access is made is seen, and so is a client
// that touches the memory without having heard anything. Where nothing is served, as with memory
// that all map, nothing is tied and nothing hidden.
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
inline constexpr bool kOrderIsTold = true;
inline char what_was_sent, what_was_served;  // only their addresses matter

inline void note_sent() {
  __tsan_release(&what_was_sent);
}
inline void note_heard() {
  __tsan_acquire(&what_was_served);
}
inline void note_handler() {
  __tsan_acquire(&what_was_sent);
}
inline void note_replied() {
  __tsan_release(&what_was_served);
}
class ServesPeer {
 public:
  ServesPeer() { __tsan_acquire(&what_was_sent); }
  ~ServesPeer() { __tsan_release(&what_was_served); }
#else
inline constexpr bool kOrderIsTold = false;

// This thread is about to send a message or to raise a signal that another process sees.
inline void note_sent() {}
// This thread has found one.
inline void note_heard() {}
// This thread is the library's own, and about to run a client's handler.
inline void note_handler() {}
// This thread is the library's own, and a handler that it runs is about to send, or has just sent.
inline void note_replied() {}
// While this thread touches a client's memory for another rank; gone before the rank is answered.
class ServesPeer {
 public:
  ServesPeer() {}
  ~ServesPeer() {}
#endif
  ServesPeer(const ServesPeer&) = delete;
  ServesPeer& operator=(const ServesPeer&) = delete;
};

}  // namespace causeway
