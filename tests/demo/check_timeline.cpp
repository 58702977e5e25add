// Reads what `causeway trace --perfetto` writes and checks it against the Trace Event Format: the
// members that each phase needs, names of processes and threads, slices of a thread that lie within
// or beside each other, beginnings with ends, arrows that leave and reach a slice. Prints the ranks
// and the arrows; status 0 when it holds.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Slice {
  double begin, end;
};
using Thread = std::pair<int, int>;  // process, thread
struct Timeline {
  std::map<Thread, std::vector<Slice>> slices;
  std::map<int, int> open;                                    // by id: beginnings without ends
  std::map<int, std::pair<Thread, double>> departs, arrives;  // by id
  std::set<int> named, with_main;
  std::map<Thread, std::string> threads;  // their names
};

// Clocks are written in thousandths of a microsecond.
constexpr double kRounding = 0.0015;

void fail(const std::string& why) {
  throw std::runtime_error(why);
}

void take(Timeline& out, const YAML::Node& event) {
  const auto phase = event["ph"].as<std::string>();
  const int process = event["pid"].as<int>();
  if (phase == "M") {
    const auto what = event["name"].as<std::string>();
    if (what == "process_name") out.named.insert(process);
    if (what != "thread_name") return;
    const auto name = event["args"]["name"].as<std::string>();
    if (name == "main") out.with_main.insert(process);
    if (name.empty() || !out.threads.emplace(Thread{process, event["tid"].as<int>()}, name).second)
      fail("a thread without a name, or with two");
    return;
  }
  const auto time = event["ts"].as<double>();
  const Thread thread{process, event["tid"].as<int>()};
  if (time < 0) fail(fmt::format("an event at {} us, before the first", time));
  if (event["name"].as<std::string>().empty()) fail("an event without a name");
  if (phase == "X") {
    const auto length = event["dur"].as<double>();
    if (length < 0) fail("a slice that ends before it begins");
    if (event["args"]["peer"].as<int>() < 0) fail("a slice without a peer");
    out.slices[thread].push_back({time, time + length});
  } else if (phase == "b") {
    ++out.open[event["id"].as<int>()];
  } else if (phase == "e") {
    if (--out.open[event["id"].as<int>()] != 0) fail("an end without a beginning");
  } else if (phase == "s") {
    if (!out.departs.emplace(event["id"].as<int>(), std::pair{thread, time}).second)
      fail("two arrows of one number");
  } else if (phase == "f") {
    if (event["bp"].as<std::string>() != "e") fail("an arrow that ends at the next slice");
    if (!out.arrives.emplace(event["id"].as<int>(), std::pair{thread, time}).second)
      fail("two arrows of one number");
  } else if (phase != "i") {
    fail("an unknown phase " + phase);
  }
}

void check_nesting(std::vector<Slice>& slices) {
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.begin < b.begin || (a.begin == b.begin && a.end > b.end);
  });
  std::vector<Slice> around;
  for (const Slice& slice : slices) {
    while (!around.empty() && around.back().end <= slice.begin + kRounding) around.pop_back();
    if (!around.empty() && slice.end > around.back().end + kRounding)
      fail(fmt::format("slices that overlap: {}-{} and {}-{}", around.back().begin,
                       around.back().end, slice.begin, slice.end));
    around.push_back(slice);
  }
}

bool in_a_slice(const Timeline& line, const std::pair<Thread, double>& place) {
  const auto at = line.slices.find(place.first);
  return at != line.slices.end() &&
         std::any_of(at->second.begin(), at->second.end(), [&](const Slice& slice) {
           return slice.begin <= place.second + kRounding && place.second <= slice.end + kRounding;
         });
}

void check(Timeline& line) {
  for (auto& [thread, slices] : line.slices) {
    if (line.named.count(thread.first) == 0) fail("a process without a name");
    if (line.threads.count(thread) == 0) fail("a thread without a name");
    if (line.with_main.count(thread.first) == 0) fail("a process without a main thread");
    check_nesting(slices);
  }
  for (const auto& [id, count] : line.open)
    if (count != 0) fail("a beginning without an end");
  size_t homeless = 0;
  for (const auto& [id, from] : line.departs) {
    const auto to = line.arrives.find(id);
    if (to == line.arrives.end()) fail("an arrow without an end");
    if (!in_a_slice(line, from)) fail("an arrow that leaves from no call");
    homeless += in_a_slice(line, to->second) ? 0 : 1;  // a handler that had not returned
    if (to->second.second < from.second) fail("a message that arrives before it is sent");
  }
  if (line.arrives.size() != line.departs.size()) fail("an arrow without a beginning");
  if (homeless > line.named.size()) fail("arrows that reach no handler");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::ifstream in(argc == 2 ? argv[1] : "");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const YAML::Node root = YAML::Load(text);  // JSON is YAML
    Timeline line;
    for (const YAML::Node& event : root["traceEvents"]) take(line, event);
    check(line);
    fmt::print("{} ranks, {} arrows\n", line.named.size(), line.departs.size());
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "check_timeline: " << e.what() << '\n';
    return 1;
  }
}
