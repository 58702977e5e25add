// Rank 0 waits for rank 1, which makes no calls until the job is ended from outside.
#include <unistd.h>

#include <cstddef>
#include <map>
#include <string>

#include <gasnetex.h>

#include "api_victim.h"

namespace victim {
namespace {

std::byte here[64];

void put() {
  gex_RMA_PutBlocking(job.tm, 1, peer_segment(1), here, sizeof here, 0);
}
void get_event() {
  gex_Event_Wait(gex_RMA_GetNB(job.tm, here, 1, peer_segment(1), sizeof here, 0));
}
void implicit_puts() {
  for (size_t i = 0; i < 2; ++i)
    gex_RMA_PutNBI(job.tm, 1, peer_segment(1), here, sizeof here, GEX_EVENT_GROUP, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
void block_until() {
  GASNET_BLOCKUNTIL(job.size == 0);
}
// Messages that have nothing to do with the condition come all the time.
void block_until_among_messages() {
  if (job.rank == 0) block_until();
  for (;; ::usleep(1000))
    gex_AM_RequestMedium0(job.tm, 0, handler("payload"), here, sizeof here, GEX_EVENT_NOW, 0);
}
// The thread has locked it already: a program's mistake, which nobody else ends.
void lock() {
  static gex_HSL_t twice = GEX_HSL_INITIALIZER;
  gex_HSL_Lock(&twice);
  gex_HSL_Lock(&twice);
}
// Messages to the next three ranks, from every rank, until the job is ended from outside.
void load() {
  for (gex_Rank_t i = 0;; i = (i + 1) % 3)
    gex_AM_RequestMedium0(job.tm, (job.rank + 1 + i) % job.size, handler("payload"), here,
                          sizeof here, GEX_EVENT_NOW, 0);
}
void sleep_for_ever() {
  for (;;) ::usleep(100'000);
}
void sleep_in_handler(gex_Token_t) {
  sleep_for_ever();
}
// Rank 0 becomes another program, rank 1 does not come out of a handler.
void leave_by_exec() {
  if (job.rank == 0) ::execlp("sleep", "sleep", "1000", nullptr);
  constexpr gex_AM_Index_t sleeps = 200;
  register_one(sleeps, reinterpret_cast<gex_AM_Fn_t>(sleep_in_handler),
               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST);
  gex_AM_RequestShort0(job.tm, job.rank, sleeps, 0);
}

}  // namespace

bool asked(int argc, char** argv) {
  static const std::map<std::string, void (*)()> all = {
      {"put", put},
      {"get_event", get_event},
      {"implicit_puts", implicit_puts},
      {"barrier", barrier},
      {"block_until", block_until},
      {"lock", lock},
      {"among_messages", block_until_among_messages},
      {"load", load},
      {"nothing", sleep_for_ever},
      {"exec", leave_by_exec},
  };
  const auto wait = argc < 1 ? all.end() : all.find(argv[0]);
  if (wait == all.end()) return false;
  start(&argc, &argv);
  attach();
  peer_segment(job.peer());
  barrier();
  say("at it\n");
  const bool by_all = wait->second == load || wait->second == leave_by_exec ||
                      wait->second == block_until_among_messages;
  if (job.rank == 0 || by_all) wait->second();
  sleep_for_ever();
  return true;
}

}  // namespace victim
