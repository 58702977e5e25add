// A client that does one thing wrong, or dies at one moment, as its arguments say. The tests run
// it under `causeway run` and look at what the user sees.
#pragma once

#include <gasnetex.h>

#include <cstddef>
#include <string>

namespace victim {

struct Job {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_Rank_t rank, size;
  gex_Rank_t peer() const { return (rank + 1) % size; }
};
extern Job job;

constexpr gex_AM_Index_t kNobody = 200;  // never registered
constexpr size_t kSegmentBytes = size_t{1} << 20;

void start(int* argc, char*** argv, gex_Flags_t flags = 0);  // gex_Client_Init
void attach();                                               // handlers, segment, barrier
void barrier();
[[noreturn]] void leave(int status);  // barrier, gasnet_exit
std::byte* peer_segment(gex_Rank_t rank);
// A team of an endpoint of every rank that was created with every capability, but for `missing` on
// the guilty one. Collective.
gex_TM_t team_lacking(gex_EP_Capabilities_t missing, bool guilty);
// Says something on stdout with one write; usable in signal handlers.
void say(const char* text);
// Without a call of the library.
void compute(double seconds);

// Each knows its scenarios by name; false when it does not know this one.
bool misuse(const char* scenario);
bool misuse_checked(const std::string& scenario);  // what only `checks: full` notices
bool misuse_in_handler(const char* scenario);
// Called by every rank; the guilty one does wrong.
bool misuse_atomic(const char* scenario, bool guilty);
void keep_a_lock();
bool misuse_coll(const char* scenario, bool guilty);
bool die(int argc, char** argv);     // die STAGE HOW: rank 1 (or 0 in a job of one); never: nobody
bool depart(int argc, char** argv);  // exits of every kind
bool exit_with(int argc, char** argv);  // exit_with WAY CODE RANK
bool asked(int argc, char** argv);      // asked WHAT: rank 0 waits for rank 1, which is idle
bool left(int argc, char** argv);       // left WHAT: what is done when the last rank has returned

// A further handler of messages without arguments; `kind`: GEX_FLAG_AM_*.
void register_one(gex_AM_Index_t index, gex_AM_Fn_t handler, gex_Flags_t kind);
void register_handlers();
gex_AM_Index_t handler(const char* name);

}  // namespace victim
