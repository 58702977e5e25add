// The library's own thread (`threads.progress: thread`), as clients of every mode see it. Without
// it in the configuration most cases are skipped; the build runs these programs both ways.
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "atomics.h"

using spec::job;

namespace {

bool have_thread() {
  if (gex_System_QueryHiddenAMConcurrencyLevel() != 0) return true;
  spec::skip_case("threads.progress is none");
  return false;
}

// Waits without entering the library, as a program that computes: true when it came true.
template <typename Condition>
bool compute_until(Condition condition) {
  const double limit = spec::seconds_now() + 60;
  while (!condition()) {
    if (spec::seconds_now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

std::atomic<unsigned> handled{0}, replied{0}, elsewhere{0};
pthread_t main_thread;
void on_reply(gex_Token_t) {
  replied.fetch_add(1, std::memory_order_release);
}
spec::Handler reply(&on_reply, GEX_FLAG_AM_REPLY, "progress reply");
void on_request(gex_Token_t token) {
  if (!pthread_equal(pthread_self(), main_thread))
    elsewhere.fetch_add(1, std::memory_order_relaxed);
  gex_AM_ReplyShort0(token, reply, 0);
  handled.fetch_add(1, std::memory_order_release);
}
spec::Handler request(&on_request, GEX_FLAG_AM_REQUEST, "progress request");

void reset() {
  main_thread = pthread_self();
  handled.store(0, std::memory_order_relaxed);
  replied.store(0, std::memory_order_relaxed);
  elsewhere.store(0, std::memory_order_relaxed);
  spec::barrier();
}

}  // namespace

// The macros promise no less than what can run.
SPEC_CASE(progress_threads, macros) {
  CHECK(GASNET_HIDDEN_AM_CONCURRENCY_LEVEL >= gex_System_QueryHiddenAMConcurrencyLevel());
  CHECK_EQ(GASNET_RCV_THREAD, 1);
  CHECK_EQ(GASNET_SND_THREAD, 1);
  CHECK(GEX_THREAD_ROLE_RCV != 0 && GEX_THREAD_ROLE_SND != 0);
  CHECK_EQ(GEX_THREAD_ROLE_RCV & GEX_THREAD_ROLE_SND, 0u);
}

// This client deferred nothing; wrong arguments are refused first or last, but refused.
SPEC_CASE(progress_threads, nothing_deferred) {
  unsigned count = 7;
  const gex_ProgressThreadInfo_t* info = nullptr;
  gex_System_SetVerboseErrors(0);
  CHECK_EQ(gex_System_QueryProgressThreads(job().client, &count, &info, 0), GASNET_ERR_RESOURCE);
  CHECK(gex_System_QueryProgressThreads(job().client, nullptr, &info, 0) != GASNET_OK);
  CHECK(gex_System_QueryProgressThreads(job().client, &count, nullptr, 0) != GASNET_OK);
  CHECK(gex_System_QueryProgressThreads(job().client, &count, &info, 1) != GASNET_OK);
  gex_System_SetVerboseErrors(1);
}

// Would catch a thread that is not there, or that does not receive: nobody polls here until every
// request was handled and every reply came back.
SPEC_CASE(progress_threads, receives_while_all_compute) {
  if (!have_thread()) return;
  for (unsigned round = 0; round < spec::scaled(10, 2); ++round) {
    reset();
    const unsigned count = 10;
    for (unsigned i = 0; i < count; ++i) gex_AM_RequestShort0(job().tm, job().peer(), request, 0);
    CHECK(compute_until([&] {
      return handled.load(std::memory_order_acquire) == count &&
             replied.load(std::memory_order_acquire) == count;
    }));
    // A request to oneself is handled where it is sent; a rank alone hears of nobody else.
    if (job().size == 1) continue;
    spec::barrier();
  }
}

// Handlers really run beside the program, not in it.
SPEC_CASE(progress_threads, handlers_run_elsewhere, 2) {
  if (!have_thread()) return;
  std::byte* const left = spec::segment_of(0, spec::kScratchOffset);
  const auto mine = [&] { return std::atomic_ref(*reinterpret_cast<uint64_t*>(left)); };
  if (job().rank == 0) mine().store(0, std::memory_order_release);
  reset();
  if (job().rank == 1) {
    // The request comes when rank 0 is out of the library and stays out.
    while (gex_RMA_GetBlockingVal(job().tm, 0, left, 8, 0) == 0) gasnet_AMPoll();
    gex_AM_RequestShort0(job().tm, 0, request, 0);
  }
  if (job().rank == 0) {
    mine().store(1, std::memory_order_release);
    CHECK(compute_until([] { return handled.load(std::memory_order_acquire) == 1; }));
    CHECK_EQ(elsewhere.load(std::memory_order_relaxed), 1u);
  }
  if (job().rank == 1)
    CHECK(compute_until([] { return replied.load(std::memory_order_acquire) == 1; }));
  spec::barrier();
}

// Explicit operations complete without a call that makes progress: gex_Event_Test makes none.
SPEC_CASE(progress_threads, completes_operations) {
  if (!have_thread()) return;
  const gex_Rank_t rank = job().peer();
  const size_t bytes = 100000;
  std::vector<char> data(bytes), got(bytes);
  std::byte* const place = spec::segment_of(rank, size_t{1} << 20);
  spec::barrier();
  for (unsigned round = 0; round < 5; ++round) {
    spec::fill(data.data(), bytes, round * 100 + job().rank);
    gex_Event_t put = gex_RMA_PutNB(job().tm, rank, place, data.data(), bytes, GEX_EVENT_DEFER, 0);
    CHECK(compute_until([&] { return gex_Event_Test(put) == GASNET_OK; }));
    gex_Event_t get = gex_RMA_GetNB(job().tm, got.data(), rank, place, bytes, 0);
    CHECK(compute_until([&] { return gex_Event_Test(get) == GASNET_OK; }));
    CHECK(got == data);
    gex_RMA_PutNBI(job().tm, rank, place, got.data(), bytes, GEX_EVENT_DEFER, 0);
    CHECK(compute_until([] { return gex_NBI_Test(GEX_EC_ALL, 0) == GASNET_OK; }));
  }
  spec::barrier();
}

// Atomics and puts by message are performed at a rank that computes.
SPEC_CASE(progress_threads, serves_while_owner_computes, 2) {
  if (!have_thread()) return;
  const atomics::Domain ad(GEX_DT_U64, GEX_OP_FADD);
  auto* const word = reinterpret_cast<uint64_t*>(spec::segment_of(0, spec::kScratchOffset));
  auto* const done = reinterpret_cast<uint64_t*>(spec::segment_of(0, spec::kScratchOffset + 64));
  if (job().rank == 0) *word = *done = 0;
  spec::barrier();
  const unsigned each = spec::scaled(50, 5);
  if (job().rank == 0) {
    // Read as the peers' atomics would leave it, by this processor's own atomic load.
    const std::atomic_ref<uint64_t> finished(*done);
    CHECK(
        compute_until([&] { return finished.load(std::memory_order_acquire) == job().size - 1; }));
    CHECK_EQ(std::atomic_ref<uint64_t>(*word).load(std::memory_order_acquire),
             uint64_t{each} * (job().size - 1));
  } else {
    uint64_t old;
    for (unsigned i = 0; i < each; ++i)
      gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, 0, word, GEX_OP_FADD, 1, 0, 0));
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, 0, done, GEX_OP_FADD, 1, 0, GEX_FLAG_AD_REL));
  }
}

namespace {
gex_HSL_t hsl = GEX_HSL_INITIALIZER;
unsigned guarded = 0;  // under `hsl` only
void on_guarded(gex_Token_t) {
  gex_HSL_Lock(&hsl);
  ++guarded;
  gex_HSL_Unlock(&hsl);
}
spec::Handler guarded_request(&on_guarded, GEX_FLAG_AM_REQUEST, "guarded request");
unsigned read_guarded() {
  gex_HSL_Lock(&hsl);
  const unsigned value = guarded;
  gex_HSL_Unlock(&hsl);
  return value;
}
}  // namespace

// Handlers share data with the program through handler-safe locks, in GASNET_SEQ too.
SPEC_CASE(progress_threads, locks_are_real) {
  gex_HSL_Lock(&hsl);
  guarded = 0;
  gex_HSL_Unlock(&hsl);
  spec::barrier();
  const unsigned count = spec::scaled(500, 50);
  unsigned mine = 0;
  for (unsigned i = 0; i < count; ++i) {
    gex_AM_RequestShort0(job().tm, job().peer(), guarded_request, 0);
    gex_HSL_Lock(&hsl);
    ++guarded;
    ++mine;
    gex_HSL_Unlock(&hsl);
  }
  GASNET_BLOCKUNTIL(read_guarded() == count + mine);
  spec::barrier();
}

// The client's own waits and polls beside the thread's: neither loses what the other took.
SPEC_CASE(progress_threads, waits_beside_the_thread) {
  reset();
  const unsigned count = spec::scaled(400, 40);
  for (unsigned i = 1; i <= count; ++i) {
    gex_AM_RequestShort0(job().tm, job().peer(), request, 0);
    if (i % 4 == 0) gasnet_AMPoll();
    if (i % 32 == 0) GASNET_BLOCKUNTIL(replied.load(std::memory_order_acquire) >= i);
  }
  GASNET_BLOCKUNTIL(replied.load(std::memory_order_acquire) == count);
  GASNET_BLOCKUNTIL(handled.load(std::memory_order_acquire) == count);
  spec::barrier();
}

// `threads.cpus` binds the thread and nothing else. The build runs this case with `spread`.
SPEC_CASE(progress_threads, bound_to_one_processor) {
  if (!have_thread()) return;
  if (std::getenv("SPEC_BOUND") == nullptr) {
    spec::skip_case("threads.cpus is any");
    return;
  }
  unsigned found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(entry.path() / "comm") >> name;
    if (name != "cwy-progress") continue;
    ++found;
    cpu_set_t set;
    CPU_ZERO(&set);
    const auto id = static_cast<pid_t>(std::stol(entry.path().filename().string()));
    CHECK_EQ(sched_getaffinity(id, sizeof set, &set), 0);
    CHECK_EQ(CPU_COUNT(&set), 1);
  }
  CHECK_EQ(found, 1u);
}

#ifdef GASNET_PAR
// Client threads that exit with implicit operations under way: they complete all the same.
SPEC_CASE(progress_threads, leaving_operations_behind) {
  const gex_Rank_t rank = job().peer();
  const size_t bytes = 50000;
  std::byte* const place = spec::segment_of(rank, size_t{1} << 20);
  std::vector<std::vector<char>> data(8, std::vector<char>(bytes));
  for (unsigned i = 0; i < 8; ++i) {
    spec::fill(data[i].data(), bytes, job().rank * 100 + i);
    std::thread([&, i] {
      if (i % 2) gex_NBI_BeginAccessRegion(0);  // never ended
      gex_RMA_PutNBI(job().tm, rank, place + i * bytes, data[i].data(), bytes, GEX_EVENT_DEFER, 0);
    }).join();
  }
  std::vector<char> got(bytes);
  for (unsigned i = 0; i < 8; ++i) {
    // Nobody can wait for them any more; they arrive when they arrive.
    const double limit = spec::seconds_now() + 60;
    do {
      gex_RMA_GetBlocking(job().tm, got.data(), rank, place + i * bytes, bytes, 0);
    } while (got != data[i] && spec::seconds_now() < limit);
    CHECK(got == data[i]);
  }
  spec::barrier();
}
#endif
