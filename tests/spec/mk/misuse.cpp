// One mistake, or one missing thing, per run: ends with a documented code or one line.
//   mk_misuse <what>
// prints "answer <code>" where a call answers, behind the line that says why (one stream, so in
// order); ends the job where the mistake is fatal.
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_vis.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/raw/device_access.h"

namespace {

constexpr size_t kBytes = 1 << 16;

gex_Client_t g_client;
gex_EP_t g_ep;
gex_TM_t g_tm;

std::string kind_wanted() {
  const char* const wish = std::getenv("SPEC_MK");
  return wish != nullptr ? wish : "cuda";
}

// Also for a machine without the driver.
gex_MK_Create_args_t arguments(const std::string& kind, int device) {
  gex_MK_Create_args_t args;
  std::memset(&args, 0, sizeof args);
  if (kind == "cuda") {
    args.gex_class = GEX_MK_CLASS_CUDA_UVA;
    args.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
  } else if (kind == "hip") {
    args.gex_class = GEX_MK_CLASS_HIP;
    args.gex_args.gex_class_hip.gex_hipDevice = device;
  } else {
    try {
      return mk::access().args(device);
    } catch (const std::exception&) {
      static int handle;  // of a driver that is not there
      args.gex_class = GEX_MK_CLASS_ZE;
      args.gex_args.gex_class_ze.gex_zeDevice = &handle;
      args.gex_args.gex_class_ze.gex_zeContext = &handle;
    }
  }
  return args;
}

// What is made here is not destroyed; its handles stay where the leak checker finds them.
std::vector<gex_MK_t> g_kinds;
std::vector<gex_Segment_t> g_segments;

int create(gex_MK_t* kind, int device = 0, const std::string& name = kind_wanted()) {
  const gex_MK_Create_args_t args = arguments(name, device);
  const int answer = gex_MK_Create(kind, g_client, &args, 0);
  g_kinds.push_back(*kind);
  std::fprintf(stderr, "answer %s\n", gasnet_ErrorName(answer));
  return answer;
}

int create_segment(gex_Segment_t* segment, void* memory, gex_MK_t kind) {
  const int answer = gex_Segment_Create(segment, g_client, memory, kBytes, kind, 0);
  g_segments.push_back(*segment);
  return answer;
}

struct Bound {
  gex_MK_t kind = GEX_MK_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  void* base = nullptr;
};

Bound bind(void* memory = nullptr, const std::string& name = kind_wanted()) {
  Bound b;
  if (create(&b.kind, 0, name) != GASNET_OK) std::exit(1);
  if (create_segment(&b.segment, memory, b.kind) != GASNET_OK ||
      gex_EP_Create(&b.ep, g_client, GEX_EP_CAPABILITY_ALL, 0) != GASNET_OK ||
      gex_EP_BindSegment(b.ep, b.segment, 0) != GASNET_OK ||
      gex_EP_PublishBoundSegment(g_tm, &b.ep, 1, 0) != GASNET_OK) {
    std::exit(1);
  }
  b.base = gex_Segment_QueryAddr(b.segment);
  return b;
}

gex_TM_t to_device(const Bound& b) {
  return gex_TM_Pair(g_ep, gex_EP_QueryIndex(b.ep));
}
gex_TM_t from_device(const Bound& b) {
  return gex_TM_Pair(b.ep, gex_EP_QueryIndex(b.ep));
}

void mixed() {
  const Bound b = bind();
  char host[64] = {};
  const gex_Memvec_t local[] = {{b.base, 64}, {host, 64}};
  const gex_Memvec_t remote[] = {{static_cast<char*>(b.base) + 4096, 128}};
  gex_VIS_VectorPutBlocking(from_device(b), gex_TM_QueryRank(g_tm), 1, remote, 2, local, 0);
}
void mixed_remote() {
  const Bound b = bind();
  char host[128] = {}, other[64];
  const gex_Memvec_t local[] = {{host, 128}};
  const gex_Memvec_t remote[] = {{b.base, 64}, {other, 64}};
  gex_VIS_VectorPutBlocking(to_device(b), gex_TM_QueryRank(g_tm), 2, remote, 1, local, 0);
}
void mixed_indexed() {
  const Bound b = bind();
  char host[64] = {};
  void* local[] = {b.base, host};
  void* remote[] = {static_cast<char*>(b.base) + 4096};
  gex_VIS_IndexedPutBlocking(from_device(b), gex_TM_QueryRank(g_tm), 1, remote, 128, 2, local, 64,
                             0);
}
void mixed_devices() {
  const Bound one = bind(nullptr, "cuda"), other = bind(nullptr, "hip");
  char host[128] = {};
  const gex_Memvec_t local[] = {{host, 128}};
  const gex_Memvec_t remote[] = {{one.base, 64}, {other.base, 64}};
  gex_VIS_VectorPutBlocking(to_device(one), gex_TM_QueryRank(g_tm), 2, remote, 1, local, 0);
}
// Not a mistake: memory of one kind goes to memory of another, here and at the peer.
void two_kinds() {
  const Bound one = bind(nullptr, "cuda"), other = bind(nullptr, "hip");
  const gex_Rank_t ranks = gex_TM_QuerySize(g_tm), me = gex_TM_QueryRank(g_tm);
  static unsigned char out[kBytes], in[kBytes];
  for (size_t i = 0; i < kBytes; ++i) out[i] = static_cast<unsigned char>(i * 7 + me);
  const gex_TM_t across = gex_TM_Pair(one.ep, gex_EP_QueryIndex(other.ep));
  for (gex_Rank_t r = 0; r < ranks; ++r) {
    void* there = nullptr;
    gex_Segment_QueryBound(across, r, &there, nullptr, nullptr);
    gex_RMA_PutBlocking(to_device(one), me, one.base, out, kBytes, 0);
    auto* const slot = static_cast<char*>(there) + me * (kBytes / ranks);
    gex_RMA_PutBlocking(across, r, slot, one.base, kBytes / ranks, 0);
    gex_RMA_GetBlocking(to_device(other), in, r, slot, kBytes / ranks, 0);
    if (std::memcmp(in, out, kBytes / ranks) != 0) return;
  }
  std::fprintf(stderr, "transferred between kinds\n");
}
void bound_twice() {
  const Bound b = bind();
  gex_Segment_t other = GEX_SEGMENT_INVALID;
  create_segment(&other, nullptr, b.kind);
  std::fprintf(stderr, "answer %s\n", gasnet_ErrorName(gex_EP_BindSegment(b.ep, other, 0)));
}
// "Memory Kinds" 5.3, item 20: scratch lies in host memory.
void scratch() {
  const Bound b = bind();
  gex_EP_Location_t members[] = {{0, gex_EP_QueryIndex(b.ep)}};
  gex_Addr_t at[] = {b.base};
  gex_TM_t team = GEX_TM_INVALID;
  gex_TM_Create(&team, 1, g_tm, members, 1, at, kBytes / 2, GEX_FLAG_TM_LOCAL_SCRATCH);
}
void unpublished() {
  Bound b;
  if (create(&b.kind) != GASNET_OK) std::exit(1);
  create_segment(&b.segment, nullptr, b.kind);
  gex_EP_Create(&b.ep, g_client, GEX_EP_CAPABILITY_ALL, 0);
  gex_EP_BindSegment(b.ep, b.segment, 0);
  char host[64] = {};
  const gex_Rank_t peer = (gex_TM_QueryRank(g_tm) + 1) % gex_TM_QuerySize(g_tm);
  gex_RMA_PutBlocking(to_device(b), peer, gex_Segment_QueryAddr(b.segment), host, sizeof host, 0);
}
void outside() {
  const Bound b = bind();
  char host[64] = {};
  gex_RMA_PutBlocking(from_device(b), gex_TM_QueryRank(g_tm), b.base, host, sizeof host, 0);
}
void freed() {
  void* const memory = mk::access().alloc(0, kBytes);
  const Bound b = bind(memory);
  mk::access().free(0, memory);
  char host[64] = {};
  gex_RMA_PutBlocking(to_device(b), gex_TM_QueryRank(g_tm), b.base, host, sizeof host, 0);
}
void in_use() {
  const Bound b = bind();
  gex_MK_Destroy(b.kind, 0);
}
void destroy_host() {
  gex_MK_Destroy(GEX_MK_HOST, 0);
}
void primordial() {
  gex_MK_t kind = GEX_MK_INVALID;
  gex_Segment_t s = GEX_SEGMENT_INVALID;
  if (create(&kind) != GASNET_OK) return;
  create_segment(&s, nullptr, kind);
  std::fprintf(stderr, "answer %s\n", gasnet_ErrorName(gex_EP_BindSegment(g_ep, s, 0)));
}
void transfer() {
  const Bound b = bind();
  static char host[4096];
  const gex_Rank_t peer = (gex_TM_QueryRank(g_tm) + 1) % gex_TM_QuerySize(g_tm);
  void* there = nullptr;
  gex_Segment_QueryBound(to_device(b), peer, &there, nullptr, nullptr);
  for (int i = 0; i < 100; ++i) {
    gex_RMA_PutBlocking(to_device(b), peer, there, host, sizeof host, 0);
  }
  std::fprintf(stderr, "transferred\n");
}
// The program's own copy finds out before the library does.
void lost_before() {
  gex_MK_t kind = GEX_MK_INVALID, other = GEX_MK_INVALID;
  gex_Segment_t s = GEX_SEGMENT_INVALID;
  if (create(&kind) != GASNET_OK) return;
  char host[64] = {};
  void* const memory = mk::access().alloc(0, sizeof host);
  try {
    mk::access().copy(0, memory, host, sizeof host);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  const int answer = create_segment(&s, nullptr, kind);
  std::fprintf(stderr, "answer %s\n", gasnet_ErrorName(answer));
  create(&other, 1);
}
void only_create() {
  gex_MK_t kind = GEX_MK_INVALID;
  create(&kind);
}
void forked() {
  gex_MK_t kind = GEX_MK_INVALID;
  create(&kind);
  std::fflush(stderr);
  const pid_t child = fork();
  if (child == 0) {
    gex_MK_t other = GEX_MK_INVALID;
    create(&other, 1);
    std::fflush(stderr);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::fprintf(stderr, "child %d\n", status);
}

// Polls for so long.
void poll_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) gasnet_AMPoll();
}

// Rank 1 has rank 0's memory open and leaves the job alone. Its process is gone when rank 0
// destroys the segment.
void departed() {
  using std::chrono::milliseconds;
  const Bound b = bind();
  void* there = nullptr;
  gex_Segment_QueryBound(to_device(b), 0, &there, nullptr, nullptr);
  const long mine = getpid();
  const bool leaves = gex_TM_QueryRank(g_tm) == 1;
  if (!leaves) gex_RMA_PutBlocking(from_device(b), 0, b.base, &mine, sizeof mine, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(g_tm, 0));
  if (leaves) {
    gex_RMA_PutBlocking(to_device(b), 0, there, &mine, sizeof mine, 0);
    std::exit(0);
  }
  long pid = mine;
  while (pid == mine) {
    gasnet_AMPoll();
    mk::access().copy(0, &pid, b.base, sizeof pid);
  }
  while (kill(static_cast<pid_t>(pid), 0) == 0) gasnet_AMPoll();
  poll_for(milliseconds(500));  // the news of it comes
  const auto begin = std::chrono::steady_clock::now();
  gex_Segment_Destroy(b.segment, 0);
  g_segments.clear();
  const auto took = std::chrono::steady_clock::now() - begin;
  std::fprintf(stderr, "destroyed %s\n", took < milliseconds(1500) ? "at once" : "late");
}

struct What {
  const char* name;
  void (*run)();
};
constexpr What kAll[] = {{"mixed", mixed},
                         {"mixed_remote", mixed_remote},
                         {"mixed_indexed", mixed_indexed},
                         {"mixed_devices", mixed_devices},
                         {"two_kinds", two_kinds},
                         {"bound_twice", bound_twice},
                         {"unpublished", unpublished},
                         {"scratch", scratch},
                         {"outside", outside},
                         {"freed", freed},
                         {"in_use", in_use},
                         {"destroy_host", destroy_host},
                         {"primordial", primordial},
                         {"transfer", transfer},
                         {"create", only_create},
                         {"lost_before", lost_before},
                         {"forked", forked},
                         {"departed", departed}};

}  // namespace

int main(int argc, char** argv) {
  gex_Client_Init(&g_client, &g_ep, &g_tm, "MISUSE", &argc, &argv, 0);
  for (const What& what : kAll) {
    if (argc > 1 && std::string(argv[1]) == what.name) what.run();
  }
  std::fflush(stderr);
  gasnet_exit(0);
}
