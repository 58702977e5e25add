// Strided and indexed transfers to the neighbour, beside loops over the same pointers.
#include <fmt/format.h>
#include <gasnet_vis.h>

#include <numeric>
#include <utility>
#include <vector>

#include "../raw/access.h"
#include "neighbor.h"

namespace causeway::bench {
namespace {

constexpr size_t kRows = 512, kRow = 64;
constexpr size_t kFarPitch = 128, kNearPitch = 192;
// A page of its own for each row: all rows share few sets of the caches.
constexpr size_t kPagePitch = 4096;
constexpr size_t kMatrix = 64;

[[gnu::noinline]] void strided_put(Peer peer, char* dest, ptrdiff_t far, char* src,
                                   uint64_t count) {
  const ptrdiff_t to[] = {far}, from[] = {kNearPitch};
  const size_t rows[] = {kRows};
  for (uint64_t i = 0; i < count; ++i) {
    gex_VIS_StridedPutBlocking(peer.tm, peer.rank, dest, to, src, from, kRow, rows, 1, 0);
    keep(dest);
  }
}

[[gnu::noinline]] void strided_get(Peer peer, char* dest, char* src, ptrdiff_t far,
                                   uint64_t count) {
  const ptrdiff_t to[] = {kNearPitch}, from[] = {far};
  const size_t rows[] = {kRows};
  for (uint64_t i = 0; i < count; ++i) {
    gex_VIS_StridedGetBlocking(peer.tm, dest, to, peer.rank, src, from, kRow, rows, 1, 0);
    keep(dest);
  }
}

[[gnu::noinline]] void transposing_put(Peer peer, char* dest, char* src, uint64_t count) {
  const ptrdiff_t to[] = {8, 8 * kMatrix}, from[] = {8 * kMatrix, 8};
  const size_t sides[] = {kMatrix, kMatrix};
  for (uint64_t i = 0; i < count; ++i) {
    gex_VIS_StridedPutBlocking(peer.tm, peer.rank, dest, to, src, from, 8, sides, 2, 0);
    keep(dest);
  }
}

[[gnu::noinline]] void indexed_put(Peer peer, void* const* dests, void* const* srcs, size_t pieces,
                                   uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gex_VIS_IndexedPutBlocking(peer.tm, peer.rank, pieces, dests, 8, pieces, srcs, 8, 0);
    keep(dests);
  }
}

// Addresses that jump about, the same order at every base.
std::vector<void*> shuffled(char* base, size_t pieces) {
  std::vector<void*> out;
  for (size_t i = 0; i < pieces; ++i) out.push_back(base + (i * 197 % pieces) * 64);
  return out;
}

}  // namespace

void measure_scattered(Session& session) {
  Job& job = session.job();
  const Neighbor neighbor(job);
  const Peer peer = neighbor.peer;
  auto* const owner = reinterpret_cast<char*>(neighbor.owner);
  auto* const mapped = reinterpret_cast<char*>(neighbor.mapped);
  std::vector<char> local(kRows * kNearPitch);
  std::iota(local.begin(), local.end(), char{0});
  if (job.is_first() && mapped != nullptr) {
    for (const auto& [name, apart] : {std::pair{"512x64", kFarPitch}, {"512pages", kPagePitch}}) {
      const size_t pitch = apart;  // a name that lambdas may keep
      const auto far = static_cast<ptrdiff_t>(pitch);
      compare(
          session, neighbor, fmt::format("strided.put.{}", name), 4,
          [&](uint64_t n) { strided_put(peer, owner, far, local.data(), n); },
          [&](uint64_t n) { raw::copy_rows64(mapped, pitch, local.data(), kNearPitch, kRows, n); });
      compare(
          session, neighbor, fmt::format("strided.get.{}", name), 4,
          [&](uint64_t n) { strided_get(peer, local.data(), owner, far, n); },
          [&](uint64_t n) { raw::copy_rows64(local.data(), kNearPitch, mapped, pitch, kRows, n); });
    }
    compare(
        session, neighbor, "strided.put.64x64x8", 4,
        [&](uint64_t n) { transposing_put(peer, owner, local.data(), n); },
        [&](uint64_t n) { raw::transpose8(mapped, local.data(), kMatrix, n); });
    const std::vector<void*> far = shuffled(owner, kRows), far_mapped = shuffled(mapped, kRows),
                             near = shuffled(local.data(), kRows);
    compare(
        session, neighbor, "indexed.put.512x8", 4,
        [&](uint64_t n) { indexed_put(peer, far.data(), near.data(), kRows, n); },
        [&](uint64_t n) { raw::copy_indexed8(far_mapped.data(), near.data(), kRows, n); });
  }
  job.sync();
}

}  // namespace causeway::bench
