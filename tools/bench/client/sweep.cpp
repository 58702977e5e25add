#include "sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "measure.h"

namespace causeway::bench {
namespace {

constexpr double kRowNs = 300e6;  // no more repetitions of a row than take so long
constexpr uint32_t kWindow = 64;  // or what fits the segment

class Sweep {
 public:
  Sweep(Job& job, bool quick, const SweepWish& wish, RawLoops& raw)
      : job_(job), session_(job, {quick, {}}), wish_(wish), raw_(raw) {
    local_ = job.owner_address(job.rank()) + kSweepHalf;
    counters.block = local_;
    counters.back = job.owner_address(job.peer());
  }

  void measure(const char* name, const SweepRow& row);
  void all_reduce(size_t bytes);

 private:
  double ours(const SweepRow& row, uint64_t count);
  double raw(const SweepRow& row, uint64_t count);
  void trips(size_t bytes, uint64_t count);
  void flood(size_t bytes, uint64_t count);
  void report(const char* name, const SweepRow& row, const char* kind, const Comparison& result,
              bool has_raw);

  Job& job_;
  Session session_;
  const SweepWish& wish_;
  RawLoops& raw_;
  unsigned char* local_;
  uint64_t phase_ = 0, floods_ = 0, flood_ends_ = 0;
  uint64_t round_ = 0;
};

void Sweep::trips(size_t bytes, uint64_t count) {
  const gex_TM_t tm = job_.tm();
  const gex_Rank_t peer = job_.peer();
  const char kind = *message_kind(bytes);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t before = counters.pongs;
    if (kind == 's')
      gex_AM_RequestShort2(tm, peer, kPingShort, 0, static_cast<gex_AM_Arg_t>(i), 0);
    else if (kind == 'm')
      gex_AM_RequestMedium1(tm, peer, kPingBlock, local_, bytes, GEX_EVENT_NOW, 0, 0);
    else
      gex_AM_RequestLong0(tm, peer, kPingLong, local_, bytes, counters.back, GEX_EVENT_NOW, 0);
    GASNET_BLOCKUNTIL(counters.pongs != before);
  }
}

// The end is the other rank's message that it has handled all of them.
void Sweep::flood(size_t bytes, uint64_t count) {
  const gex_TM_t tm = job_.tm();
  const gex_Rank_t peer = job_.peer();
  const char kind = *message_kind(bytes);
  for (uint64_t i = 0; i < count; ++i)
    if (kind == 's')
      gex_AM_RequestShort2(tm, peer, kFloodShort, 0, static_cast<gex_AM_Arg_t>(i), 0);
    else if (kind == 'm')
      gex_AM_RequestMedium1(tm, peer, kFloodBlock, local_, bytes, GEX_EVENT_NOW, 0, 0);
    else
      gex_AM_RequestLong1(tm, peer, kFloodLong, local_, bytes, counters.back, GEX_EVENT_NOW, 0, 0);
  ++flood_ends_;
  GASNET_BLOCKUNTIL(counters.flood_ends == flood_ends_);
}

double Sweep::ours(const SweepRow& row, uint64_t count) {
  const bool floods = row.op == SweepOp::am && row.window > 1;
  if (floods) floods_ += count;
  bool told = !floods;
  return told_series(
      job_, ++phase_, count,
      [&] {
        if (floods) return flood(row.bytes, count);
        row.op == SweepOp::am ? trips(row.bytes, count) : run_transfers(job_, local_, row, count);
      },
      [&](const auto& ended) {
        while (!ended()) {
          gasnet_AMPoll();
          if (told || counters.floods != floods_) continue;
          told = true;
          gex_AM_RequestShort0(job_.tm(), job_.peer(), kFloodEnd, 0);
        }
      });
}

double Sweep::raw(const SweepRow& row, uint64_t count) {
  return told_series(
      job_, ++phase_, count, [&] { raw_.first(row, count); },
      [&](const auto& ended) {
        raw_.second(row, count, ended);
        while (!ended()) {
        }
      });
}

void Sweep::report(const char* name, const SweepRow& row, const char* kind,
                   const Comparison& result, bool has_raw) {
  const std::string note = job_.oversubscribed() ? "ranks share cores" : "";
  session_.report(
      {fmt::format("{}.{}.{}", name, row.window == 1 ? "latency" : "bandwidth", row.bytes),
       result.ours, has_raw ? std::optional(result.raw) : std::nullopt,
       kind != nullptr ? kind : wish_.path, note, result.spread});
}

void Sweep::measure(const char* name, const SweepRow& row) {
  const char* const kind = row.op == SweepOp::am ? message_kind(row.bytes) : nullptr;
  if (row.op == SweepOp::am && kind == nullptr) return;
  const bool has_raw = raw_.has(row);
  const uint64_t few = row.window == 1 ? 16 : row.window;
  ours(row, few);
  double once = ours(row, few);
  if (has_raw) once = std::max(once, raw(row, few));
  uint64_t turns = turns_for(session_.aim_ns(), once, 1 << 14) + row.window - 1;
  turns = job_.from_root(turns / row.window * row.window);
  const double repetition_ns = 2 * once * static_cast<double>(turns);
  const auto repetitions = static_cast<unsigned>(
      job_.from_root(turns_for(kRowNs, repetition_ns, session_.repetitions())));
  const auto figure = [&](double ns) {
    const double bytes = static_cast<double>(row.bytes);
    if (row.window > 1) return bytes / ns;
    return ns / (row.op == SweepOp::am ? 2e3 : 1e3);
  };
  const Comparison result = interleave(
      std::max(repetitions, 5u), [&] { return figure(ours(row, turns)); },
      [&] { return has_raw ? figure(raw(row, turns)) : 0; });
  report(name, row, kind, result, has_raw);
}

// By all ranks. Beside sums by hand: a line per rank for a value, by parts where there are more.
void Sweep::all_reduce(size_t bytes) {
  const size_t count = bytes / sizeof(double);
  const MappedHalves halves(job_, kSweepHalf);
  const bool has_raw = job_.size() <= raw::kMostRanks && halves.all;
  auto* const to = reinterpret_cast<double*>(local_);
  auto* const from = reinterpret_cast<double*>(local_ - kSweepHalf);
  const bool share = job_.oversubscribed();
  const auto ours = [&] { gex_Event_Wait(start_sum(job_, to, from, count)); };
  const auto raw = [&] {
    SharedBlock& shared = *job_.shared();
    if (count == 1)
      *to = raw::all_reduce_value(shared.board, job_.rank(), job_.size(), ++round_, *from, share);
    else
      raw::all_reduce_parts(shared.barrier, job_.rank(), job_.size(), halves.sources.data(),
                            halves.results.data(), count, share);
  };
  const auto timed = [&](const auto& once, uint64_t turns) {
    job_.sync();
    return each_ns(turns, once) / 1e3;
  };
  timed(ours, 2);
  const double once = 1e3 * timed(ours, 4);
  const uint64_t turns = job_.from_root(turns_for(session_.aim_ns(), once, 1 << 14));
  const auto repetitions = static_cast<unsigned>(job_.from_root(
      turns_for(kRowNs, 2 * once * static_cast<double>(turns), session_.repetitions())));
  const Comparison result = interleave(
      std::max(repetitions, 5u), [&] { return timed(ours, turns); },
      [&] { return has_raw ? timed(raw, turns) : 0; });
  report("allreduce", {SweepOp::put, bytes, 1}, nullptr, result, has_raw);
}

}  // namespace

void run_transfers(const Job& job, unsigned char* local, const SweepRow& row, uint64_t count) {
  const gex_TM_t tm = job.tm();
  const gex_Rank_t peer = job.peer();
  unsigned char* const there = job.owner_address(peer);
  const bool puts = row.op == SweepOp::put;
  for (uint64_t done = 0; done < count; done += row.window) {
    if (row.window == 1) {
      if (puts)
        gex_RMA_PutBlocking(tm, peer, there, local, row.bytes, 0);
      else
        gex_RMA_GetBlocking(tm, local, peer, there, row.bytes, 0);
      continue;
    }
    for (size_t at = 0; at < row.window * row.bytes; at += row.bytes)
      if (puts)
        gex_RMA_PutNBI(tm, peer, there + at, local + at, row.bytes, GEX_EVENT_DEFER, 0);
      else
        gex_RMA_GetNBI(tm, local + at, peer, there + at, row.bytes, 0);
    gex_NBI_Wait(puts ? GEX_EC_PUT : GEX_EC_GET, 0);
  }
}

const char* message_kind(size_t bytes) {
  if (bytes <= 2 * sizeof(gex_AM_Arg_t)) return "short";
  if (bytes <= std::min(gex_AM_LUBRequestMedium(), gex_AM_LUBReplyMedium())) return "medium";
  if (bytes <= std::min(gex_AM_LUBRequestLong(), gex_AM_LUBReplyLong())) return "long";
  return nullptr;
}

void measure_sweep(Job& job, bool quick, const SweepWish& wish, RawLoops& raw) {
  std::memset(job.owner_address(job.rank()), 0, 2 * kSweepHalf);
  Sweep sweep(job, quick, wish, raw);
  constexpr struct {
    const char* name;
    SweepOp op;
  } kOps[] = {{"put", SweepOp::put}, {"get", SweepOp::get}, {"am", SweepOp::am}};
  const auto wants = [&](const char* name) {
    return std::ranges::find(wish.operations, name) != wish.operations.end();
  };
  for (const auto& [name, op] : kOps) {
    if (!wants(name)) continue;
    for (const size_t bytes : wish.sizes) {
      const auto fitting = static_cast<uint32_t>(std::min<size_t>(kWindow, kSweepHalf / bytes));
      sweep.measure(name, {op, bytes, 1});
      sweep.measure(name, {op, bytes, std::max(fitting, 2u)});
    }
  }
  for (const size_t bytes : wish.sizes)
    if (wants("allreduce")) sweep.all_reduce(bytes);
  job.sync();
}

}  // namespace causeway::bench
