// The CUDA driver as a program without the runtime's library uses it, for the programs of this
// folder: entry points by name, and lines for what goes wrong.
#pragma once

#include <dlfcn.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gpu {

using Address = unsigned long long;
using Handle = void*;

// The job, as all programs here have it.
struct Job {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Rank_t rank, size;
};
inline Job g_job;

inline void start(const char* name, int* argc, char*** argv) {
  Job& j = g_job;
  if (gex_Client_Init(&j.client, &j.ep, &j.tm, name, argc, argv, 0) != GASNET_OK) std::exit(1);
  j.rank = gex_TM_QueryRank(j.tm);
  j.size = gex_TM_QuerySize(j.tm);
}
inline void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(g_job.tm, 0));
}

[[noreturn]] inline void fail(const char* what, long found) {
  std::fprintf(stderr, "gpu: rank %u: %s: %ld\n", g_job.rank, what, found);
  gasnet_exit(1);
  std::abort();
}
inline void expect(bool good, const char* what, long found) {
  if (!good) fail(what, found);
}

// A call of the driver's, found when it is first made; NULL where the driver does not have it.
template <class Call>
Call* entry(const char* name) {
  static void* const lib = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Call*>(lib != nullptr ? dlsym(lib, name) : nullptr);
}
// Calls it, and ends the job with its name where it is not there or does not answer 0.
template <class... Given>
void call(const char* name, Given... given) {
  auto* const function = entry<int(Given...)>(name);
  expect(function != nullptr, name, -1);
  const int result = function(given...);
  expect(result == 0, name, result);
}

inline void open() {
  Handle context = nullptr;
  call("cuInit", 0u);
  call("cuDevicePrimaryCtxRetain", &context, 0);
  call("cuCtxSetCurrent", context);
}

// A segment on device 0, of the client's memory or (NULL) of the library's, at an endpoint of its
// own whose peers know it. Collective. False, and nothing is made, where the library refuses the
// memory.
struct Place {
  Address own = 0;
  gex_TM_t pair = GEX_TM_INVALID, from_host = GEX_TM_INVALID;

  bool make(size_t bytes, void* memory = nullptr) {
    static gex_MK_t kind = GEX_MK_INVALID;
    gex_MK_Create_args_t args;
    std::memset(&args, 0, sizeof args);
    args.gex_class = GEX_MK_CLASS_CUDA_UVA;
    if (kind == GEX_MK_INVALID)
      expect(gex_MK_Create(&kind, g_job.client, &args, 0) == GASNET_OK, "gex_MK_Create", 0);
    gex_Segment_t segment;
    if (gex_Segment_Create(&segment, g_job.client, memory, bytes, kind, 0) != GASNET_OK)
      return false;
    gex_EP_t ep;
    if (gex_EP_Create(&ep, g_job.client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK ||
        gex_EP_BindSegment(ep, segment, 0) != GASNET_OK ||
        gex_EP_PublishBoundSegment(g_job.tm, &ep, 1, 0) != GASNET_OK)
      fail("an endpoint cannot be bound", 0);
    own = reinterpret_cast<Address>(gex_Segment_QueryAddr(segment));
    pair = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
    from_host = gex_TM_Pair(g_job.ep, gex_EP_QueryIndex(ep));
    return true;
  }
  // The place of `here` in the segment of another rank.
  void* there(gex_Rank_t rank, Address here) const {
    void* base = nullptr;
    gex_Segment_QueryBound(pair, rank, &base, nullptr, nullptr);
    return static_cast<char*>(base) + (here - own);
  }
};

inline void* pointer(Address at) {
  return reinterpret_cast<void*>(at);
}

}  // namespace gpu
