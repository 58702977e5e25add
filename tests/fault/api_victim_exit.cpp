// A rank ends the job with a code: exit_with WAY CODE RANK. The others wait for it in a barrier,
// or compute, and catch SIGQUIT as the field's programs do: with a handler that leaves with 4.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include <gasnet_coll.h>

#include "api_victim.h"

namespace victim {
namespace {

std::atomic<int> code{0};

void leave_with_code() {
  gasnet_exit(code.load(std::memory_order_relaxed));
}
void on_signal(int) {
  leave_with_code();
}
void on_quit(int) {
  say("caught SIGQUIT\n");
  gasnet_exit(4);
}
void on_leave_request(gex_Token_t) {
  leave_with_code();
}
void on_ask(gex_Token_t token) {
  gex_AM_ReplyShort0(token, 222, 0);
}
void on_leave_reply(gex_Token_t) {
  leave_with_code();
}

void register_ways() {
  register_one(220, reinterpret_cast<gex_AM_Fn_t>(&on_leave_request),
               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST);
  register_one(221, reinterpret_cast<gex_AM_Fn_t>(&on_ask),
               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST);
  register_one(222, reinterpret_cast<gex_AM_Fn_t>(&on_leave_reply),
               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY);
}

// The rank that leaves; what sends for it to leave comes to it while it waits.
void leave_by(const std::string& way) {
  if (way == "main") leave_with_code();
  if (way == "exit") std::exit(code.load(std::memory_order_relaxed));
  if (way == "thread") std::thread(leave_with_code).detach();
  if (way == "reply") gex_AM_RequestShort0(job.tm, job.peer(), 221, 0);
  if (way == "signal") {
    ::signal(SIGALRM, on_signal);
    ::ualarm(20'000, 0);
  }
  barrier();  // which others join as late as this rank leaves: never
}

}  // namespace

bool exit_with(int argc, char** argv) {
  if (argc < 3) return false;
  const std::string way = argv[0];
  code.store(std::atoi(argv[1]), std::memory_order_relaxed);
  const auto leaver = static_cast<gex_Rank_t>(std::atoi(argv[2]));
  start(&argc, &argv);
  register_ways();
  attach();
  ::signal(SIGQUIT, on_quit);
  barrier();
  if (way == "all") leave_with_code();
  if (way == "request" && job.rank == (leaver + 1) % job.size)
    gex_AM_RequestShort0(job.tm, leaver, 220, 0);
  if (job.rank == leaver) leave_by(way);
  // At least one rank beside the leaver stays in the library: it may have to answer.
  if (job.rank != (leaver + 1) % job.size && job.rank % 2 == 1) compute(60);
  for (;;) gasnet_AMPoll();
}

}  // namespace victim
