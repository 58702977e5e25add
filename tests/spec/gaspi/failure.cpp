// Failure (GASPI 17.1, 3.9, 5.5, 8.5.4): a process is killed, or stopped for a while, and the
// others go on. Started with `causeway run --on-failure=continue`; a program of its own, because
// nothing that needs all ranks works afterwards.
//
//   spec_gaspi_failure killed [point]   rank 1 kills itself with SIGKILL at a point of the work
//   spec_gaspi_failure later            the same after a second: the launcher has heard from every
//   rank
//                                       that it has started (noticed.sh)
//   spec_gaspi_failure at usec          the same after so many microseconds of work, wherever it is
//   spec_gaspi_failure stopped          rank 1 is stopped while rank 0 waits for it
//   spec_gaspi_failure stopped_killed   rank 0 ends rank 1, which is stopped, with gaspi_proc_kill
//   spec_gaspi_failure apart            rank 1 dies, and the others end one by one
//   spec_gaspi_failure starting         rank 1 dies in its start (start_points.sh)
//   spec_gaspi_failure first            rank 1 dies right behind its start
//   spec_gaspi_failure interrupted      rank 0 ends all others with gaspi_proc_kill (listing 9)
//   spec_gaspi_failure busy usec        the same so many microseconds later, with the others in the
//                                       middle of collectives
//   spec_gaspi_failure inside usec      the same in a handler that interrupts rank 0 while it waits
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "survivors.h"

using namespace spec;

namespace {

unsigned g_point = 3;
long g_moment = -1;     // microseconds
double g_earliest = 0;  // the victim's death, on the clock of seconds_now()

constexpr gaspi_rank_t kVictim = 1;
constexpr size_t kSegment = 1u << 18;

// The victim's last words: the time, to everybody. Said again until it is nearly that of the death:
// on a busy machine words are a while under way.
constexpr gaspi_offset_t kLastWords = 250000;

void die_if(unsigned now, unsigned point, char* base) {
  if (me != kVictim || now < point || seconds_now() < g_earliest) return;
  constexpr double kNearly = 0.005;
  double time = 0;
  for (int tries = 0; tries < 50 && seconds_now() - time > kNearly; ++tries) {
    time = seconds_now();
    std::memcpy(base + kLastWords, &time, sizeof time);
    for (gaspi_rank_t r = 0; r < all; ++r)
      if (r != me) gaspi_write(0, kLastWords, r, 0, kLastWords, sizeof time, 1, 1000);
    gaspi_wait(1, 1000);
  }
  ::raise(SIGKILL);
}

// How long this thread has been ready to run without a processor, since it began; 0 where the
// system does not say.
double seconds_without_processor() {
  std::ifstream in("/proc/thread-self/schedstat");
  double ran = 0, waited = 0;
  in >> ran >> waited;
  return waited * 1e-9;
}
double waited_before = 0;  // when the last step began

// How long after those a call has said that it failed, and what a busy machine has to do with it;
// said, not judged.
void tell_delay(const char* base) {
  double then = 0;
  std::memcpy(&then, base + kLastWords, sizeof then);
  if (then == 0) return;
  std::printf("rank %u: noticed after %.1f ms, at most %.1f of them without a processor\n", me,
              (seconds_now() - then) * 1e3, (seconds_without_processor() - waited_before) * 1e3);
  std::fflush(stdout);
}

void start() {
  EXPECT(gaspi_proc_init(GASPI_BLOCK) == GASPI_SUCCESS);
  introduce_oneself();
  EXPECT(gaspi_segment_create(0, kSegment, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED) ==
         GASPI_SUCCESS);
}

// The victim lives until everybody has the segment: a death before that is a failed start.
void meet_at_victim() {
  if (me != kVictim) {
    EXPECT(gaspi_notify(0, kVictim, 100u + me, 1, 0, GASPI_BLOCK) == GASPI_SUCCESS);
    return;
  }
  for (gaspi_rank_t r = 0; r < all; ++r)
    if (r != me) EXPECT(take_note(0, 100u + r) == 1);
}

// Work that touches everything, until the failure shows. The victim dies before step `point`.
void work_until_failure(unsigned point, char* base) {
  for (unsigned i = 0; i < 100000; ++i) {
    die_if(i, point, base);
    waited_before = seconds_without_processor();
    const auto next = static_cast<gaspi_rank_t>((me + 1) % all);
    gaspi_return_t results[4];
    std::memset(base, static_cast<int>(i), 20000);
    results[0] =
        gaspi_write_notify(0, 0, next, 0, 100000, i % 2 == 0 ? 8 : 20000, 0, i + 1, 0, 1000);
    results[1] = in_portions([](gaspi_timeout_t t) { return gaspi_wait(0, t); });
    int one = 1, sum = 0;
    results[2] = in_portions([&](gaspi_timeout_t t) {
      return gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, t);
    });
    if (results[2] == GASPI_SUCCESS) EXPECT(sum == static_cast<int>(all));
    results[3] = in_portions([&](gaspi_timeout_t t) {
      return gaspi_segment_create(5, 8192, GASPI_GROUP_ALL, t, GASPI_ALLOC_DEFAULT);
    });
    if (results[3] == GASPI_SUCCESS) EXPECT(gaspi_segment_delete(5) == GASPI_SUCCESS);
    for (const gaspi_return_t r : results) {
      EXPECT(r == GASPI_SUCCESS || r == GASPI_ERROR);  // never a time-out: it was noticed
      if (r != GASPI_SUCCESS) return;
    }
  }
  EXPECT(!"the failure never showed");
}

// The survivors, without the victim: queues are purged, a group commits, and work goes on over
// segments that kept their data.
void go_on(char* base) {
  const double end = seconds_now() + kPatience;
  while (!is_corrupt(kVictim) && seconds_now() < end) ::usleep(1000);
  for (gaspi_rank_t r = 0; r < all; ++r) EXPECT(is_corrupt(r) == (r == kVictim));
  EXPECT(gaspi_write(0, 0, kVictim, 0, 0, 8, 7, GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(gaspi_wait(7, GASPI_BLOCK) == GASPI_ERROR);
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_ERROR);
  gaspi_atomic_value_t old = 0;
  EXPECT(gaspi_atomic_fetch_add(0, 0, kVictim, 1, &old, GASPI_BLOCK) == GASPI_ERROR);
  EXPECT(gaspi_passive_send(0, 0, kVictim, 8, GASPI_BLOCK) == GASPI_ERROR);
  EXPECT(gaspi_proc_ping(kVictim, GASPI_BLOCK) == GASPI_ERROR);
  for (gaspi_queue_id_t q = 0; q < 8; ++q)
    EXPECT(gaspi_queue_purge(q, GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(gaspi_passive_queue_purge(GASPI_BLOCK) == GASPI_SUCCESS);
  gaspi_segment_delete(5);
  std::memset(base + 200000, 'x', 100);

  const gaspi_group_t survivors = group_without(kVictim);
  EXPECT(in_portions([&](gaspi_timeout_t t) { return gaspi_group_commit(survivors, t); }) ==
         GASPI_SUCCESS);
  int one = 1, sum = 0;
  EXPECT(gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, survivors, GASPI_BLOCK) ==
         GASPI_SUCCESS);
  EXPECT(sum == all - 1);
  EXPECT(base[200000] == 'x' && base[200099] == 'x');
  EXPECT(gaspi_segment_create(6, 4096, survivors, GASPI_BLOCK, GASPI_ALLOC_DEFAULT) ==
         GASPI_SUCCESS);
  gaspi_rank_t next = me;
  do {
    next = static_cast<gaspi_rank_t>((next + 1) % all);
  } while (next == kVictim);
  EXPECT(gaspi_write_notify(0, 200000, next, 6, 64, 100, 3, 7, 0, GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(take_note(6, 3) == 7);
  EXPECT(gaspi_wait(0, GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(gaspi_barrier(survivors, GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS);
}

// One thread of another process: is it stopped? The state follows the name in parentheses.
bool thread_is_stopped(int pid, const char* thread) {
  const std::string path = "/proc/" + std::to_string(pid) + "/task/" + thread + "/stat";
  char text[512] = {};
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return true;  // it has ended
  const size_t read = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const char* name_end = read > 0 ? std::strrchr(text, ')') : nullptr;
  return name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'T';
}

bool process_is_stopped(int pid) {
  DIR* threads = ::opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  if (threads == nullptr) return false;
  bool stopped = true;
  while (const dirent* entry = ::readdir(threads))
    if (entry->d_name[0] != '.') stopped = stopped && thread_is_stopped(pid, entry->d_name);
  ::closedir(threads);
  return stopped;
}

// A process that is stopped as long as this lives: every thread of it, not only on its way.
class Stopped {
 public:
  explicit Stopped(int pid) : pid_(pid) {
    REQUIRE(pid > 0 && ::kill(pid, SIGSTOP) == 0);
    const double end = seconds_now() + kPatience;
    while (!process_is_stopped(pid) && seconds_now() < end) ::usleep(1000);
    EXPECT(process_is_stopped(pid));
  }
  ~Stopped() { ::kill(pid_, SIGCONT); }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

 private:
  int pid_;
};

constexpr gaspi_rank_t kThird = 2;

void receive_from(gaspi_rank_t sender) {
  gaspi_rank_t from = 99;
  REQUIRE(gaspi_passive_receive(0, 128, &from, 8, 60000) == GASPI_SUCCESS && from == sender);
}

// What rank 0 sees of a rank that is stopped: time-outs, and no failure.
void look_at_stopped(int pid) {
  const Stopped victim(pid);
  constexpr gaspi_timeout_t kWhile = 300;
  EXPECT(gaspi_proc_ping(kVictim, kWhile) == GASPI_TIMEOUT);
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, kWhile) == GASPI_TIMEOUT);
  EXPECT(gaspi_passive_send(0, 0, kVictim, 8, kWhile) == GASPI_TIMEOUT);
  EXPECT(!is_corrupt(kVictim));
  receive_from(kThird);  // the stopped one's message came first, but cannot be had
}

// Calls end with a time-out while a rank is stopped, and go on when it does. The rank enters the
// barrier and receives only when it is told that it has been stopped: before, nothing that the
// others wait for can have left it.
void stop_one() {
  start();
  constexpr gaspi_notification_id_t kWasStopped = 200;
  gaspi_pointer_t base = nullptr;
  gaspi_segment_ptr(0, &base);
  static_cast<int*>(base)[0] = ::getpid();
  // It has a message for rank 0, and so has another rank, later.
  if (me == kVictim) EXPECT(gaspi_passive_send(0, 192, 0, 8, GASPI_TEST) == GASPI_TIMEOUT);
  REQUIRE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS);
  if (me == kThird) REQUIRE(gaspi_passive_send(0, 0, 0, 8, 60000) == GASPI_SUCCESS);
  if (me == 0) {
    REQUIRE(gaspi_read(0, 64, kVictim, 0, 0, 4, 0, GASPI_BLOCK) == GASPI_SUCCESS);
    REQUIRE(gaspi_wait(0, GASPI_BLOCK) == GASPI_SUCCESS);
    look_at_stopped(static_cast<int*>(base)[16]);
    REQUIRE(in_portions([](gaspi_timeout_t t) { return gaspi_proc_ping(kVictim, t); }) ==
            GASPI_SUCCESS);
    REQUIRE(gaspi_notify(0, kVictim, kWasStopped, 1, 0, GASPI_BLOCK) == GASPI_SUCCESS);
  }
  if (me == kVictim) REQUIRE(take_note(0, kWasStopped) == 1);
  REQUIRE(in_portions([](gaspi_timeout_t t) { return gaspi_barrier(GASPI_GROUP_ALL, t); }) ==
          GASPI_SUCCESS);
  if (me == kVictim) {
    REQUIRE(in_portions([](gaspi_timeout_t t) { return gaspi_passive_send(0, 192, 0, 8, t); }) ==
            GASPI_SUCCESS);
    receive_from(0);
  }
  if (me == 0) {
    receive_from(kVictim);
    REQUIRE(gaspi_passive_send(0, 0, kVictim, 8, 60000) == GASPI_SUCCESS);
  }
  REQUIRE(in_portions([](gaspi_timeout_t t) { return gaspi_proc_term(t); }) == GASPI_SUCCESS);
}

// The end of a rank reaches it also when it is stopped, and the others go on without it.
void kill_stopped_one() {
  start();
  gaspi_pointer_t base = nullptr;
  gaspi_segment_ptr(0, &base);
  static_cast<int*>(base)[0] = ::getpid();
  REQUIRE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS);
  if (me == 0) {
    REQUIRE(gaspi_read(0, 64, kVictim, 0, 0, 4, 0, GASPI_BLOCK) == GASPI_SUCCESS);
    REQUIRE(gaspi_wait(0, GASPI_BLOCK) == GASPI_SUCCESS);
  }
  // It comes last, finds that all others are there, and stops at once: they go on nevertheless.
  if (me == kVictim) ::usleep(200000);
  REQUIRE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS);
  if (me == kVictim) {
    ::raise(SIGSTOP);
    for (;;) ::pause();
  }
  if (me == 0) {
    const int pid = static_cast<int*>(base)[16];
    const double end = seconds_now() + kPatience;
    while (!process_is_stopped(pid) && seconds_now() < end) ::usleep(1000);
    REQUIRE(process_is_stopped(pid));
    EXPECT(gaspi_proc_kill(kVictim, 30000) == GASPI_SUCCESS);
  }
  go_on(static_cast<char*>(base));
}

// Started, while rank 1 died right behind its own start: nobody waits for it, here or at the end.
void lose_at_start(bool dies) {
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) std::exit(4);  // with a goodbye
  introduce_oneself();
  if (dies && me == kVictim && own_incarnation == 1) ::raise(SIGKILL);
  // A replacement is in no group yet.
  EXPECT(in_portions([](gaspi_timeout_t t) { return gaspi_barrier(GASPI_GROUP_ALL, t); }) ==
         (own_incarnation > 1 ? GASPI_ERR_INV_GROUP : GASPI_ERROR));
  EXPECT(in_portions([](gaspi_timeout_t t) { return gaspi_proc_term(t); }) == GASPI_SUCCESS);
}

// Three processes die as soon as they have registered a segment with the others, which take it when
// those have ended: each survivor reaches all other ones, loses these three, and goes on.
void lose_registering_ones() {
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) std::exit(4);
  introduce_oneself();
  EXPECT(gaspi_segment_alloc(0, 4096, GASPI_MEM_INITIALIZED) == GASPI_SUCCESS);
  const auto dies = [](gaspi_rank_t r) { return r % 4 == 1; };
  ::usleep(dies(me) ? 500'000 : 2'000'000);  // all have started; these have ended
  for (gaspi_rank_t i = 1; i < all; ++i)
    gaspi_segment_register(0, static_cast<gaspi_rank_t>((me + i) % all), GASPI_TEST);
  if (dies(me)) ::raise(SIGKILL);
  gaspi_group_t rest = 0;
  REQUIRE(gaspi_group_create(&rest) == GASPI_SUCCESS);
  for (gaspi_rank_t r = 0; r < all; ++r) {
    const auto reach = [r](gaspi_timeout_t t) { return gaspi_segment_register(0, r, t); };
    if (r != me && !dies(r)) EXPECT(in_portions(reach) == GASPI_SUCCESS);
    if (dies(r)) in_portions([r](auto) { return is_corrupt(r) ? GASPI_SUCCESS : GASPI_TIMEOUT; });
    EXPECT(is_corrupt(r) == dies(r));
    if (!dies(r)) REQUIRE(gaspi_group_add(rest, r) == GASPI_SUCCESS);
  }
  EXPECT(in_portions([&](auto t) { return gaspi_group_commit(rest, t); }) == GASPI_SUCCESS);
  EXPECT(in_portions([&](auto t) { return gaspi_barrier(rest, t); }) == GASPI_SUCCESS);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS);
}

// The survivors come to the end one by one, the first one before the loss, and the last one still
// works with it: 5.3.4 is synchronous, so nobody leaves before. Nobody waits for the dead either.
void end_apart() {
  start();
  meet_at_victim();
  if (me == kVictim) {
    ::usleep(300000);
    ::raise(SIGKILL);
  }
  const double end = seconds_now() + kPatience;
  while (me != 0 && !is_corrupt(kVictim) && seconds_now() < end) ::usleep(1000);
  ::usleep(me * 300000u);
  if (me == all - 1) {
    // A thread's first call behind a loss may tell of it.
    if (gaspi_wait(0, GASPI_BLOCK) != GASPI_SUCCESS) gaspi_queue_purge(0, GASPI_BLOCK);
    EXPECT(gaspi_write(0, 0, 0, 0, 4096, 64, 0, GASPI_BLOCK) == GASPI_SUCCESS);
    EXPECT(gaspi_wait(0, GASPI_BLOCK) == GASPI_SUCCESS);
    EXPECT(!is_corrupt(0));
  }
  const double began = seconds_now();
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS);
  if (me == all - 1) EXPECT(seconds_now() - began < 30);  // half of timeouts.exit
  if (me == all - 1 && failures == 0) std::printf("the last one: well\n");
}

void leave_on_signal(int) {
  const gaspi_return_t result = gaspi_proc_term(GASPI_BLOCK);
  ::_exit(result == GASPI_SUCCESS ? 0 : 3);
}

// Comes back on rank 0 only; the others stay, ready to be interrupted.
void start_for_interruption() {
  start();
  ::signal(SIGINT, leave_on_signal);
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS);
  if (me != 0)
    for (;;) ::pause();
}

void interrupt_others() {
  start_for_interruption();
  for (gaspi_rank_t r = 1; r < all; ++r) EXPECT(gaspi_proc_kill(r, GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS);
}

// The others are in and out of the library when they are interrupted, and leave from there.
void interrupt_busy_ones() {
  start();
  ::signal(SIGINT, leave_on_signal);
  gaspi_group_t others = 0;
  REQUIRE(gaspi_group_create(&others) == GASPI_SUCCESS);
  for (gaspi_rank_t r = 1; r < all; ++r) REQUIRE(gaspi_group_add(others, r) == GASPI_SUCCESS);
  if (me != 0) REQUIRE(gaspi_group_commit(others, GASPI_BLOCK) == GASPI_SUCCESS);
  REQUIRE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS);
  while (me != 0) REQUIRE(gaspi_barrier(others, GASPI_BLOCK) == GASPI_SUCCESS);
  ::usleep(static_cast<useconds_t>(g_moment));
  for (gaspi_rank_t r = 1; r < all; ++r) EXPECT(gaspi_proc_kill(r, GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS);
}

// Rank 0 waits for a barrier that nobody else joins when the signal comes: nearly always it is
// found inside a poll, whose locks it holds while the handler runs.
void end_others_on_signal(int) {
  bool well = true;
  for (gaspi_rank_t r = 1; r < all; ++r)
    well = gaspi_proc_kill(r, GASPI_BLOCK) == GASPI_SUCCESS && well;
  well = gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS && well;
  constexpr char kWell[] = "inside: well\n";
  if (well && ::write(STDOUT_FILENO, kWell, sizeof kWell - 1) < 0) ::_exit(4);
  ::_exit(well ? 0 : 3);
}

void interrupt_from_inside() {
  start_for_interruption();
  ::signal(SIGALRM, end_others_on_signal);
  ::ualarm(static_cast<useconds_t>(g_moment), 0);
  gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
  EXPECT(!"nobody joined this barrier");
}

}  // namespace

// Catches: survivors that hang, die too, take the wrong rank for dead, lose their memory, or cannot
// go on; calls that wait for a stopped rank beyond their time, or for it instead of for others; a
// kill that is not carried out, also where the rank is stopped; a wait in a handler for what its
// own thread holds; a barrier whose last steps leave a member only with its next call.
SPEC_CASE(failure, of_a_process) {
  start();
  gaspi_pointer_t base = nullptr;
  gaspi_segment_ptr(0, &base);
  meet_at_victim();
  if (g_moment >= 0 && me == kVictim) {
    std::thread([] {
      ::usleep(static_cast<useconds_t>(g_moment));
      ::raise(SIGKILL);
    }).detach();
  }
  work_until_failure(g_point, static_cast<char*>(base));
  tell_delay(static_cast<char*>(base));
  go_on(static_cast<char*>(base));
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "stopped") {
    stop_one();
  } else if (what == "stopped_killed") {
    kill_stopped_one();
  } else if (what == "apart") {
    end_apart();
  } else if (what == "registering") {
    lose_registering_ones();
  } else if (what == "starting") {
    lose_at_start(false);
  } else if (what == "first") {
    lose_at_start(true);
  } else if (what == "interrupted") {
    interrupt_others();
  } else if (what == "busy") {
    g_moment = argc > 2 ? std::atol(argv[2]) : 0;
    interrupt_busy_ones();
  } else if (what == "inside") {
    g_moment = argc > 2 ? std::atol(argv[2]) : 1000;
    interrupt_from_inside();
  } else {
    if (what == "later") g_earliest = seconds_now() + 1;
    if (what == "at") g_moment = argc > 2 ? std::atol(argv[2]) : 0;
    g_point = what == "at" ? ~0u : argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 3;
    failure_of_a_process();
  }
  if (me == 0 && failures == 0 && what != "apart") std::printf("%s: well\n", what.c_str());
  return failures == 0 ? 0 : 1;
}
