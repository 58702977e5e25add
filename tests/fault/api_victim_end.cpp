// Ranks that die, and ranks that leave.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <gasnet_coll.h>

#include "../slowdown.h"
#include "api_victim.h"

namespace victim {
namespace {

std::string how;
bool doomed() {
  return how != "never" && job.rank == 1 % job.size;
}

// As any program does, also where a sanitizer would make an exit status of it.
__attribute__((no_sanitize("undefined", "address"))) void store_nowhere() {
  std::signal(SIGSEGV, SIG_DFL);
  *static_cast<volatile int*>(nullptr) = 1;
}

// False: the caller returns from main.
bool end_now() {
  if (how == "kill") ::kill(::getpid(), SIGKILL);
  if (how == "segv") store_nowhere();
  if (how == "abort") std::abort();
  if (how == "exit3") std::exit(3);
  if (how == "_exit3") ::_exit(3);
  return false;
}

// SIGALRM every millisecond, which an alarm does not replace as it does setitimer()'s.
void start_timer() {
  std::signal(SIGALRM, [](int) {});
  sigevent to_process{};
  to_process.sigev_notify = SIGEV_SIGNAL;
  to_process.sigev_signo = SIGALRM;
  timer_t timer{};
  constexpr itimerspec kOften{{0, 1'000'000}, {0, 1'000'000}};
  ::timer_create(CLOCK_MONOTONIC, &to_process, &timer);
  ::timer_settime(timer, 0, &kOften, nullptr);
}

std::atomic<unsigned> arrived{0};
void on_message(gex_Token_t token) {
  arrived.fetch_add(1, std::memory_order_relaxed);
  gex_AM_ReplyShort0(token, 211, 0);
}
void on_answer(gex_Token_t) {}
void on_medium(gex_Token_t, void*, size_t) {}
void on_exit_request(gex_Token_t) {
  gasnet_exit(7);
}

void register_more() {
  gex_AM_Entry_t more[] = {{210, reinterpret_cast<gex_AM_Fn_t>(&on_message),
                            GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "message"},
                           {211, reinterpret_cast<gex_AM_Fn_t>(&on_answer),
                            GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr, "answer"},
                           {212, reinterpret_cast<gex_AM_Fn_t>(&on_exit_request),
                            GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "exit"},
                           {213, reinterpret_cast<gex_AM_Fn_t>(&on_medium),
                            GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, nullptr, "medium"}};
  if (gex_EP_RegisterHandlers(job.ep, more, 4) != GASNET_OK) gasnet_exit(94);
}

void storm(unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    for (gex_Rank_t rank = 0; rank < job.size; ++rank) gex_AM_RequestShort0(job.tm, rank, 210, 0);
}

void gets_without_end(bool until_dead) {
  char got[65536];
  for (unsigned i = 0;; ++i) {
    if (until_dead && i == 20 && !end_now()) return;
    for (gex_Rank_t rank = 0; rank < job.size; ++rank)
      gex_RMA_GetBlocking(job.tm, got, rank, peer_segment(rank), sizeof got, 0);
  }
}

}  // namespace

bool die(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string stage = argv[0];
  how = argv[1];
  // Before the library knows: the launcher's variable tells who this is.
  if (stage == "before_init") {
    const char* rank = std::getenv("PMIX_RANK");
    if (rank != nullptr && std::atoi(rank) == 1 && !end_now()) return true;
  }
  start(&argc, &argv);
  if (stage == "before_init") leave(0);
  if (stage == "after_init") {
    if (doomed() && !end_now()) return true;
    leave(0);
  }
  register_more();
  if (stage == "attach") {
    if (doomed()) {
      ::usleep(50000);  // the others are inside by then
      if (!end_now()) return true;
    }
    attach();
    leave(0);
  }
  attach();
  if (stage == "barrier") {
    if (doomed()) {
      ::usleep(50000);
      if (!end_now()) return true;
    }
    leave(0);
  }
  if (stage == "sleep") {
    // All but the last wait for it inside the library, with nothing to do.
    if (job.rank == job.size - 1) ::pause();
    leave(0);
  }
  if (stage == "storm") {
    if (how == "never") say("all are storming\n");
    if (!doomed()) storm(100000000);
    storm(2000);
    if (!end_now()) return true;
  }
  if (stage == "get") {
    gets_without_end(doomed());
    return true;
  }
  if (stage == "exit") {
    // Long enough for the doomed to have left the barrier of attach(), where it would hear of this.
    if (!doomed()) {
      ::usleep(100000);
      gasnet_exit(0);
    }
    ::usleep(400000);
    end_now();
    return true;
  }
  return false;
}

namespace {

void caught_and_leave(int) {
  say("caught SIGQUIT\n");
  gasnet_exit(6);
}
// What needs peers that have left while this rank, which has not heard of it, looked elsewhere.
void call_those_who_left(const std::string& what) {
  static std::byte here[4096];
  if (what == "late_message") storm(1);
  for (gex_Rank_t rank = 0; rank < job.size; ++rank) {
    if (rank == job.rank) continue;
    if (what == "late_medium")
      gex_AM_RequestMedium0(job.tm, rank, 213, here, sizeof here, GEX_EVENT_NOW, 0);
  }
  if (what == "late_barrier") gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  if (what == "late_broadcast")
    gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, 0, here, here, sizeof here, 0));
  if (what == "late_team") {
    gex_TM_t half;
    gex_TM_Split(&half, job.tm, job.rank % 2, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  }
}

}  // namespace

bool depart(int argc, char** argv) {
  if (argc < 1) return false;
  const std::string scenario = argv[0];
  if (scenario == "named_behind_main") std::atexit([] { gasnet_exit(6); });
  start(&argc, &argv);
  register_more();
  if (scenario == "at_once") gasnet_exit(0);  // before a segment is attached
  if (scenario == "return") return true;      // from main, without gasnet_exit
  // Before anybody has sent anything: no message tells of the leave.
  if (scenario.rfind("late_", 0) == 0) {
    if (job.rank != 2) gasnet_exit(0);
    // In a build with the leak checker they are looked at before they leave.
    ::usleep(static_cast<useconds_t>(300000 * kSlowdown * kSlowdown));
    call_those_who_left(scenario);
    gasnet_exit(1);
  }
  attach();
  const bool last = job.rank == job.size - 1;
  if (scenario == "all_zero") leave(0);
  if (scenario == "child_leaves") {
    const pid_t child = ::fork();
    if (child == 0) gasnet_exit(3);
    int status = 0;
    if (::waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3) gasnet_exit(95);
    barrier();
    leave(0);
  }
  if (scenario == "return_after_barrier" || scenario == "named_behind_main") {
    barrier();
    return true;
  }
  if (scenario == "last_words") {
    // As every program ends: a barrier, what is still to be written, the exit.
    for (int i = 0; i < 5; ++i) barrier();
    const std::string name = std::string(argv[1]) + "/" + std::to_string(job.rank);
    std::FILE* const file = std::fopen(name.c_str(), "w");
    if (file == nullptr || std::fclose(file) != 0) gasnet_exit(95);
    std::printf("last words of %u\n", job.rank);
    gasnet_exit(0);
  }
  if (scenario == "farewell") {
    // A library that is loaded after this one, as those of conduits are, and ends in its own way.
    void* const library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    auto* const end_by = library == nullptr
                             ? nullptr
                             : reinterpret_cast<int (*)(const char*)>(::dlsym(library, "end_by"));
    if (end_by == nullptr) gasnet_exit(96);
    barrier();
    std::exit(end_by(argv[2]));
  }
  if (scenario == "return_early") {
    barrier();
    if (job.rank != 0) return true;
    ::usleep(1'500'000);  // all the others are gone: with timeouts.exit=0.5s
    say("rank 0 goes on\n");
    return true;
  }
  if (scenario == "exit_early") {
    if (last) std::exit(5);
    barrier();
  }
  if (scenario == "all_seven") {
    ::signal(SIGQUIT, caught_and_leave);
    barrier();
    gasnet_exit(7);
  }
  if (scenario == "zero_then_twelve") {
    ::signal(SIGQUIT, caught_and_leave);
    barrier();
    if (job.rank == 0) gasnet_exit(0);
    if (last) {
      ::usleep(100'000);
      gasnet_exit(12);
    }
    compute(60);
  }
  if (scenario == "under_timer") start_timer();
  if (scenario == "unflushed" || scenario == "under_timer") {
    // Output in stdio buffers is part of "flush all I/O".
    std::printf("buffered by %u\n", job.rank);
    leave(0);
  }
  if (scenario == "stuck") {
    // As where the handler that leaves has interrupted a thread inside of stdio.
    std::thread([] {
      ::flockfile(stdout);
      ::sleep(60);
    }).detach();
    ::usleep(200000);
    gasnet_exit(7);
  }
  if (scenario == "one_while_others_compute") {
    if (last) gasnet_exit(5);
    compute(60);
  }
  if (scenario == "one_while_others_sleep") {
    if (last) gasnet_exit(5);
    ::sleep(60);
  }
  if (scenario == "one_while_others_wait") {
    if (last) gasnet_exit(5);
    barrier();
  }
  if (scenario == "zero_while_others_wait") {
    if (last) gasnet_exit(0);
    barrier();
  }
  if (scenario == "with_quit_handler") {
    ::signal(SIGQUIT, caught_and_leave);
    barrier();
    if (last) gasnet_exit(5);
    compute(60);
  }
  if (scenario == "all_different") gasnet_exit(10 + static_cast<int>(job.rank));
  if (scenario == "from_handler") {
    if (job.rank == 0) gex_AM_RequestShort0(job.tm, job.size - 1, 212, 0);
    barrier();
    GASNET_BLOCKUNTIL(arrived.load(std::memory_order_relaxed) == 1000000000);
  }
  if (scenario == "from_thread") {
    if (last) {
      std::thread([] { gasnet_exit(8); }).detach();
      compute(60);
    }
    barrier();
  }
  if (scenario == "from_many_threads") {
    for (int i = 0; i < 4; ++i) std::thread([] { gasnet_exit(9); }).detach();
    compute(60);
  }
  return false;
}

}  // namespace victim
