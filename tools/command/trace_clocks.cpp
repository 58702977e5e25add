#include "trace_clocks.h"

#include <algorithm>
#include <cmath>
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

// Messages between two hosts bound how far the second one's clock is ahead of the first one's: at
// most what those there seem to take, at least minus that of those back. Times are the first one's.
struct Ways {
  std::vector<std::pair<int64_t, int64_t>> there, back;  // when sent; how long
  int64_t begin = 0;
  bool both() const { return !there.empty() && !back.empty(); }
};

// The difference of two clocks: so far ahead at `begin`, and changing by `pace` from there on.
struct Drift {
  double ahead = 0, pace = 0, uncertain = 0;
  int64_t begin = 0;
};

// In the middle of what all messages allow, for one pace. Negative uncertainty: they allow none.
Drift line_of(const Ways& ways, double pace) {
  const auto least = [&](const std::vector<std::pair<int64_t, int64_t>>& some, double slope) {
    double out = std::numeric_limits<double>::infinity();
    for (const auto& [when, way] : some)
      out =
          std::min(out, static_cast<double>(way) - slope * static_cast<double>(when - ways.begin));
    return out;
  };
  const double most = least(ways.there, pace), fewest = -least(ways.back, -pace);
  return {(most + fewest) / 2, pace, (most - fewest) / 2, ways.begin};
}

// So that no message arrives before it was sent. One difference for all of the time where that
// does; else the pace that leaves the most room, which falls off to both of its sides.
Drift fit(const Ways& ways) {
  if (const Drift even = line_of(ways, 0); even.uncertain >= 0) return even;
  double low = -1e-3, high = 1e-3;  // clocks of computers are far better
  for (int i = 0; i < 100; ++i) {
    const double third = (high - low) / 3;
    const bool up = line_of(ways, low + third).uncertain < line_of(ways, high - third).uncertain;
    (up ? low : high) += up ? third : -third;
  }
  return line_of(ways, (low + high) / 2);
}

// Numbers for hosts, by trace; the first trace's is 0.
std::vector<size_t> host_numbers(const std::vector<Trace>& traces) {
  std::map<std::string, size_t> known;
  std::vector<size_t> out;
  for (const Trace& trace : traces)
    out.push_back(known.emplace(trace.header.host, known.size()).first->second);
  return out;
}

// By the first and the second host; the first has the lower number.
std::map<std::pair<size_t, size_t>, Ways> ways_between(const std::vector<Trace>& traces,
                                                       const std::vector<Message>& messages,
                                                       const std::vector<size_t>& host) {
  std::map<std::pair<size_t, size_t>, Ways> out;
  for (const Message& m : messages) {
    const size_t from = host[m.from_trace], to = host[m.to_trace];
    if (from == to) continue;
    const uint64_t sent = begin_of(traces[m.from_trace], traces[m.from_trace].records[m.sent]);
    const uint64_t got = begin_of(traces[m.to_trace], traces[m.to_trace].records[m.received]);
    Ways& ways = out[std::minmax(from, to)];
    const auto when = static_cast<int64_t>(from < to ? sent : got);
    if (ways.there.empty() && ways.back.empty()) ways.begin = when;
    (from < to ? ways.there : ways.back).emplace_back(when, static_cast<int64_t>(got - sent));
  }
  return out;
}

// The clock of host `b` out of that of `a`; `forward`: the line is of b over a.
HostClock through(const HostClock& a, const Drift& line, bool forward, const Trace& of_b) {
  HostClock out;
  for (const int i : {0, 1}) {
    out.at[i] = static_cast<int64_t>(of_b.header.begin_ns) + i * 1'000'000'000;
    // By the clock that the line is over; its pace is too small for that of the other to matter.
    const double when = static_cast<double>(out.at[i] - line.begin) - (forward ? line.ahead : 0);
    const double ahead = line.ahead + line.pace * when / (forward ? 1 + line.pace : 1);
    const auto back = static_cast<int64_t>(forward ? -ahead : ahead);
    out.ahead[i] = a.common(static_cast<uint64_t>(out.at[i] + back)) - out.at[i];
  }
  out.measured = a.measured;
  out.uncertain_ns = a.uncertain_ns + static_cast<int64_t>(std::abs(line.uncertain));
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
    lost[own] |= traces[t].lost != 0;
    for (size_t i = 0; i < traces[t].records.size(); ++i) {
      const cwyt_record& r = traces[t].records[i];
      if (r.tag == 0 || !is_accepted(r)) continue;
      if (is_received(r))
        ends[{r.peer, own, r.tag}].second.emplace_back(t, i);
      else
        ends[{own, r.peer, r.tag}].first.emplace_back(t, i);
    }
  }
  // Threads write their records when a call returns, which need not be the order of what they sent:
  // of equal messages the first sent is taken for the first received.
  const auto earlier = [&traces](const Place& a, const Place& b) {
    const Trace &of_a = traces[a.first], &of_b = traces[b.first];
    return begin_of(of_a, of_a.records[a.second]) < begin_of(of_b, of_b.records[b.second]);
  };
  std::vector<Message> out;
  for (auto& [key, both] : ends) {
    auto& [sent, received] = both;
    for (std::vector<Place>* places : {&sent, &received})
      std::ranges::stable_sort(*places, earlier);
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
  std::map<std::pair<size_t, size_t>, Drift> lines;
  for (const auto& [pair, ways] : ways_between(traces, messages, host))
    if (ways.both()) lines.emplace(pair, fit(ways));
  std::map<size_t, const Trace*> a_trace_of;
  for (size_t t = 0; t < traces.size(); ++t) a_trace_of.emplace(host[t], &traces[t]);
  std::map<size_t, HostClock> clocks{{0, {}}};
  // From the hosts that have a clock to those that do not, over the surest pair each time.
  for (bool found = true; std::exchange(found, false);) {
    std::optional<std::pair<size_t, HostClock>> best;
    for (const auto& [pair, line] : lines) {
      const auto [low, high] = pair;
      if ((clocks.count(low) != 0) == (clocks.count(high) != 0)) continue;
      const bool forward = clocks.count(low) != 0;
      const size_t next = forward ? high : low;
      const HostClock clock =
          through(clocks.at(forward ? low : high), line, forward, *a_trace_of.at(next));
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
