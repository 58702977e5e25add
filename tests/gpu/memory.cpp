// Segments of memory that programs have from the driver in ways of their own: within a larger
// allocation, managed, from a pool, mapped into a reserved range; and host memory of several sorts
// at the other end. The stand-ins have one sort only, so this runs by run-tests --gpu only.
//   spec_gpu_memory whole | within | managed | pool | mapped
// Bytes arrive, or a segment of such memory is refused by a line.
#include <random>
#include <string>
#include <vector>

#include "driver.h"

namespace {

using gpu::Address;
using gpu::barrier;
using gpu::call;
using gpu::expect;
using gpu::g_job;
using gpu::Handle;
using gpu::pointer;

constexpr size_t kHalf = size_t{2} << 20, kBytes = 2 * kHalf;  // to send from, to receive

Address whole() {
  Address out = 0;
  call("cuMemAlloc_v2", &out, kBytes);
  return out;
}
// At an odd place of a larger allocation, which other segments lie in too.
Address within() {
  static Address block = 0;
  static size_t used = 4096;
  if (block == 0) call("cuMemAlloc_v2", &block, 4 * kBytes);
  const Address out = block + used;
  used += kBytes + 65536;
  return out;
}
Address managed() {
  Address out = 0;
  call("cuMemAllocManaged", &out, kBytes, 1u);
  return out;
}
Address from_pool() {
  Address out = 0;
  call("cuMemAllocAsync", &out, kBytes, Handle{nullptr});
  call("cuStreamSynchronize", Handle{nullptr});
  return out;
}
// Memory of the device in a range of addresses that was reserved (CUmemAllocationProp,
// CUmemAccessDesc).
Address mapped() {
  struct {
    int type = 1, handles = 0, place = 1, device = 0;
    void* none = nullptr;
    unsigned char flags[8] = {};
  } wish;
  struct {
    int place = 1, device = 0, access = 3;
  } mine;
  Address out = 0;
  unsigned long long memory = 0;
  call("cuMemCreate", &memory, kBytes, static_cast<const void*>(&wish), 0ull);
  call("cuMemAddressReserve", &out, kBytes, size_t{0}, Address{0}, 0ull);
  call("cuMemMap", out, kBytes, size_t{0}, memory, 0ull);
  call("cuMemSetAccess", out, kBytes, static_cast<const void*>(&mine), size_t{1});
  return out;
}

// Host memory of three sorts, each of kHalf bytes.
std::vector<char*> host_memory() {
  std::vector<char*> out;
  out.push_back(static_cast<char*>(aligned_alloc(4096, kHalf)));
  void* locked = nullptr;
  call("cuMemHostAlloc", &locked, size_t{kHalf}, 0u);
  out.push_back(static_cast<char*>(locked));
  // Page-locked in its middle only.
  auto* const parts = static_cast<char*>(aligned_alloc(4096, kHalf));
  call("cuMemHostRegister_v2", static_cast<void*>(parts + kHalf / 4), kHalf / 2, 1u);
  out.push_back(parts);
  return out;
}

void to_device(Address at, const void* from, size_t bytes) {
  call("cuMemcpyHtoD_v2", at, from, bytes);
}
void to_host(void* to, Address at, size_t bytes) {
  call("cuMemcpyDtoH_v2", to, at, bytes);
}

std::vector<char> random_bytes(size_t bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<char> out(bytes);
  for (char& each : out) each = static_cast<char>(random());
  return out;
}

// A piece somewhere in a half, the same for the ranks that draw with one seed.
struct Piece {
  size_t at, bytes;
};
Piece piece(std::mt19937_64& random) {
  const size_t bytes = 1 + random() % (size_t{1} << random() % 21);
  return {random() % (kHalf - bytes + 1), bytes};
}

void expect_equal(const std::vector<char>& seen, const std::vector<char>& made, const char* what,
                  unsigned round) {
  size_t wrong = 0, first = made.size();
  for (size_t i = made.size(); i-- > 0;) {
    if (seen[i] == made[i]) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return;
  std::fprintf(stderr, "gpu: rank %u: round %u: %zu of %zu bytes, from %zu on, are wrong\n",
               g_job.rank, round, wrong, made.size(), first);
  gpu::fail(what, static_cast<long>(round));
}

// Every rank puts from its device and from its host into its neighbor's, and gets that back both
// ways. Would catch bytes that end elsewhere, and memory that is taken for another sort.
void transfer(const gpu::Place& place, const std::vector<char*>& host, uint64_t seed) {
  std::mt19937_64 random(seed);  // the same on all ranks
  const gex_Rank_t to = (g_job.rank + 1) % g_job.size,
                   from = (g_job.rank + g_job.size - 1) % g_job.size;
  std::vector<char> seen(kHalf);
  for (unsigned round = 0; round < 60; ++round) {
    const Piece p = piece(random);
    char* const local = host[round / 2 % host.size()] + p.at;
    const auto made = [&](gex_Rank_t rank) {
      return random_bytes(p.bytes, seed + 64 * round + rank);
    };
    const std::vector<char> mine = made(g_job.rank), theirs = made(from);
    const Address target = place.own + kHalf + p.at, source = place.own + p.at;
    const bool from_host = round % 2 != 0;
    if (from_host) {
      std::memcpy(local, mine.data(), p.bytes);
      gex_RMA_PutBlocking(place.from_host, to, place.there(to, target), local, p.bytes, 0);
    } else {
      to_device(source, mine.data(), p.bytes);
      gex_RMA_PutBlocking(place.pair, to, place.there(to, target), pointer(source), p.bytes, 0);
    }
    barrier();
    to_host(seen.data(), target, p.bytes);
    expect_equal(seen, theirs, "a put is wrong, round", round);
    if (from_host) {
      std::memset(local, 0, p.bytes);
      gex_RMA_GetBlocking(place.from_host, local, to, place.there(to, target), p.bytes, 0);
      std::memcpy(seen.data(), local, p.bytes);
    } else {
      gex_RMA_GetBlocking(place.pair, pointer(source), to, place.there(to, target), p.bytes, 0);
      to_host(seen.data(), source, p.bytes);
    }
    expect_equal(seen, mine, "a get is wrong, round", round);
    barrier();
  }
}

}  // namespace

int main(int argc, char** argv) {
  gpu::start("MEMORY", &argc, &argv);
  gpu::open();
  const std::string wish = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    Address (*make)();
  } sorts[] = {{"whole", whole},
               {"within", within},
               {"managed", managed},
               {"pool", from_pool},
               {"mapped", mapped}};
  const std::vector<char*> host = host_memory();
  bool known = false, made = false;
  for (const auto& sort : sorts) {
    if (wish != sort.name) continue;
    known = true;
    // Two segments, which lie in one allocation where the sort is "within".
    for (unsigned i = 0; i < 2; ++i) {
      gpu::Place place;
      made = place.make(kBytes, pointer(sort.make()));
      if (made) transfer(place, host, 1'000'000 * (i + 1));
      barrier();
    }
  }
  expect(known, "no such sort of memory", argc);
  // The program's own context is current as before.
  Handle primary = nullptr, now = nullptr;
  call("cuCtxGetCurrent", &now);
  call("cuDevicePrimaryCtxRetain", &primary, 0);
  expect(now == primary, "another context is current than before", 0);
  if (g_job.rank == 0)
    std::printf("memory: %s, %u ranks: %s\n", wish.c_str(), g_job.size,
                made ? "every byte arrived" : "refused");
  gasnet_exit(0);
}
