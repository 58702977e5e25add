// Programs' own kernels beside the library's copies, on a real NVIDIA device: kernels write what is
// put and read what arrived, are not waited for by transfers of others, and may themselves wait for
// bytes of a peer. The stand-ins have no kernels, so this runs by run-tests --gpu only.
//   spec_gpu_kernels                  every part; needs 2 ranks or more
// Needs no toolkit: the kernels are written down in PTX, which the driver compiles.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "driver.h"

namespace {

// fill:  word i becomes i * 0x9E3779B1 + seed.
// check: counts the words that are something else.
// wait:  until the word is not 0, but no longer than so many cycles; how long, or 0 for "too long".
constexpr const char* kPtx = R"(
.version 6.0
.target sm_60
.address_size 64
.visible .entry fill(.param .u64 at, .param .u64 words, .param .u32 seed) {
  .reg .pred %p; .reg .b32 %r<7>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [at]; ld.param.u64 %d2, [words]; ld.param.u32 %r1, [seed];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  cvt.u64.u32 %d3, %r5; setp.ge.u64 %p, %d3, %d2; @%p bra done;
  mad.lo.u32 %r6, %r5, 2654435761, %r1;
  shl.b64 %d4, %d3, 2; add.u64 %d5, %d1, %d4; st.global.u32 [%d5], %r6;
done: ret;
}
.visible .entry check(.param .u64 at, .param .u64 words, .param .u32 seed, .param .u64 wrong) {
  .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<7>;
  ld.param.u64 %d1, [at]; ld.param.u64 %d2, [words]; ld.param.u32 %r1, [seed];
  ld.param.u64 %d6, [wrong];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  cvt.u64.u32 %d3, %r5; setp.ge.u64 %p, %d3, %d2; @%p bra done;
  mad.lo.u32 %r6, %r5, 2654435761, %r1;
  shl.b64 %d4, %d3, 2; add.u64 %d5, %d1, %d4; ld.global.u32 %r7, [%d5];
  setp.eq.u32 %p, %r7, %r6; @%p bra done;
  atom.global.add.u32 %r8, [%d6], 1;
done: ret;
}
.visible .entry wait(.param .u64 at, .param .u64 cycles, .param .u64 took) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [at]; ld.param.u64 %d2, [cycles]; ld.param.u64 %d3, [took];
  mov.u64 %d4, %clock64;
again:
  ld.volatile.global.u32 %r1, [%d1];
  mov.u64 %d5, %clock64; sub.u64 %d6, %d5, %d4;
  setp.ne.u32 %p, %r1, 0; @%p bra came;
  setp.lt.u64 %p, %d6, %d2; @%p bra again;
  mov.u64 %d6, 0;
came:
  st.global.u64 [%d3], %d6;
  ret;
}
)";

constexpr size_t kMost = size_t{4} << 20;    // of a slot
constexpr uint64_t kCycles = 3'000'000'000;  // 1.5 to 3 s

using gpu::Address;
using gpu::barrier;
using gpu::call;
using gpu::expect;
using gpu::g_job;
using gpu::Handle;
using gpu::pointer;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The kernels, and two streams for them that wait for nothing.
class Kernels {
 public:
  void open() {
    Handle module = nullptr;
    call("cuModuleLoadData", &module, static_cast<const void*>(kPtx));
    call("cuModuleGetFunction", &fill_, module, "fill");
    call("cuModuleGetFunction", &check_, module, "check");
    call("cuModuleGetFunction", &wait_, module, "wait");
    for (Handle& each : streams) call("cuStreamCreate", &each, 1u);  // non-blocking
    call("cuMemAlloc_v2", &count_, size_t{4});
  }

  void fill(Handle in, Address at, size_t bytes, uint32_t seed) {
    uint64_t words = bytes / 4;
    void* arguments[] = {&at, &words, &seed};
    start(fill_, in, words, arguments);
  }
  // Words that are not as filled with `seed`.
  long wrong(Handle in, Address at, size_t bytes, uint32_t seed) {
    clear(count_, 4);
    uint64_t words = bytes / 4;
    void* arguments[] = {&at, &words, &seed, &count_};
    start(check_, in, words, arguments);
    finish(in);
    uint32_t found = 0;
    call("cuMemcpyDtoH_v2", static_cast<void*>(&found), count_, size_t{4});
    return found;
  }
  void wait(Handle in, Address at, Address took) {
    uint64_t cycles = kCycles;
    void* arguments[] = {&at, &cycles, &took};
    start(wait_, in, 1, arguments);
  }
  void finish(Handle in) { call("cuStreamSynchronize", in); }
  bool is_busy(Handle in) {
    constexpr int kNotReady = 600;
    return gpu::entry<int(Handle)>("cuStreamQuery")(in) == kNotReady;
  }
  void clear(Address at, size_t bytes) { call("cuMemsetD32_v2", at, 0u, bytes / 4); }
  uint64_t word64(Address at) {
    uint64_t out = 0;
    call("cuMemcpyDtoH_v2", static_cast<void*>(&out), at, sizeof out);
    return out;
  }

  Handle streams[2] = {};

 private:
  static void start(Handle function, Handle in, uint64_t threads, void** arguments) {
    constexpr uint64_t kBlock = 256;
    const auto blocks = static_cast<unsigned>((threads + kBlock - 1) / kBlock);
    const auto each = static_cast<unsigned>(threads < kBlock ? threads : kBlock);
    call("cuLaunchKernel", function, blocks, 1u, 1u, each, 1u, 1u, 0u, in, arguments,
         static_cast<void**>(nullptr));
  }

  Handle fill_ = nullptr, check_ = nullptr, wait_ = nullptr;
  Address count_ = 0;
};

Kernels g_kernels;

// A segment: a slot to send from, for each rank a slot that it puts into, and words that kernels
// wait for.
struct Place : gpu::Place {
  static size_t bytes() { return (1 + g_job.size) * kMost + 4096; }
  Address outgoing() const { return own; }
  Address incoming(gex_Rank_t from) const { return own + (1 + from) * kMost; }
  Address words() const { return own + (1 + g_job.size) * kMost; }
};

// Kernels write what every rank puts into every other one, and read what came. Would catch bytes
// that a copy took before the kernel's were in place, and such as the owner's kernel does not see.
void written_and_read_by_kernels(const Place& place) {
  const auto seed = [](gex_Rank_t rank, unsigned round) { return rank * 1000003u + round * 7919u; };
  for (unsigned round = 0; round < 40; ++round) {
    const size_t bytes = std::size_t{4} << (round % 21);  // 4 B to 4 MiB
    g_kernels.fill(g_kernels.streams[0], place.outgoing(), bytes, seed(g_job.rank, round));
    g_kernels.finish(g_kernels.streams[0]);
    std::vector<gex_Event_t> events;
    for (gex_Rank_t i = 0; i < g_job.size; ++i) {
      const gex_Rank_t to = (g_job.rank + i) % g_job.size;
      events.push_back(gex_RMA_PutNB(place.pair, to, place.there(to, place.incoming(g_job.rank)),
                                     pointer(place.outgoing()), bytes, GEX_EVENT_DEFER, 0));
    }
    gex_Event_WaitAll(events.data(), events.size(), 0);
    barrier();
    for (gex_Rank_t from = 0; from < g_job.size; ++from) {
      const long wrong =
          g_kernels.wrong(g_kernels.streams[1], place.incoming(from), bytes, seed(from, round));
      expect(wrong == 0, "words of a put are wrong", wrong);
    }
    barrier();
    const gex_Rank_t from = (g_job.rank + 1) % g_job.size;
    gex_RMA_GetBlocking(place.pair, pointer(place.incoming(from)), from,
                        place.there(from, place.outgoing()), bytes, 0);
    const long wrong =
        g_kernels.wrong(g_kernels.streams[1], place.incoming(from), bytes, seed(from, round));
    expect(wrong == 0, "words of a get are wrong", wrong);
    barrier();
  }
}

// A kernel of this rank waits for a word that its neighbor puts, while this rank makes progress.
// Would catch a transfer that waits for the program's kernels (by a call that stops the device, say
// for a buffer that is made at first use): here each would wait for the other.
void waited_for_by_kernels(const Place& place, const char* when) {
  const Address word = place.words(), took = place.words() + 64;
  g_kernels.clear(word, 128);
  barrier();
  g_kernels.wait(g_kernels.streams[0], word, took);
  barrier();
  const double began = now();
  const gex_Rank_t to = (g_job.rank + 1) % g_job.size;
  static const uint32_t one = 1;
  gex_RMA_PutBlocking(place.from_host, to, place.there(to, word), const_cast<uint32_t*>(&one),
                      sizeof one, 0);
  const double put = now() - began;
  while (g_kernels.is_busy(g_kernels.streams[0])) gasnet_AMPoll();
  const uint64_t cycles = g_kernels.word64(took);
  if (g_job.rank == 0)
    std::printf("kernels: %s, a put that a kernel waits for takes %.0f us\n", when, put * 1e6);
  expect(cycles != 0, "a kernel waited in vain for a word that its neighbor put", 0);
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  gpu::start("KERNELS", &argc, &argv);
  gpu::open();
  g_kernels.open();
  Place place;
  expect(place.make(Place::bytes()), "no segment on the device", 0);
  // The driver loads a kernel when it is first started, which stops the device.
  g_kernels.fill(g_kernels.streams[0], place.words(), 4, 1);
  expect(g_kernels.wrong(g_kernels.streams[0], place.words(), 4, 1) == 0, "a kernel is wrong", 0);
  g_kernels.wait(g_kernels.streams[0], place.words(), place.words() + 64);
  g_kernels.finish(g_kernels.streams[0]);
  waited_for_by_kernels(place, "at first contact");
  written_and_read_by_kernels(place);
  waited_for_by_kernels(place, "later");
  barrier();
  if (g_job.rank == 0) std::printf("kernels: %u ranks, everything as it should be\n", g_job.size);
  gasnet_exit(0);
}
