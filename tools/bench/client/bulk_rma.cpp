// Puts and gets of 4 KiB to 4 MiB to the neighbour, beside memcpy on the same pointers.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "../raw/access.h"
#include "neighbor.h"

namespace causeway::bench {
namespace {

struct Size {
  size_t bytes;
  const char* text;
};
constexpr Size kSizes[] = {
    {4 << 10, "4KiB"}, {64 << 10, "64KiB"}, {1 << 20, "1MiB"}, {4 << 20, "4MiB"}};
constexpr size_t kLargest = 4 << 20;

struct Free {
  void operator()(void* p) const { free(p); }
};
using Buffer = std::unique_ptr<unsigned char, Free>;

Buffer page_aligned(size_t bytes) {
  Buffer buffer(static_cast<unsigned char*>(aligned_alloc(4096, bytes)));
  if (buffer) memset(buffer.get(), 1, bytes);  // its pages exist from here on
  return buffer;
}

}  // namespace

void measure_bulk_rma(Session& session) {
  Job& job = session.job();
  const Neighbor neighbor(job);
  const Peer peer = neighbor.peer;
  unsigned char *const owner = neighbor.owner, *const mapped = neighbor.mapped;
  const Buffer local = page_aligned(kLargest);
  if (job.is_first() && mapped != nullptr && local) {
    for (const Size& size : kSizes) {
      compare(
          session, neighbor, fmt::format("put.{}", size.text), 4,
          [&](uint64_t n) { put_bulk(peer, owner, local.get(), size.bytes, n); },
          [&](uint64_t n) { raw::copy(mapped, local.get(), size.bytes, n); });
    }
    for (const Size& size : kSizes) {
      compare(
          session, neighbor, fmt::format("get.{}", size.text), 4,
          [&](uint64_t n) { get_bulk(peer, local.get(), owner, size.bytes, n); },
          [&](uint64_t n) { raw::copy(local.get(), mapped, size.bytes, n); });
    }
  }
  job.sync();
}

}  // namespace causeway::bench
