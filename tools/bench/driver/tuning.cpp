#include "tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace causeway::bench {
namespace {

std::string to_line(const Timing& t) {
  return fmt::format("{} {} {} {} {:.0f}", t.operation, t.bytes, t.asked, t.algorithm, t.ns);
}
bool from_line(const std::string& line, Timing& t) {
  std::istringstream in(line);
  return static_cast<bool>(in >> t.operation >> t.bytes >> t.asked >> t.algorithm >> t.ns);
}

std::string time_text(double ns) {
  return ns < 1e4 ? fmt::format("{:.0f} ns", ns) : fmt::format("{:.1f} us", ns / 1e3);
}

}  // namespace

Tuning::Tuning(std::string file, std::string shape)
    : file_(std::move(file)), shape_(std::move(shape)) {
  std::vector<Timing> earlier;
  if (std::ifstream in(file_); in) {
    std::string line, locality;
    resumed_ = std::getline(in, line) && line == "shape " + shape_;
    while (resumed_ && std::getline(in, line)) {
      Timing t;
      if (line.rfind("locality ", 0) == 0)
        locality = line.substr(9);
      else if (from_line(line, t))  // the last line may be torn
        earlier.push_back(t);
    }
    if (!locality.empty()) locality_ = locality;
  }
  log_.open(file_, std::ios::trunc);
  if (!log_) refuse(errno);
  log_ << "shape " << shape_ << "\nlocality " << locality_ << std::endl;
  if (!log_) {
    const int error = errno;
    if (earlier.empty()) std::remove(file_.c_str());
    refuse(error);
  }
  for (const Timing& t : earlier) add(t);
}

void Tuning::take(const Timing& timing) {
  Timing& best = rows_[timing.operation][timing.bytes][timing.asked];
  const double slowest = std::max(best.slowest_ns, timing.ns);
  if (best.ns == 0 || timing.ns < best.ns) best = timing;
  best.slowest_ns = slowest;
}

void Tuning::add(const Timing& timing) {
  take(timing);
  log_ << to_line(timing) << std::endl;
  if (!log_) refuse(errno);
}

void Tuning::refuse(int error) const {
  throw std::runtime_error(fmt::format("cannot write {}: {}", file_, std::strerror(error)));
}

void Tuning::set_locality(const std::string& word) {
  if (word == locality_) return;
  locality_ = word;
  log_ << "locality " << word << std::endl;
}

bool Tuning::has(const std::string& operation, uint64_t bytes, const std::string& asked) const {
  const auto of_operation = rows_.find(operation);
  if (of_operation == rows_.end()) return false;
  const auto row = of_operation->second.find(bytes);
  return row != of_operation->second.end() && row->second.count(asked) != 0;
}

void Tuning::forget() {
  log_.close();
  std::remove(file_.c_str());
}

Tuning::Winner Tuning::winner_of(const std::string& operation, uint64_t bytes, const Row& row,
                                 double noise) const {
  std::vector<Timing> all;
  const auto normal = row.find("default");
  for (const auto& [asked, t] : row) {
    // An algorithm that could not serve the call left it to another one. The default's stands once.
    const bool usual = normal != row.end() && t.algorithm == normal->second.algorithm;
    if (asked == t.algorithm && !usual) all.push_back(t);
  }
  if (normal != row.end()) {
    all.push_back(normal->second);
    if (const auto named = row.find(all.back().algorithm); named != row.end()) {
      all.back().ns = std::min(all.back().ns, named->second.ns);
      all.back().slowest_ns = std::max(all.back().slowest_ns, named->second.slowest_ns);
    }
  }
  std::sort(all.begin(), all.end(), [](const Timing& a, const Timing& b) { return a.ns < b.ns; });
  std::string text;
  for (const Timing& t : all) {
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", t.algorithm, time_text(t.ns),
                        t.asked == "default" ? " (default)" : "");
  }
  Winner winner;
  winner.comment = operation == "barrier"
                       ? fmt::format("# barrier: {}", text)
                       : fmt::format("# {} of {} bytes: {}", operation, bytes, text);
  if (normal == row.end() || all.empty()) return winner;
  const Timing& best = all.front();
  const auto usual =
      std::find_if(all.begin(), all.end(), [](const Timing& t) { return t.asked == "default"; });
  if (best.ns < usual->ns * (1 - noise) && best.slowest_ns < usual->ns)
    winner.algorithm = best.algorithm;
  return winner;
}

std::string Tuning::table(uint32_t ranks, const std::string& about, double noise) const {
  std::string text = fmt::format(
      "# {}\n# Times are of one call, the fastest repetition, buffers in segments. A rule stands "
      "where\n# an algorithm was faster than the default by more than {:.0f} %.\ncollectives:\n",
      about, noise * 100);
  std::string rules;
  unsigned number = 0;
  for (const auto& [operation, by_bytes] : rows_) {
    for (auto at = by_bytes.begin(); at != by_bytes.end();) {
      // Sizes in a row with one winner make one rule; borders lie half way between sizes.
      const Winner first = winner_of(operation, at->first, at->second, noise);
      std::string comments = "    " + first.comment + "\n";
      auto end = std::next(at);
      for (; end != by_bytes.end(); ++end) {
        const Winner next = winner_of(operation, end->first, end->second, noise);
        if (next.algorithm != first.algorithm) break;
        comments += "    " + next.comment + "\n";
      }
      rules += comments;
      const auto border = [](uint64_t a, uint64_t b) {
        return static_cast<uint64_t>(std::sqrt(static_cast<double>(a) * static_cast<double>(b)));
      };
      if (!first.algorithm.empty()) {
        rules += fmt::format("    - {{name: tuned-{}-{}, operation: {}, ", operation, ++number,
                             operation);
        if (at != by_bytes.begin())
          rules += fmt::format("from: {}B, ", border(std::prev(at)->first, at->first));
        if (end != by_bytes.end())
          rules += fmt::format("to: {}B, ", border(std::prev(end)->first, end->first) - 1);
        rules += fmt::format("ranks_from: {}, ranks_to: {}, locality: {}, use: [{}]}}\n", ranks,
                             ranks, locality_, first.algorithm);
      }
      at = end;
    }
  }
  // A list of comments alone would be no list.
  if (number == 0) return text + "  rules: []\n" + rules;
  return text + "  rules:\n" + rules;
}

}  // namespace causeway::bench
