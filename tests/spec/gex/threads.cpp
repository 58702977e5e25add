// Several threads of one rank inside the library: at the same time (PAR) or one after another
// (PARSYNC). Events and implicit operations belong to the thread that began them.
#include "../harness.h"

#ifndef GASNET_SEQ

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

using spec::job;

namespace {

constexpr unsigned kThreads = 4;
constexpr size_t kBytes = 3000;
unsigned operations() {
  return spec::scaled(400, 20);
}

#ifdef GASNET_PARSYNC
std::mutex one_at_a_time;
struct Turn {
  std::lock_guard<std::mutex> lock{one_at_a_time};
};
#else
struct Turn {
  Turn() {}  // not trivial, so that a named object is no unused variable
};
#endif

std::byte* place(gex_Rank_t rank, unsigned thread, unsigned slot = 0) {
  return spec::segment_of(
      rank, (size_t{1} << 20) + ((size_t{job().rank} * kThreads + thread) * 8 + slot) * 4096);
}

template <typename Body>
void on_threads(Body body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back([&body, i] { body(i); });
  // In PAR the main thread takes part in progress; in PARSYNC it must stay out.
  for (std::thread& thread : threads) thread.join();
  spec::barrier();
}

std::atomic<unsigned> replies[kThreads];
std::atomic<unsigned> wrong{0};
void on_reply(gex_Token_t, void* buffer, size_t bytes, gex_AM_Arg_t thread, gex_AM_Arg_t seed) {
  if (spec::first_difference(buffer, bytes, static_cast<uint32_t>(seed)) != bytes)
    wrong.fetch_add(1, std::memory_order_relaxed);
  replies[static_cast<unsigned>(thread) % kThreads].fetch_add(1, std::memory_order_release);
}
spec::Handler reply(&on_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, "thread reply");
void on_request(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t thread,
                gex_AM_Arg_t seed) {
  if (spec::first_difference(buffer, bytes, static_cast<uint32_t>(seed)) != bytes)
    wrong.fetch_add(1, std::memory_order_relaxed);
  gex_AM_ReplyMedium2(token, reply, buffer, bytes, GEX_EVENT_NOW, 0, thread, seed);
}
spec::Handler request(&on_request, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, "thread request");

}  // namespace

SPEC_CASE(threads, messages) {
  for (auto& count : replies) count.store(0, std::memory_order_relaxed);
  spec::barrier();
  on_threads([](unsigned thread) {
    char data[256];
    for (unsigned i = 0; i < operations(); ++i) {
      const Turn turn;
      const auto seed = static_cast<gex_AM_Arg_t>(thread * 100000 + i);
      spec::fill(data, sizeof data, static_cast<uint32_t>(seed));
      gex_AM_RequestMedium2(job().tm, (job().rank + i) % job().size, request, data, sizeof data,
                            GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(thread), seed);
    }
    // A wait that holds the turn could starve the others, so it is taken for each look.
    for (bool done = false; !done;) {
      const Turn turn;
      gasnet_AMPoll();
      done = replies[thread].load(std::memory_order_acquire) == operations();
    }
  });
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
}

SPEC_CASE(threads, explicit_operations) {
  on_threads([](unsigned thread) {
    std::vector<char> data(kBytes), got(kBytes);
    for (unsigned i = 0; i < operations(); ++i) {
      const Turn turn;
      const gex_Rank_t rank = (job().rank + i) % job().size;
      spec::fill(data.data(), kBytes, thread * 1000 + i);
      gex_Event_t leaf;
      const gex_Event_t put =
          gex_RMA_PutNB(job().tm, rank, place(rank, thread, i % 8), data.data(), kBytes, &leaf, 0);
      gex_Event_Wait(leaf);
      gex_Event_Wait(put);
      gex_Event_Wait(
          gex_RMA_GetNB(job().tm, got.data(), rank, place(rank, thread, i % 8), kBytes, 0));
      CHECK(got == data);
    }
  });
}

// Large and small transfers of several threads, which find no room at times where they are made of
// messages. Would catch: two locks that a thread that begins a transfer and one that goes on with
// another's take in different orders.
SPEC_CASE(threads, large_beside_small) {
  constexpr size_t kLarge = 100'000, kRoom = size_t{128} << 10;
  on_threads([](unsigned thread) {
    std::vector<char> data(kLarge), got(kLarge);
    const size_t mine = (size_t{1} << 20) + (job().rank * kThreads + thread) * kRoom;
    if (mine + kRoom > spec::segment_bytes()) return;
    for (unsigned i = 0; i < operations() / 2; ++i) {
      const Turn turn;
      const gex_Rank_t rank = (job().rank + i) % job().size;
      std::byte* const there = spec::segment_of(rank, mine);
      spec::fill(data.data(), kLarge, thread * 1000 + i);
      const gex_Event_t put =
          gex_RMA_PutNB(job().tm, rank, there, data.data(), kLarge, GEX_EVENT_DEFER, 0);
      gex_RMA_PutBlockingVal(job().tm, rank, there + kLarge, i, 8, 0);
      CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, rank, there + kLarge, 8, 0), i);
      gex_Event_Wait(put);
      gex_RMA_GetBlocking(job().tm, got.data(), rank, there, kLarge, 0);
      CHECK(got == data);
    }
  });
}

// Each thread's implicit operations are its own: its wait makes its results good.
SPEC_CASE(threads, implicit_operations) {
  on_threads([](unsigned thread) {
    std::vector<std::vector<char>> data(8, std::vector<char>(kBytes)), got(data);
    for (unsigned i = 0; i < operations() / 8; ++i) {
      const Turn turn;
      const gex_Rank_t rank = (job().rank + i) % job().size;
      for (unsigned slot = 0; slot < 8; ++slot) {
        spec::fill(data[slot].data(), kBytes, thread * 1000 + i * 8 + slot);
        gex_RMA_PutNBI(job().tm, rank, place(rank, thread, slot), data[slot].data(), kBytes,
                       GEX_EVENT_DEFER, 0);
      }
      gex_NBI_Wait(GEX_EC_PUT, 0);
      for (unsigned slot = 0; slot < 8; ++slot)
        gex_RMA_GetNBI(job().tm, got[slot].data(), rank, place(rank, thread, slot), kBytes, 0);
      gex_NBI_Wait(GEX_EC_ALL, 0);
      CHECK(got == data);
    }
  });
}

// Regions of several threads are open at the same time and do not mix.
SPEC_CASE(threads, regions) {
  on_threads([](unsigned thread) {
    std::vector<char> data(kBytes), got(kBytes);
    for (unsigned i = 0; i < operations() / 4; ++i) {
      const Turn turn;
      const gex_Rank_t rank = (job().rank + i) % job().size;
      spec::fill(data.data(), kBytes, thread * 7000 + i);
      gex_NBI_BeginAccessRegion(0);
      gex_RMA_PutNBI(job().tm, rank, place(rank, thread), data.data(), kBytes, GEX_EVENT_DEFER, 0);
      gex_RMA_PutNBIVal(job().tm, rank, place(rank, thread, 1), i, 8, 0);
      const gex_Event_t region = gex_NBI_EndAccessRegion(0);
      gex_Event_Wait(region);
      gex_RMA_GetBlocking(job().tm, got.data(), rank, place(rank, thread), kBytes, 0);
      CHECK(got == data);
      CHECK_EQ(gex_RMA_GetBlockingVal(job().tm, rank, place(rank, thread, 1), 8, 0), i);
    }
  });
}

// Threads come and go; what the library keeps for them is released, so the limit is of live ones.
SPEC_CASE(threads, come_and_go) {
  const uint64_t limit = gex_System_QueryMaxThreads();
  const unsigned rounds = limit < 2000 ? static_cast<unsigned>(limit) + 10 : 300;
  for (unsigned i = 0; i < rounds; ++i) {
    std::thread([] {
      char got[64];
      gex_Event_Wait(gex_RMA_GetNB(job().tm, got, job().peer(), spec::segment_of(job().peer(), 0),
                                   sizeof got, 0));
      gasnet_AMPoll();
    }).join();
  }
  spec::barrier();
}

#ifdef GASNET_PAR
namespace {
std::atomic<unsigned> woken{0};
void on_wake(gex_Token_t) {
  woken.fetch_add(1, std::memory_order_release);
}
spec::Handler wake(&on_wake, GEX_FLAG_AM_REQUEST, "thread wake");
}  // namespace

// Progress although all threads sit in BLOCKUNTIL, and a waiter notices a handler that ran in
// another thread's poll.
SPEC_CASE(threads, all_blocked) {
  woken.store(0, std::memory_order_relaxed);
  spec::barrier();
  on_threads([](unsigned thread) {
    if (thread == 0) gex_AM_RequestShort0(job().tm, job().peer(), wake, 0);
    GASNET_BLOCKUNTIL(woken.load(std::memory_order_acquire) == 1);
  });
}

// One thread waits in a barrier while others communicate.
SPEC_CASE(threads, barrier_beside_traffic) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      std::vector<char> data(kBytes), got(kBytes);
      spec::fill(data.data(), kBytes, i);
      while (!stop.load(std::memory_order_relaxed)) {
        gex_RMA_PutBlocking(job().tm, job().peer(), place(job().peer(), i), data.data(), kBytes, 0);
        gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(job().peer(), i), kBytes, 0);
        CHECK(got == data);
      }
    });
  for (unsigned round = 0; round < spec::scaled(200, 10); ++round) spec::barrier();
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads) thread.join();
  spec::barrier();
}

// Catches: puts of a thread that posts now and then, which are kept back for company while another
// thread polls. They would arrive some hundred milliseconds late. The traffic goes in a single
// direction: an answer to the peer would take the puts along.
SPEC_CASE(threads, posts_now_and_then_beside_polls, 2) {
  constexpr unsigned kPosts = 250;
  constexpr gex_Rank_t to = 1;
  const auto slot = [](gex_Rank_t rank, unsigned i) {
    return spec::segment_of(rank, (size_t{3} << 20) + i * sizeof(double));
  };
  std::memset(slot(job().rank, 0), 0, kPosts * sizeof(double));
  spec::barrier();
  std::vector<double> sent(kPosts), late;
  std::thread poster;
  if (job().rank == 0)
    poster = std::thread([&] {
      for (unsigned i = 0; i < kPosts; ++i) {
        usleep(700);
        sent[i] = spec::seconds_now();
        gex_RMA_PutNBI(job().tm, to, slot(to, i), &sent[i], sizeof sent[i], GEX_EVENT_DEFER, 0);
      }
      gex_NBI_Wait(GEX_EC_ALL, 0);
    });
  // The second rank watches until all are there, the others poll for a while.
  const double limit = spec::seconds_now() + (job().rank == to ? 30 : 0.4);
  while (late.size() < kPosts && spec::seconds_now() < limit) {
    usleep(1000);
    gasnet_AMPoll();
    for (double when = 0; late.size() < kPosts; late.push_back(spec::seconds_now() - when)) {
      __atomic_load(reinterpret_cast<double*>(slot(job().rank, static_cast<unsigned>(late.size()))),
                    &when, __ATOMIC_ACQUIRE);
      if (when == 0) break;
    }
  }
  if (poster.joinable()) poster.join();
  if (job().rank == to) {
    CHECK_EQ(late.size(), size_t{kPosts});
    std::sort(late.begin(), late.end());
    CHECK(late[late.size() / 2] < 0.05);
  }
  spec::barrier();
}

// The storm again, from all threads at once, with every kind of operation.
SPEC_CASE(threads, everything_at_once) {
  for (auto& count : replies) count.store(0, std::memory_order_relaxed);
  spec::barrier();
  on_threads([](unsigned thread) {
    std::vector<char> data(kBytes), got(kBytes);
    for (unsigned i = 0; i < operations(); ++i) {
      const gex_Rank_t rank = (job().rank + i) % job().size;
      const auto seed = static_cast<gex_AM_Arg_t>(thread * 50000 + i);
      spec::fill(data.data(), kBytes, static_cast<uint32_t>(seed));
      gex_RMA_PutNBI(job().tm, rank, place(rank, thread), data.data(), kBytes, GEX_EVENT_NOW, 0);
      gex_AM_RequestMedium2(job().tm, rank, request, data.data(), 200, GEX_EVENT_NOW, 0,
                            static_cast<gex_AM_Arg_t>(thread), seed);
      gex_NBI_Wait(GEX_EC_ALL, 0);
      gex_RMA_GetBlocking(job().tm, got.data(), rank, place(rank, thread), kBytes, 0);
      CHECK(got == data);
    }
    GASNET_BLOCKUNTIL(replies[thread].load(std::memory_order_acquire) == operations());
  });
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
}
#endif  // GASNET_PAR

#endif  // GASNET_SEQ
