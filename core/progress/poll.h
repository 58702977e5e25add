// Polling: one pass over everything that can move forward.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "connection/conduit_set.h"

namespace causeway {

class Endpoint;

// A thread of the client's has polled since somebody last looked and took it back. Relaxed: a hint.
// Written by polls that find it false alone, so that they share the line while it is true.
[[gnu::visibility("hidden")]] inline std::atomic<bool> client_polled{false};
// Relaxed: set once.
[[gnu::visibility("hidden")]] inline std::atomic<bool> progress_thread_polls{false};

// A pass over every conduit endpoint, pending emulated operations and collectives. Returns how many
// things happened. From client context only; a nested call does nothing.
uint32_t poll_once();
// The same for a client, which may call it in a loop until something has come: lets others have the
// processor now and then.
uint32_t poll_for_client();

// Delivers replies only: what a request handler may do while it waits for room to reply. Yields
// when nothing arrives.
void poll_replies(const ConduitEps& ceps);

void add_to_poll(const ConduitEps& ceps);
// A conduit that was not needed when its endpoint started, and now is.
void add_to_poll(ConduitEp& cep);
// A thread that polls meanwhile may still be walking over what `ep` has, so there must be none: this is for
// the start that failed. Endpoints that have started stay until the process ends.
void remove_from_poll(const Endpoint& ep);
// Polls find nothing from now on: the process ends by exit() or a return from main. Threads of the
// client's may go on polling while libraries end, whose objects a poll would otherwise walk into.
// Returns when those that are in a poll have come out, at most a second later: a handler of messages
// may never come back.
void end_polls();
// Looks again at how each conduit has to be entered, after its locking was raised. No thread polls
// meanwhile; none ever meets a table without the conduits.
void refresh_poll();

// Sets the function that an interface has called in every poll, beside the rooms below it: it
// returns how many things happened. Set once, before its first message; may be entered by several
// threads at once.
void set_poll_hook(uint32_t (*hook)());

// Names of the conduits that a poll visits, separated by commas, and how many of them make system
// calls then, which those that end naps do not: at least 1.
std::string polled_conduits();
uint32_t polled_networks();

// Sleeps until something may have arrived, at most `max_ns`. Where a conduit cannot wake anybody the
// sleep is a small part of `waited_ns`, how long there has been nothing to do.
void nap(uint64_t max_ns, uint64_t waited_ns = UINT64_MAX);

}  // namespace causeway
