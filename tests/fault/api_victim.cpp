#include "api_victim.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace victim {

Job job;

void start(int* argc, char*** argv, gex_Flags_t flags) {
  const int status = gex_Client_Init(&job.client, &job.ep, &job.tm, "VICTIM", argc, argv, flags);
  if (status != GASNET_OK) std::exit(90);
  job.rank = gex_TM_QueryRank(job.tm);
  job.size = gex_TM_QuerySize(job.tm);
}

void attach() {
  register_handlers();
  if (gex_Segment_Attach(&job.segment, job.tm, kSegmentBytes) != GASNET_OK) gasnet_exit(91);
  barrier();
}

void register_one(gex_AM_Index_t index, gex_AM_Fn_t handler, gex_Flags_t kind) {
  gex_AM_Entry_t entry = {index, handler, kind, 0, nullptr, "one"};
  if (gex_EP_RegisterHandlers(job.ep, &entry, 1) != GASNET_OK) gasnet_exit(94);
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
}

void leave(int status) {
  barrier();
  gasnet_exit(status);
}

std::byte* peer_segment(gex_Rank_t rank) {
  void* owner = nullptr;
  // Asked inside handlers and under locks too, where nothing may be waited for.
  gex_EP_QueryBoundSegmentNB(job.tm, rank, &owner, nullptr, nullptr, GEX_FLAG_IMMEDIATE);
  return static_cast<std::byte*>(owner);
}

gex_TM_t team_lacking(gex_EP_Capabilities_t missing, bool guilty) {
  gex_EP_t ep = GEX_EP_INVALID;
  gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_ALL & ~(guilty ? missing : 0), 0);
  std::vector<gex_EP_Location_t> args;
  for (gex_Rank_t r = 0; r < job.size; ++r) args.push_back({r, gex_EP_QueryIndex(ep)});
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Create(&tm, 1, job.tm, args.data(), args.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return tm;
}

void say(const char* text) {
  [[maybe_unused]] const ssize_t written = ::write(1, text, std::strlen(text));
}

void compute(double seconds) {
  static volatile double sink = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < until)
    for (int i = 0; i < 1000; ++i) sink = sink + i;
}

}  // namespace victim

int main(int argc, char** argv) {
  using namespace victim;
  if (argc < 2) return 92;
  const std::string_view kind = argv[1];
  if (kind == "die" && die(argc - 2, argv + 2)) return 0;
  if (kind == "depart" && depart(argc - 2, argv + 2)) return 0;
  if (kind == "exit_with" && exit_with(argc - 2, argv + 2)) return 0;
  if (kind == "left" && left(argc - 2, argv + 2)) return 0;
  if (kind == "asked" && asked(argc - 2, argv + 2)) return 0;
  start(&argc, &argv);
  if (kind == "hello") {
    attach();
    char line[64];
    std::snprintf(line, sizeof line, "hello from %u of %u\n", job.rank, job.size);
    say(line);
    leave(0);
  }
  if (kind == "attach_too_much") {
    const uintptr_t size = job.rank == 1 ? uintptr_t{1} << 50 : kSegmentBytes;
    const int answer = gex_Segment_Attach(&job.segment, job.tm, size);
    char line[64];
    std::snprintf(line, sizeof line, "rank %u was refused: %d\n", job.rank, answer != GASNET_OK);
    say(line);
    barrier();  // every rank must still be able to get here
    gasnet_exit(0);
  }
  if (kind == "unattached")
    register_handlers();
  else
    attach();
  // Rank 1 does wrong (rank 0 where it is alone); the others wait and must be released.
  const bool guilty = job.rank == job.size - 1;
  if (kind == "coll" && argc > 2) {
    say(misuse_coll(argv[2], guilty) ? "nothing was noticed\n" : "no such scenario\n");
    leave(0);
  }
  if (kind == "atomic" && argc > 2) {
    say(misuse_atomic(argv[2], guilty) ? "nothing was noticed\n" : "no such scenario\n");
    leave(0);
  }
  if (guilty && argc > 2) {
    const bool by_call = kind == "misuse" || kind == "unattached";
    const bool known = by_call                ? misuse(argv[2])
                       : kind == "in_handler" ? misuse_in_handler(argv[2])
                                              : false;
    // The second barrier ends after the others have handled what came before the first.
    if (known) barrier();
    if (known) barrier();
    say(known ? "nothing was noticed\n" : "no such scenario\n");
    gasnet_exit(known ? 0 : 93);
  }
  barrier();
  barrier();
  // The guilty rank leaves first and takes the others along: an exit of theirs could reach it
  // before it has seen the end of the barrier, and its own would never be made.
  for (int i = 0; i < 50'000; ++i) {
    gasnet_AMPoll();
    ::usleep(100);
  }
  gasnet_exit(0);
}
