// The progress thread: one per process, if the configuration wants it (`threads:`). It receives,
// so it runs handlers, and moves on what is under way. Clients of every threading mode may have
// it: locking is raised before it starts.
#pragma once

#include <gasnetex.h>

namespace causeway {

class Client;

// Does the process have the thread, or will it get it with its next GASNet client? What
// gex_System_QueryHiddenAMConcurrencyLevel speaks of: `threads.progress` is thread, or it is auto
// and a client that needs the thread has started.
bool progress_thread_configured();

// The thread has been started: somebody polls while the program computes.
bool progress_thread_runs();

// At the end of the initialisation of every client: the first one that is to have the thread
// starts it, or, with GEX_FLAG_DEFER_THREADS, prepares it for the client to start. Throws Error.
void start_progress_thread(const Client& client);

// At exit(), before the library's own objects go, and before this process counts as leaving: the
// thread keeps still from then on, and does not end. Waits for it; again does nothing.
void stop_progress_thread();

// The answer of gex_System_QueryProgressThreads, once per client.
struct DeferredThreads {
  const char* refusal;  // NULL, or why not
  unsigned count;
  const gex_ProgressThreadInfo_t* info;
};
DeferredThreads deferred_progress_threads(const Client& client);

}  // namespace causeway
