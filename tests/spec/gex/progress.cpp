// gasnet_AMPoll and GASNET_BLOCKUNTIL.
#include <unistd.h>

#include <atomic>

#include "../harness.h"

using spec::job;

namespace {
std::atomic<unsigned> count{0};
void on_count(gex_Token_t) {
  count.fetch_add(1, std::memory_order_release);
}
spec::Handler count_handler(&on_count, GEX_FLAG_AM_REQUEST, "count");

// A token that goes round: each rank passes it on only when it wakes up for it.
std::atomic<int> token_at_me{0};
void on_token(gex_Token_t, gex_AM_Arg_t lap) {
  token_at_me.store(lap, std::memory_order_release);
}
spec::Handler token_handler(&on_token, GEX_FLAG_AM_REQUEST, "ring token");
}  // namespace

SPEC_CASE(progress, poll_runs_handlers) {
  count.store(0, std::memory_order_relaxed);
  spec::barrier();
  CHECK_EQ(gasnet_AMPoll(), GASNET_OK);
  gex_AM_RequestShort0(job().tm, job().peer(), count_handler, 0);
  const double limit = spec::seconds_now() + 30;
  while (count.load(std::memory_order_acquire) == 0 && spec::seconds_now() < limit)
    CHECK_EQ(gasnet_AMPoll(), GASNET_OK);
  CHECK_EQ(count.load(std::memory_order_acquire), 1u);
  spec::barrier();
}

// A condition that holds already costs no wait, and is evaluated at least once.
SPEC_CASE(progress, blockuntil_true_at_once) {
  int evaluated = 0;
  GASNET_BLOCKUNTIL(++evaluated > 0);
  CHECK(evaluated >= 1);
}

// It is one statement: usable without braces, and several times in one scope.
SPEC_CASE(progress, blockuntil_is_one_statement) {
  int i = 0;
  if (i == 0)
    GASNET_BLOCKUNTIL(++i > 3);
  else
    GASNET_BLOCKUNTIL(true);
  CHECK_EQ(i, 4);
  for (int round = 0; round < 3; ++round) GASNET_BLOCKUNTIL(true);
}

// Would catch a lost wake-up: sleepers are woken by one message, in quick and in slow succession.
SPEC_CASE(progress, ring) {
  const int laps = static_cast<int>(spec::scaled(1000, 20));
  token_at_me.store(0, std::memory_order_relaxed);
  spec::barrier();
  for (int lap = 1; lap <= laps; ++lap) {
    if (job().rank != 0 || lap > 1)
      GASNET_BLOCKUNTIL(token_at_me.load(std::memory_order_acquire) ==
                        (job().rank == 0 ? lap - 1 : lap));
    gex_AM_RequestShort1(job().tm, job().peer(), token_handler, 0, lap);
  }
  if (job().rank == 0) GASNET_BLOCKUNTIL(token_at_me.load(std::memory_order_acquire) == laps);
  spec::barrier();
}

SPEC_CASE(progress, wakes_after_long_sleep) {
  count.store(0, std::memory_order_relaxed);
  spec::barrier();
  if (job().rank == 0) {
    usleep(200000);  // the others have gone to sleep by then
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      gex_AM_RequestShort0(job().tm, rank, count_handler, 0);
  }
  const double start = spec::seconds_now();
  GASNET_BLOCKUNTIL(count.load(std::memory_order_acquire) == 1);
  CHECK(spec::seconds_now() - start < 30);
  spec::barrier();
}

// A rank that computes for long without calling in does not stop the others from sending to it.
SPEC_CASE(progress, busy_receiver) {
  count.store(0, std::memory_order_relaxed);
  spec::barrier();
  const unsigned each = 50;
  if (job().rank == 0) usleep(100000);
  for (unsigned i = 0; i < each; ++i) gex_AM_RequestShort0(job().tm, 0, count_handler, 0);
  if (job().rank == 0)
    GASNET_BLOCKUNTIL(count.load(std::memory_order_acquire) == each * job().size);
  spec::barrier();
}
