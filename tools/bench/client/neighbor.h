// The neighbour's memory, and a loop over the library's calls beside a raw loop on the same memory.
#pragma once

#include <string>

#include "loops.h"
#include "measure.h"
#include "session.h"

namespace causeway::bench {

// As the library names it and as this process sees it. When the library has not mapped it, the raw
// loops use memory that the ranks share without the library; NULL where there is none.
struct Neighbor {
  explicit Neighbor(Job& job)
      : peer{job.tm(), job.peer()},
        owner(job.owner_address(job.peer())),
        mapped(job.mapped_address(job.peer())),
        path(job.peer_is_direct() ? "direct" : "library") {
    if (mapped != nullptr || job.shared() == nullptr) return;
    mapped = job.shared()->data;
    note = "raw loop on memory shared without the library";
  }

  Peer peer;
  unsigned char* owner;
  unsigned char* mapped;
  std::string path, note;
};

// Each loop takes how often to run; `trial` times tell how long once takes.
template <class Ours, class Raw>
void compare(Session& session, const Neighbor& neighbor, const std::string& name, uint64_t trial,
             Ours&& ours, Raw&& raw) {
  if (!session.wants(name)) return;
  const auto loop_ns = [](auto&& loop, uint64_t n) {
    return elapsed_ns([&] { loop(n); }) / static_cast<double>(n);
  };
  const auto turns = [&](auto&& loop) {
    loop(trial);
    return turns_for(session.aim_ns(), loop_ns(loop, trial), 1 << 20);
  };
  const uint64_t ours_turns = turns(ours), raw_turns = turns(raw);
  const Comparison result = interleave(
      session.repetitions(), [&] { return loop_ns(ours, ours_turns); },
      [&] { return loop_ns(raw, raw_turns); });
  session.report({name, result.ours, result.raw, neighbor.path, neighbor.note, result.spread});
}

}  // namespace causeway::bench
