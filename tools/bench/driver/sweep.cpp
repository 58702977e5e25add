#include "sweep.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "command/text.h"
#include "config/config.h"
#include "plan_class.h"
#include "table.h"

namespace causeway::bench {
namespace {

constexpr uint64_t kMostBytes = 4 << 20;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) out.push_back(item);
  return out;
}

}  // namespace

std::vector<std::string> sweep_operations(const std::string& text) {
  static const std::vector<std::string> all = split(kAllSweeps);
  const std::vector<std::string> words = split(text);
  for (const std::string& word : words) {
    if (std::ranges::find(all, word) != all.end()) continue;
    throw std::runtime_error(fmt::format("'{}' is no operation that can be swept; there are {}{}",
                                         word, fmt::join(all, ", "), meant_hint(word, all)));
  }
  if (words.empty())
    throw std::runtime_error(fmt::format("names none of {}", fmt::join(all, ", ")));
  return words;
}

std::vector<uint64_t> sweep_sizes(const std::string& text) {
  const size_t dash = text.find('-');
  uint64_t from = 0, to = 0;
  try {
    from = parse_size(text.substr(0, dash));
    to = dash == std::string::npos ? from : parse_size(text.substr(dash + 1));
  } catch (const Error&) {
    from = 0;  // told below
  }
  if (from < 8 || from % 8 != 0 || from > to || to > kMostBytes)
    throw std::runtime_error(fmt::format(
        "'{}' is no range of sizes such as 8-4MiB, the first a multiple of 8, the last at most {}",
        text, command::size_text(kMostBytes)));
  std::vector<uint64_t> out;
  for (uint64_t bytes = from; bytes <= to; bytes *= 2) out.push_back(bytes);
  return out;
}

// All sides in turns; of several launches each side's middle one.
void Plan::sweep() {
  const std::vector<std::string> operations = sweep_operations(request_.sweep);
  const std::string names = fmt::format("{}", fmt::join(operations, ","));
  const std::string sizes = fmt::format("{}", fmt::join(sweep_sizes(request_.sizes), ","));
  std::vector<std::string> command = {program_, "--launch", "sweep", "--sizes", sizes}, sets;
  bool tcp = false, has_mpi = true;
  if (!request_.network.empty()) {
    const NetworkName name = network_name(request_.network).value();
    command = network_words(name, sets);
    command.insert(command.begin(), program_ + "-" + name.conduit);
    command.insert(command.end(), {"--sweep", sizes});
    tcp = is_over_tcp(name);
    has_mpi = tcp || name.transport.starts_with("shm");  // it runs on this host alone
  }
  add_selection(command, operations);
  const unsigned ranks = request_.network.empty() ? request_.ranks : 2;
  std::optional<MpiSides> mpi;
  std::vector<std::string> words = split(sizes);
  words.insert(words.begin(), names);
  if (has_mpi)
    mpi.emplace(MpiSides::Job{ranks, request_.quick, tcp, true, words, true}, tool_,
                outcome_.notes);
  std::vector<Measured> rows;
  std::vector<std::vector<Measured>> theirs(mpi ? mpi->sides().size() : 0);
  const unsigned launches = request_.launches.value_or(1);
  for (unsigned i = 0; i < launches && outcome_.problems.empty(); ++i) {
    say(fmt::format("sweep over {}, launch {} of {}", names, i + 1, launches));
    take_records(launch(ranks, command, sets), rows);
    for (size_t s = 0; s < theirs.size(); ++s) {
      const MpiSide& side = mpi->sides()[s];
      say(fmt::format("the same by {}", side.name));
      const Captured captured = run_captured(side.command);
      take_records(captured, theirs[s]);
      if (captured.status != 0)
        outcome_.notes.push_back(
            fmt::format("{} ended with status {}", side.name, captured.status));
    }
  }
  outcome_.measured = middle_launches(rows);
  for (size_t s = 0; s < theirs.size(); ++s)
    for (const Measured& row : middle_launches(theirs[s]))
      for (Measured& ours : outcome_.measured)
        if (ours.name == row.name) ours.beside[mpi->sides()[s].name] = row.ours;
  if (rows.empty()) outcome_.problems.push_back("nothing was measured");
}

std::string Curve::title() const {
  if (operation == "allreduce") return "Allreduce: time of a sum of doubles over all ranks";
  const char* const word = operation == "am"    ? "Active messages"
                           : operation == "put" ? "Puts"
                                                : "Gets";
  if (!is_latency()) return fmt::format("{}: bandwidth with many under way", word);
  return operation == "am" ? "Active messages: latency one way, half of there and back"
                           : fmt::format("{}: latency, one at a time", word);
}

std::vector<std::string> Curve::sides() const {
  std::set<std::string> out;
  for (const At& point : points)
    for (const auto& [side, value] : point.measured->beside) out.insert(side);
  return {out.begin(), out.end()};
}

std::vector<Curve> curves_of(const Outcome& outcome) {
  std::vector<Curve> out;
  for (const Measured& measured : outcome.measured) {
    const std::string& name = measured.name;
    const size_t dot = name.find('.'), last = name.rfind('.');
    uint64_t bytes = 0;
    std::from_chars(name.data() + last + 1, name.data() + name.size(), bytes);
    if (dot == last || bytes == 0) continue;
    const std::string operation = name.substr(0, dot), what = name.substr(dot + 1, last - dot - 1);
    auto at = std::ranges::find_if(out, [&](const Curve& curve) {
      return curve.operation == operation && curve.what == what;
    });
    if (at == out.end()) at = out.insert(out.end(), {operation, what, {}});
    at->points.push_back({bytes, &measured});
  }
  return out;
}

std::vector<std::vector<std::string>> curve_rows(const Curve& curve, const Earlier& earlier) {
  const std::vector<std::string> sides = curve.sides();
  const bool messages = curve.operation == "am";
  std::vector<std::vector<std::string>> rows{{"size", curve.unit(), "95 %", "mad", "raw", "ratio"}};
  rows[0].insert(rows[0].end(), sides.begin(), sides.end());
  if (!earlier.empty()) rows[0].insert(rows[0].end(), {"before", "change"});
  if (messages) rows[0].emplace_back("as");
  for (const auto& [bytes, measured] : curve.points) {
    const Measured& m = *measured;
    std::vector<std::string> row{
        command::size_text(bytes),    number(m.ours), bounds_text(m), mad_text(m),
        m.raw ? number(*m.raw) : "-", ratio_text(m)};
    for (const std::string& side : sides) {
      const auto at = m.beside.find(side);
      row.push_back(at == m.beside.end() ? "-" : number(at->second));
    }
    const auto before = earlier.find(m.name);
    if (before != earlier.end())
      row.insert(row.end(), {number(before->second.ours), change_text(m, before->second)});
    else if (!earlier.empty())
      row.insert(row.end(), 2, "-");
    if (messages) row.push_back(m.path);
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_sweep(const Outcome& outcome, const Earlier& earlier) {
  if (outcome.facts) fmt::print("{}\n", facts_text(*outcome.facts));
  for (const Curve& curve : curves_of(outcome)) {
    fmt::print("\n");
    command::print_folded(curve.title(), "");
    command::print_columns(curve_rows(curve, earlier));
  }
}

}  // namespace causeway::bench
