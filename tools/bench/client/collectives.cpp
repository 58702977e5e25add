// Broadcast and all-reduce over all ranks, beside collectives by hand in shared memory.
#include <fmt/format.h>
#include <gasnet_coll.h>

#include <cstring>

#include "measure.h"
#include "session.h"

namespace causeway::bench {
namespace {

// Rank 0 decides how often, so that all ranks do the same.
template <class Ours, class Raw>
void compare(Session& session, const std::string& name, double unit_ns, Ours&& ours, Raw&& raw,
             bool has_raw) {
  Job& job = session.job();
  if (!session.wants(name)) return;
  const auto timed = [&](auto&& once, uint64_t count) {
    job.sync();
    return each_ns(count, once);
  };
  timed(ours, 2);
  const uint64_t turns = job.from_root(turns_for(session.aim_ns(), timed(ours, 4), 1 << 14));
  const std::string note =
      fmt::format("{} ranks{}", job.size(), job.oversubscribed() ? ", ranks share cores" : "");
  if (!has_raw) {
    std::vector<double> all;
    for (unsigned i = 0; i < session.repetitions(); ++i) all.push_back(timed(ours, turns));
    session.report({name, median(std::move(all)) / unit_ns, std::nullopt, "",
                    note + "; no raw loop: the ranks share no memory here"});
    return;
  }
  const Comparison result = interleave(
      session.repetitions(), [&] { return timed(ours, turns); }, [&] { return timed(raw, turns); });
  session.report({name, result.ours / unit_ns, result.raw / unit_ns, "", note, result.spread});
}

void short_ones(Session& session) {
  Job& job = session.job();
  const bool has_raw = job.shared() != nullptr && job.size() <= raw::kMostRanks;
  raw::Board* const board = has_raw ? &job.shared()->board : nullptr;
  const bool share = job.oversubscribed();
  uint64_t ours_round = 0, round = 0;
  double value = job.rank(), sum = 0;
  compare(
      session, "broadcast.8", 1,
      [&] {
        const auto root = static_cast<gex_Rank_t>(ours_round++ % job.size());
        gex_Event_Wait(gex_Coll_BroadcastNB(job.tm(), root, &sum, &value, sizeof value, 0));
      },
      [&] {
        ++round;
        const auto root = static_cast<uint32_t>(round % job.size());
        sum += raw::broadcast_value(*board, job.rank(), root, round, value, share);
      },
      has_raw);
  round = 1 << 20;  // beyond what the broadcasts have left on the board
  job.sync();
  compare(
      session, "allreduce.8", 1, [&] { gex_Event_Wait(start_sum(job, &sum, &value, 1)); },
      [&] { sum += raw::all_reduce_value(*board, job.rank(), job.size(), ++round, value, share); },
      has_raw);
}

void long_ones(Session& session) {
  Job& job = session.job();
  constexpr size_t kMost = 8u << 20;
  const size_t half = job.segment_bytes() / 2;
  const MappedHalves halves(job, half);
  const bool has_raw = job.shared() != nullptr && halves.all;
  unsigned char* const own = job.owner_address(job.rank());
  auto* const src = reinterpret_cast<double*>(own);
  auto* const dst = reinterpret_cast<double*>(own + half);
  if (half < kMost) return;
  memset(own, 0, 2 * kMost);
  const bool share = job.oversubscribed();
  struct Size {
    size_t bytes;
    const char* text;
  };
  for (const Size& size : {Size{64u << 10, "64KiB"}, Size{1u << 20, "1MiB"}, Size{kMost, "8MiB"}}) {
    const size_t count = size.bytes / sizeof(double);
    compare(
        session, fmt::format("allreduce.{}", size.text), 1e3,
        [&] { gex_Event_Wait(start_sum(job, dst, src, count)); },
        [&] {
          raw::all_reduce_parts(job.shared()->barrier, job.rank(), job.size(),
                                halves.sources.data(), halves.results.data(), count, share);
        },
        has_raw);
  }
  compare(
      session, "broadcast.8MiB", 1e3,
      [&] { gex_Event_Wait(gex_Coll_BroadcastNB(job.tm(), 0, dst, src, kMost, 0)); },
      [&] {
        raw::barrier(job.shared()->barrier, job.size(), share);
        memcpy(dst, halves.sources[0], kMost);  // the root's own result is one of them
        raw::barrier(job.shared()->barrier, job.size(), share);
      },
      has_raw);
  job.sync();
}

}  // namespace

void measure_collectives(Session& session) {
  short_ones(session);
  long_ones(session);
}

}  // namespace causeway::bench
