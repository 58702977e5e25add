// Measurements in the style of the field's benchmarks of active messages ("flood"): latencies,
// rates, and windows of operations under way, from several threads; results of all of them are
// checked.
#pragma once

#include <gasnetex.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace flood {

inline constexpr int kThreads = 2;
inline constexpr size_t kBytes = 16384;  // what one thread writes at once

extern gex_TM_t team;
extern gex_Rank_t me, ranks;

// Ends the job with the line that says what does not hold.
void require(bool holds, const char* what);

void start(int* argc, char*** argv);
// Handlers of this file's parts, with the indices that registration gives them.
gex_AM_Index_t add_handler(gex_AM_Fn_t function, gex_Flags_t flags, unsigned arguments);
template <typename F>
gex_AM_Index_t add(F* function, gex_Flags_t flags, unsigned arguments) {
  return add_handler(reinterpret_cast<gex_AM_Fn_t>(function), flags, arguments);
}
void barrier();

// The memory of `owner` that a thread of `writer` writes, and where what it reads lies.
char* window(gex_Rank_t owner, gex_Rank_t writer, int thread);

inline void fill(void* at, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i)
    static_cast<unsigned char*>(at)[i] = static_cast<unsigned char>(i * 3 + seed);
}
inline unsigned sum(const void* at, size_t bytes) {
  unsigned total = 0;
  for (size_t i = 0; i < bytes; ++i) total = total * 31 + static_cast<const unsigned char*>(at)[i];
  return total;
}

// A counter that a handler raises; its address travels in two arguments.
struct Counter {
  std::atomic<unsigned> count{0};
  std::atomic<unsigned> sums{0};
  gex_AM_Arg_t high() const {
    return static_cast<gex_AM_Arg_t>(reinterpret_cast<uintptr_t>(this) >> 32);
  }
  gex_AM_Arg_t low() const { return static_cast<gex_AM_Arg_t>(reinterpret_cast<uintptr_t>(this)); }
  static Counter& at(gex_AM_Arg_t high, gex_AM_Arg_t low) {
    return *reinterpret_cast<Counter*>(static_cast<uintptr_t>(static_cast<uint32_t>(high)) << 32 |
                                       static_cast<uint32_t>(low));
  }
  void wait(unsigned until) const {
    GASNET_BLOCKUNTIL(count.load(std::memory_order_acquire) >= until);
  }
};

// ---- negotiated.cpp: payloads that are built where they are sent from ----
void negotiated_load();
void negotiated_ping_pong(int thread);
void negotiated_flood(int thread);

// ---- events.cpp: operations by the hundred ----
void events_windows(int thread);
void events_regions(int thread);
void events_leaves(int thread);
void events_updates(int thread);
void events_create();
void events_finish();

}  // namespace flood
