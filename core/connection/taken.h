// Messages taken over from a conduit that delivers inside of a lock: its own (CWYC_LOCKED), or that
// of its endpoint here (CWYC_SERIAL). Where several threads may enter, no handler runs in there, so
// that no call waits for another thread's handler.
//
// Invariants
// - The upcall takes the message and its payload over; the thread that polls runs the handlers when
//   it has left the lock. Other threads may enter meanwhile, and run what waits.
// - A thread leaves when no message of its lane waits. So messages wait only while the threads that
//   took them run handlers, and for each of these threads about kTakenAtOnce at most.
// - Replies go first, and alone where a request's handler polls for room: a reply's handler sends
//   nothing and ends, whatever requests wait for.
// - Handlers of a lane begin in the order of delivery; those on several threads run side by side.
// - No thread holds a lock of a conduit while it runs a handler, so replies may leave by any
// conduit.
// - Whether the sender's epoch is still the one in force is looked at when the handler is to run. A
//   message outlives its connection, as one whose handler runs already does.
// - A payload that the conduit lets this process keep (am_retain) is not copied; it goes back when
//   its handler has run.
// A message that a posting call delivers to its own process is not taken over.
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <list>
#include <mutex>

#include "thread/thread_buffer.h"

namespace causeway {

struct ConduitEp;

class TakenMessages {
 public:
  void take(ConduitEp& cep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
            uint32_t nargs, void* payload, size_t length);
  // Runs the handlers of all that wait, or with CWYC_PROGRESS_REPLIES of replies alone; how many.
  uint32_t run(ConduitEp& cep, uint32_t lane);
  // Gives back what messages that will never run have kept: before the endpoint closes.
  void drop(ConduitEp& cep);

 private:
  struct Message {
    cwy_peer from;
    uint64_t word;
    uint32_t kind, nargs;
    int32_t args[CWYC_AM_MAX_ARGS];
    void* payload;
    size_t length;
    bool kept;  // the payload is the conduit's, by this name
    void* name;
    ThreadBuffer copy;  // else: of a medium's payload; the next one's too
  };
  using Messages = std::list<Message>;

  bool next(Messages& running, uint32_t lane);

  std::mutex mutex_;  // guards the lists
  Messages requests_, replies_, idle_;
  // Relaxed: a hint. Who took a message sees it, and runs what others overlook.
  std::atomic<size_t> waiting_{0};
};

// The upcall of such conduits.
void deliver_or_take(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                     const int32_t* args, uint32_t nargs, void* payload, size_t length);

// Polls such a conduit, if no other thread does, and runs what was taken over.
uint32_t progress_and_run(ConduitEp& cep, uint32_t budget, uint32_t lane);

}  // namespace causeway
