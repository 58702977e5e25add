// Puts and gets of 4 KiB to 4 MiB to the neighbour, beside memcpy on the same pointers.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "../raw/access.h"
#include "loops.h"
#include "measure.h"
#include "session.h"

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

template <class Ours, class Raw>
void compare(Session& session, const std::string& name, const std::string& path,
             const std::string& note, Ours&& ours, Raw&& raw) {
  if (!session.wants(name)) return;
  ours(1);
  raw(1);
  const uint64_t turns = turns_for(session.aim_ns(), elapsed_ns([&] { ours(4); }) / 4, 1 << 16);
  const Comparison result = interleave(
      session.repetitions(),
      [&] { return elapsed_ns([&] { ours(turns); }) / static_cast<double>(turns); },
      [&] { return elapsed_ns([&] { raw(turns); }) / static_cast<double>(turns); });
  session.report({name, result.ours, result.raw, path, note});
}

}  // namespace

void measure_bulk_rma(Session& session) {
  Job& job = session.job();
  const Peer peer{job.tm(), job.peer()};
  unsigned char* const owner = job.owner_address(peer.rank);
  unsigned char* mapped = job.mapped_address(peer.rank);
  const std::string path = job.peer_is_direct() ? "direct" : "library";
  std::string note;
  if (mapped == nullptr && job.shared() != nullptr) {
    mapped = job.shared()->data;
    note = "raw loop on memory shared without the library";
  }
  const Buffer local = page_aligned(kLargest);
  if (job.is_first() && mapped != nullptr && local) {
    for (const Size& size : kSizes) {
      compare(
          session, fmt::format("put.{}", size.text), path, note,
          [&](uint64_t n) { put_bulk(peer, owner, local.get(), size.bytes, n); },
          [&](uint64_t n) { raw::copy(mapped, local.get(), size.bytes, n); });
    }
    for (const Size& size : kSizes) {
      compare(
          session, fmt::format("get.{}", size.text), path, note,
          [&](uint64_t n) { get_bulk(peer, local.get(), owner, size.bytes, n); },
          [&](uint64_t n) { raw::copy(local.get(), mapped, size.bytes, n); });
    }
  }
  job.sync();
}

}  // namespace causeway::bench
