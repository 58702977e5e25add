#include "trace_clocks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace causeway::command {
namespace {

using Place = std::pair<size_t, size_t>;               // trace, record
using Key = std::tuple<uint32_t, uint32_t, uint64_t>;  // from, to, tag

bool lost_records(const Trace& trace) {
  return trace.header.count > trace.header.capacity;
}

// The shortest ways between two hosts: the differences of their clocks are in them.
struct Ways {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t there = kNone, back = kNone;
  bool both() const { return there != kNone && back != kNone; }
  // The second host's clock is so far ahead of the first one's.
  int64_t ahead() const { return (there - back) / 2; }
  int64_t uncertain() const { return (there + back) / 2; }
};

struct Halves {
  Ways half[2], all;
  bool both() const { return half[0].both() && half[1].both(); }
};

// Numbers for hosts, by trace; the first trace's is 0.
std::vector<size_t> host_numbers(const std::vector<Trace>& traces) {
  std::map<std::string, size_t> known;
  std::vector<size_t> out;
  for (const Trace& trace : traces)
    out.push_back(known.emplace(trace.header.host, known.size()).first->second);
  return out;
}

// By the first and the second host; the first has the lower number.
std::map<std::pair<size_t, size_t>, Halves> ways_between(const std::vector<Trace>& traces,
                                                         const std::vector<Message>& messages,
                                                         const std::vector<size_t>& host,
                                                         const std::vector<uint64_t>& middle) {
  std::map<std::pair<size_t, size_t>, Halves> out;
  for (const Message& m : messages) {
    const size_t from = host[m.from_trace], to = host[m.to_trace];
    if (from == to) continue;
    const uint64_t sent = begin_of(traces[m.from_trace], traces[m.from_trace].records[m.sent]);
    const uint64_t got = begin_of(traces[m.to_trace], traces[m.to_trace].records[m.received]);
    const auto way = static_cast<int64_t>(got - sent);
    Halves& halves = out[std::minmax(from, to)];
    for (Ways* ways : {&halves.all, &halves.half[sent > middle[m.from_trace] ? 1 : 0]}) {
      int64_t& shortest = from < to ? ways->there : ways->back;
      shortest = std::min(shortest, way);
    }
  }
  return out;
}

// The clock of host `b` out of that of `a`; `forward`: the ways were counted from a to b.
HostClock through(const HostClock& a, const Halves& ways, bool forward, const Trace& of_b) {
  const auto first = static_cast<int64_t>(of_b.header.begin_ns);
  const int64_t length =
      of_b.records.empty() ? 0 : static_cast<int64_t>(of_b.records.back().time_ns);
  HostClock out;
  for (const int i : {0, 1}) {
    const Ways& part = ways.both() ? ways.half[i] : ways.all;
    const int64_t back = forward ? -part.ahead() : part.ahead();
    out.at[i] = first + length / 4 + i * std::max<int64_t>(length / 2, 1);
    out.ahead[i] = a.common(static_cast<uint64_t>(out.at[i] + back)) - out.at[i];
  }
  out.measured = a.measured;
  out.uncertain_ns = a.uncertain_ns + ways.all.uncertain();
  return out;
}

HostClock by_time_of_day(const Trace& reference, const Trace& trace) {
  const auto since_boot = [](const cwyt_header& h) {
    return static_cast<int64_t>(h.wall_ns - h.begin_ns);
  };
  HostClock out;
  out.ahead[0] = out.ahead[1] = since_boot(trace.header) - since_boot(reference.header);
  out.measured = false;
  return out;
}

}  // namespace

int64_t HostClock::common(uint64_t own) const {
  const auto time = static_cast<int64_t>(own);
  const double pace = static_cast<double>(ahead[1] - ahead[0]) / static_cast<double>(at[1] - at[0]);
  return time + ahead[0] + static_cast<int64_t>(pace * static_cast<double>(time - at[0]));
}

std::vector<Message> match_messages(const std::vector<Trace>& traces) {
  std::map<Key, std::pair<std::vector<Place>, std::vector<Place>>> ends;  // sent, received
  std::map<uint32_t, bool> lost;                                          // by rank
  for (size_t t = 0; t < traces.size(); ++t) {
    const uint32_t own = traces[t].header.rank;
    lost[own] |= lost_records(traces[t]);
    for (size_t i = 0; i < traces[t].records.size(); ++i) {
      const cwyt_record& r = traces[t].records[i];
      if (r.tag == 0 || !is_accepted(r)) continue;
      if (is_received(r))
        ends[{r.peer, own, r.tag}].second.emplace_back(t, i);
      else
        ends[{own, r.peer, r.tag}].first.emplace_back(t, i);
    }
  }
  std::vector<Message> out;
  for (auto& [key, both] : ends) {
    auto& [sent, received] = both;
    if (lost[std::get<0>(key)]) {
      std::reverse(sent.begin(), sent.end());
      std::reverse(received.begin(), received.end());
    }
    for (size_t i = 0; i < std::min(sent.size(), received.size()); ++i)
      out.push_back({sent[i].first, sent[i].second, received[i].first, received[i].second});
  }
  return out;
}

std::vector<HostClock> common_clocks(const std::vector<Trace>& traces,
                                     const std::vector<Message>& messages) {
  const std::vector<size_t> host = host_numbers(traces);
  std::vector<uint64_t> middle;
  for (const Trace& t : traces)
    middle.push_back(t.header.begin_ns + (t.records.empty() ? 0 : t.records.back().time_ns / 2));
  const auto ways = ways_between(traces, messages, host, middle);
  std::map<size_t, const Trace*> a_trace_of;
  for (size_t t = 0; t < traces.size(); ++t) a_trace_of.emplace(host[t], &traces[t]);
  std::map<size_t, HostClock> clocks{{0, {}}};
  // From the hosts that have a clock to those that do not, over the surest pair each time.
  for (bool found = true; std::exchange(found, false);) {
    std::optional<std::pair<size_t, HostClock>> best;
    for (const auto& [pair, halves] : ways) {
      const auto [low, high] = pair;
      if (!halves.all.both() || (clocks.count(low) != 0) == (clocks.count(high) != 0)) continue;
      const bool forward = clocks.count(low) != 0;
      const size_t next = forward ? high : low;
      const HostClock clock =
          through(clocks.at(forward ? low : high), halves, forward, *a_trace_of.at(next));
      if (!best || clock.uncertain_ns < best->second.uncertain_ns) best = {next, clock};
    }
    if (best) found = clocks.insert(*best).second;
  }
  std::vector<HostClock> out;
  for (size_t t = 0; t < traces.size(); ++t) {
    const auto at = clocks.find(host[t]);
    out.push_back(at != clocks.end() ? at->second
                                     : by_time_of_day(traces[0], *a_trace_of.at(host[t])));
  }
  return out;
}

}  // namespace causeway::command
