#include "plan.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>

#include "plan_class.h"

namespace causeway::bench {
namespace {

constexpr unsigned kStartupRanks = 4;
constexpr unsigned kMemoryRanks = 256;
constexpr unsigned kNetworkLaunches = 5;
constexpr uint64_t kCounted = 100000;

bool is_over_tcp(const std::string& network) {
  const auto name = network_name(network.empty() ? "ofi/tcp" : network);
  return name && is_over_tcp(*name);
}

}  // namespace

bool is_over_tcp(const NetworkName& name) {
  return name.conduit == "eth" || (name.conduit != "verbs" && name.transport.rfind("tcp", 0) == 0);
}

void say(const std::string& text) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "causeway bench: {}\n", text);
}

void say_rows(const std::string& side, unsigned round, unsigned rounds,
              const std::vector<Measured>& rows) {
  std::string text;
  for (const Measured& row : rows)
    text += fmt::format("{} {} {:.3g}", text.empty() ? "" : ",", row.name, row.ours);
  say(fmt::format("round {} of {}, {}:{} ns", round + 1, rounds, side, text));
}

Captured Plan::launch(unsigned ranks, const std::vector<std::string>& command,
                      const std::vector<std::string>& sets) {
  std::vector<std::string> words = {
      tool_,     "run", "-n", std::to_string(ranks), "--timeout", request_.quick ? "120" : "500",
      "--stdin", "none"};
  if (request_.config) words.insert(words.end(), {"--config", *request_.config});
  for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
  for (const std::string& set : request_.sets) words.insert(words.end(), {"--set", set});
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  Captured captured = run_captured(words);
  if (captured.status != 0) {
    outcome_.problems.push_back(
        fmt::format("a job of {} ranks ended with status {}", ranks, captured.status));
  }
  return captured;
}

void Plan::take_records(const Captured& captured, std::vector<Measured>& into) {
  for (const std::string& line : captured.lines) {
    if (auto measured = from_record(line)) {
      into.push_back(std::move(*measured));
      continue;
    }
    Facts facts;
    int pinned = 0;
    if (sscanf(line.c_str(), "facts ranks %u cores %u pinned %d", &facts.ranks, &facts.cores,
               &pinned) == 3) {
      facts.pinned = pinned != 0;
      outcome_.facts = facts;
    }
  }
}

// Tells a measuring program which rows are asked for, and whether in short.
void Plan::add_selection(std::vector<std::string>& command,
                         const std::vector<std::string>& rows) const {
  if (request_.quick) command.push_back("--quick");
  if (!rows.empty())
    command.insert(command.end(), {"--only", fmt::format("{}", fmt::join(rows, ","))});
}

void Plan::pair() {
  say(fmt::format("puts, gets, messages and barriers on {} ranks", request_.ranks));
  std::vector<std::string> command = {program_, "--launch", "pair"};
  add_selection(command, request_.only);
  std::vector<Measured> rows;
  for (unsigned i = 0; i < request_.launches.value_or(1); ++i)
    take_records(launch(request_.ranks, command), rows);
  for (Measured& row : middle_launches(rows)) outcome_.measured.push_back(std::move(row));
}

// The figures that the program of one threading mode prints.
std::map<std::string, double> Plan::mode_figures(const std::string& mode, unsigned ranks,
                                                 const std::string& what) {
  std::vector<std::string> command = {program_ + "-" + mode, "--what", what};
  if (request_.quick) command.push_back("--quick");
  std::map<std::string, double> out;
  for (const std::string& line : launch(ranks, command).lines) {
    char name[64];
    double value = 0;
    if (sscanf(line.c_str(), "mode %63s %lf", name, &value) == 2) out[name] = value;
  }
  return out;
}

// The two programs take turns, so that a change of clock rate meets both.
void Plan::modes() {
  const unsigned launches = request_.quick ? 3 : 9;
  say(fmt::format("calls of GASNET_PAR and GASNET_SEQ programs, {} times", launches));
  std::map<std::string, std::vector<double>> par, seq;
  for (unsigned i = 0; i < launches; ++i) {
    for (const auto& [name, value] : mode_figures("par", 2, "calls")) par[name].push_back(value);
    for (const auto& [name, value] : mode_figures("seq", 2, "calls")) seq[name].push_back(value);
  }
  for (const auto& [name, values] : par) {
    const Figure* figure = find_figure(name);
    if (figure == nullptr || !wants(*figure) || seq[name].empty()) continue;
    outcome_.measured.push_back({name, median(values), median(seq[name]), "",
                                 fmt::format("medians of {} launches", launches),
                                 spread_of(values, median(values))});
  }
}

// Two threads of one rank and two ranks that receive: four cores at work.
void Plan::threads() {
  say("messages of two threads");
  const std::map<std::string, double> figures = mode_figures("par", 3, "threads");
  std::string note;
  if (!threads_are_judged())
    note = fmt::format("not judged: on {} cores, four are wanted", sysconf(_SC_NPROCESSORS_ONLN));
  for (const auto& [name, value] : figures) {
    if (name.ends_with(".raw")) continue;
    const auto raw = figures.find(name + ".raw");
    outcome_.measured.push_back(
        {name, value, raw != figures.end() ? std::optional(raw->second) : std::nullopt, "", note});
  }
}

// Two ranks whatever the others' number, in a program of the other interface.
void Plan::gaspi() {
  say("GASPI on two ranks");
  std::vector<std::string> command = {program_ + "-gaspi"};
  add_selection(command, request_.only);
  const std::optional<Facts> of_pair = outcome_.facts;
  take_records(launch(2, command), outcome_.measured);
  if (of_pair) outcome_.facts = of_pair;
}

void Plan::startup() {
  const unsigned launches = request_.quick ? 3 : 9;
  say(fmt::format("start-up of {} ranks, {} times", kStartupRanks, launches));
  std::vector<Measured> all;
  for (unsigned i = 0; i < launches; ++i)
    take_records(launch(kStartupRanks, {program_, "--launch", "startup"}), all);
  if (all.empty()) return;
  std::vector<double> milliseconds;
  for (const Measured& one : all) milliseconds.push_back(one.ours);
  Measured result = all.front();
  result.ours = median(milliseconds);
  result.spread = spread_of(milliseconds, result.ours);
  result.note = fmt::format("median of {} launches", milliseconds.size());
  outcome_.measured.push_back(result);
}

void Plan::memory() {
  const unsigned ranks = request_.quick ? 8 : kMemoryRanks;
  say(fmt::format("memory of {} ranks", ranks));
  take_records(launch(ranks, {program_, "--launch", "memory"}), outcome_.measured);
}

// Instructions per turn of one loop; nullopt after a problem, which is noted.
std::optional<double> Plan::count(const std::string& what, std::string& path) {
  std::string symbol = "causeway_count_" + what;
  std::ranges::replace(symbol, '.', '_');
  // Symbols are bound at the start, so that a first call does not count the dynamic linker. The
  // compiler may have made a copy of the function with a longer name.
  const Captured captured =
      launch(2, {"env", "LD_BIND_NOW=1", "valgrind", "--tool=callgrind",
                 "--toggle-collect=" + symbol + "*", "--callgrind-out-file=/dev/null", "--log-fd=1",
                 program_, "--launch", "instructions", "--count-what", what, "--count",
                 std::to_string(kCounted)});
  uint64_t turns = 0, instructions = 0;
  for (const std::string& line : captured.lines) {
    unsigned long long number = 0;
    char path_word[16];
    if (const size_t at = line.find("Collected : "); at != std::string::npos)
      instructions += std::strtoull(line.c_str() + at + 12, nullptr, 10);
    if (sscanf(line.c_str(), "counted %llu path %15s", &number, path_word) == 2) {
      turns = number;
      path = path_word;
    }
  }
  if (captured.status != 0 || turns == 0 || instructions == 0) {
    outcome_.problems.push_back(
        fmt::format("callgrind counted no instructions of {} (is valgrind installed?)", what));
    return std::nullopt;
  }
  return static_cast<double>(instructions) / static_cast<double>(turns);
}

void Plan::instructions() {
  say("instructions under valgrind");
  for (const Figure& figure : catalogue()) {
    if (figure.launch != Launch::instructions || !wants(figure)) continue;
    const std::string what = figure.name.substr(sizeof "instr." - 1);
    Measured measured;
    measured.name = figure.name;
    const std::optional<double> ours = count(what, measured.path);
    if (!ours) continue;
    measured.ours = *ours;
    std::string ignored;
    if (what == "put8") measured.raw = count("store8", ignored);
    if (what == "get8") measured.raw = count("load8", ignored);
    if (what == "fadd8") measured.raw = count("xadd8", ignored);
    outcome_.measured.push_back(measured);
  }
}

// Both sides get the same transport. The job's configuration is made here: the two ranks reach
// each other by the network although they share a host. The words are the measuring program's.
std::vector<std::string> Plan::network_words(const NetworkName& name,
                                             std::vector<std::string>& sets) {
  const bool is_ucx = name.conduit == "ucx";
  std::string transport = name.transport;
  sets = {fmt::format("conduits.{0}.plugin={0}", name.conduit)};
  if (is_ucx && transport.find("self") == std::string::npos) transport += ",self";
  if (is_ucx) sets.push_back(fmt::format("conduits.ucx.options.tls=\"{}\"", transport));
  if (name.conduit == "ofi")
    sets.push_back(fmt::format("conduits.ofi.options.provider=\"{}\"", transport));
  if ((name.conduit == "verbs" || name.conduit == "eth") && !transport.empty())
    sets.push_back(fmt::format("conduits.{}.device=\"{}\"", name.conduit, transport));
  sets.push_back(fmt::format("peers=[{{match: {{locality: self}}, use: [self]}}, {{use: [{}]}}]",
                             name.conduit));
  const std::string title = name.conduit + (name.transport.empty() ? "" : "/" + name.transport);
  return {"--name", title, "--transport", transport};
}

void Plan::network() {
  const NetworkName name = network_name(request_.network.empty() ? "ofi/tcp" : request_.network)
                               .value_or(NetworkName{"ofi", "tcp"});
  std::vector<std::string> sets;
  std::vector<std::string> words = network_words(name, sets);
  say(fmt::format("puts, gets and messages over {}", words[1]));
  add_selection(words, request_.only);
  // GASPI's figures are a program's of their own, and those of two threads.
  const auto wants_some = [this](bool gaspi) {
    const auto figures = catalogue();
    return std::ranges::any_of(figures, [&](const Figure& figure) {
      const std::string_view figure_name = figure.name;
      return figure.launch == Launch::network && wants(figure) &&
             !figure_name.starts_with("net.threads2.") &&
             figure_name.starts_with("net.gaspi.") == gaspi;
    });
  };
  const unsigned launches = request_.launches.value_or(request_.quick ? 1 : kNetworkLaunches);
  std::vector<Measured> rows;
  for (const bool gaspi : {false, true}) {
    if (!wants_some(gaspi)) continue;
    std::vector<std::string> command = {program_ + (gaspi ? "-gaspi-" : "-") + name.conduit};
    command.insert(command.end(), words.begin(), words.end());
    if (!gaspi && is_over_tcp(name)) command.push_back("--sockets");
    for (unsigned i = 0; i < launches && outcome_.problems.empty(); ++i)
      take_records(launch(2, command, sets), rows);
  }
  if (wants_any("net.threads2.")) senders(name, sets, launches, rows);
  for (Measured& row : middle_launches(rows)) outcome_.measured.push_back(std::move(row));
}

// Two threads of one rank, with a lane for each.
void Plan::senders(const NetworkName& name, std::vector<std::string> sets, unsigned launches,
                   std::vector<Measured>& rows) {
  say("messages and puts of two threads");
  sets.push_back(fmt::format("conduits.{}.lanes=2", name.conduit));
  std::vector<std::string> command = {program_ + "-senders"};
  add_selection(command, request_.only);
  if (is_over_tcp(name)) command.push_back("--sockets");
  for (unsigned i = 0; i < launches && outcome_.problems.empty(); ++i)
    take_records(launch(3, command, sets), rows);
}

// Memory that the neighbor opens (IPC), and the same kept from opening it: through host buffers.
void Plan::memkinds() {
  if (!wants(Launch::memkinds) && !wants(Launch::staged)) return;
  const std::string kind = request_.memkind.empty() ? "cuda" : request_.memkind;
  const std::vector<std::string> program = {"/usr/bin/env", "SPEC_MK=" + kind,
                                            program_ + "-memkinds"};
  std::vector<std::string> probe = program;
  probe.push_back("--probe");
  const Captured answer = run_captured(probe);
  if (answer.status != 0) {
    no_device_ = true;
    outcome_.notes.push_back(
        fmt::format("no figures of memory kind {}: {}", kind,
                    answer.lines.empty() ? "its device cannot be used" : answer.lines.back()));
    return;
  }
  say(fmt::format("transfers with {}", answer.lines.empty() ? kind : answer.lines.back()));
  for (const bool staged : {false, true}) {
    if (!wants(staged ? Launch::staged : Launch::memkinds)) continue;
    std::vector<std::string> command = program;
    if (staged) command.push_back("--staged");
    add_selection(command, request_.only);
    std::vector<std::string> sets;
    if (staged) sets = {fmt::format("memkinds.{}.ipc=never", kind)};
    take_records(launch(2, command, sets), outcome_.measured);
  }
}

// A figure that nobody reported is a problem of its own, whatever the job's status was.
void Plan::name_missing() {
  for (const Figure& figure : catalogue()) {
    if (!wants(figure) || figure.launch == Launch::collectives ||
        figure.launch == Launch::one_sided)
      continue;
    if (no_device_ && (figure.launch == Launch::memkinds || figure.launch == Launch::staged))
      continue;
    if (std::string_view(figure.name).starts_with("net.am.socket") &&
        !is_over_tcp(request_.network))
      continue;
    const bool found = std::ranges::any_of(
        outcome_.measured, [&](const Measured& measured) { return measured.name == figure.name; });
    if (!found) outcome_.problems.push_back(fmt::format("{} was not measured", figure.name));
  }
}

bool threads_are_judged() {
  return sysconf(_SC_NPROCESSORS_ONLN) >= 4;
}

std::optional<NetworkName> network_name(const std::string& text) {
  // A colon is understood, as UCX's own words have commas and libfabric's semicolons.
  const size_t cut = text.find_first_of("/:");
  NetworkName name{text.substr(0, cut), cut == std::string::npos ? "" : text.substr(cut + 1)};
  const bool chooses = name.conduit == "ofi" || name.conduit == "ucx";
  if (!chooses && name.conduit != "verbs" && name.conduit != "eth") return std::nullopt;
  if (cut == std::string::npos && chooses) name.transport = "tcp";
  return name;
}

Outcome carry_out(const Request& request, const std::string& tool, const std::string& program) {
  return Plan(request, tool, program).carry_out();
}

}  // namespace causeway::bench
