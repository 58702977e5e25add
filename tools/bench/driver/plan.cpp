#include "plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "../client/measure.h"
#include "capture.h"
#include "launches.h"
#include "mpi.h"

namespace causeway::bench {
namespace {

constexpr unsigned kStartupRanks = 4;
constexpr unsigned kMemoryRanks = 256;
constexpr unsigned kNetworkLaunches = 5;
constexpr uint64_t kCounted = 100000;

// Do kernel sockets carry it, so that bare ones can be measured beside it?
bool is_over_tcp(const NetworkName& name) {
  return name.conduit != "verbs" && name.transport.rfind("tcp", 0) == 0;
}
bool is_over_tcp(const std::string& network) {
  const auto name = network_name(network.empty() ? "ofi/tcp" : network);
  return name && is_over_tcp(*name);
}

class Plan {
 public:
  Plan(const Request& request, std::string tool, std::string program)
      : request_(request), tool_(std::move(tool)), program_(std::move(program)) {}

  Outcome carry_out() {
    if (wants(Launch::pair)) pair();
    if (wants(Launch::modes)) modes();
    if (wants(Launch::threads)) threads();
    if (wants(Launch::gaspi)) gaspi();
    if (wants(Launch::startup)) startup();
    if (wants(Launch::memory)) memory();
    if (wants(Launch::instructions)) instructions();
    if (wants(Launch::network)) network();
    if (wants(Launch::collectives)) collectives();
    memkinds();
    if (wants(Launch::one_sided)) one_sided();
    name_missing();
    return std::move(outcome_);
  }

 private:
  bool wants(const Figure& figure) const {
    if (!request_.only.empty())
      return std::find(request_.only.begin(), request_.only.end(), figure.name) !=
             request_.only.end();
    const bool device = figure.launch == Launch::memkinds || figure.launch == Launch::staged;
    if (!request_.memkind.empty()) return device;
    if (device) return false;
    if (!request_.network.empty()) return figure.launch == Launch::network;
    if (!request_.collectives.empty()) return figure.launch == Launch::collectives;
    if (!request_.one_sided.empty()) return figure.launch == Launch::one_sided;
    if (figure.launch == Launch::one_sided) return false;
    if (figure.launch == Launch::network || figure.launch == Launch::collectives) return false;
    return figure.launch != Launch::instructions || request_.instructions;
  }
  bool wants_any(std::string_view prefix) const {
    const auto figures = catalogue();
    return std::any_of(figures.begin(), figures.end(), [&](const Figure& figure) {
      return std::string_view(figure.name).starts_with(prefix) && wants(figure);
    });
  }
  bool wants(Launch launch) const {
    const auto figures = catalogue();
    return std::any_of(figures.begin(), figures.end(), [&](const Figure& figure) {
      return figure.launch == launch && wants(figure);
    });
  }

  Captured launch(unsigned ranks, const std::vector<std::string>& command,
                  const std::vector<std::string>& sets = {});
  void take_records(const Captured& captured, std::vector<Measured>& into);
  void pair();
  void modes();
  void threads();
  void gaspi();
  std::map<std::string, double> mode_figures(const std::string& mode, unsigned ranks,
                                             const std::string& what);
  void startup();
  void memory();
  void instructions();
  void network();
  void collectives();
  std::vector<std::string> collective_rows() const;
  void share_cores(const std::vector<std::string>& command, unsigned ranks,
                   const std::vector<std::string>& sets, const Rounds& free_cores);
  void copy_twice(std::vector<std::string> sets, unsigned ranks, const Rounds& once);
  void measure_again(const std::string& figures, const std::string& what,
                     const std::vector<std::string>& command, unsigned ranks,
                     const std::vector<std::string>& sets, const Rounds& first);
  void memkinds();
  void one_sided();
  void take_turns(MpiSides& sides, const std::vector<std::string>& command, unsigned ranks,
                  const std::vector<std::string>& sets, Rounds& ours);
  void combine(const std::string& side, const Rounds& ours, const Rounds& raw);
  std::optional<double> count(const std::string& what, std::string& path);
  void name_missing();

  const Request& request_;
  std::string tool_, program_;
  bool no_device_ = false;
  Outcome outcome_;
};

void say(const std::string& text) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "causeway bench: {}\n", text);
}

// Prints what one side measured in one round: at once, since the table comes minutes later.
void say_rows(const std::string& side, unsigned round, unsigned rounds,
              const std::vector<Measured>& rows) {
  std::string text;
  for (const Measured& row : rows)
    text += fmt::format("{} {} {:.3g}", text.empty() ? "" : ",", row.name, row.ours);
  fmt::print(stderr, "causeway bench: round {} of {}, {}:{} ns\n", round + 1, rounds, side, text);
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

void Plan::pair() {
  say(fmt::format("puts, gets, messages and barriers on {} ranks", request_.ranks));
  std::vector<std::string> command = {program_, "--launch", "pair"};
  if (request_.quick) command.push_back("--quick");
  if (!request_.only.empty()) {
    command.push_back("--only");
    command.push_back(fmt::format("{}", fmt::join(request_.only, ",")));
  }
  take_records(launch(request_.ranks, command), outcome_.measured);
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
                                 fmt::format("medians of {} launches", launches)});
  }
}

// Two threads of one rank and two ranks that receive: four cores at work.
void Plan::threads() {
  say("messages of two threads");
  const std::map<std::string, double> figures = mode_figures("par", 3, "threads");
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  for (const auto& [name, value] : figures) {
    if (name.ends_with(".raw")) continue;
    const auto raw = figures.find(name + ".raw");
    outcome_.measured.push_back({name, value,
                                 raw != figures.end() ? std::optional(raw->second) : std::nullopt,
                                 "", cores < 4 ? fmt::format("on {} cores", cores) : ""});
  }
}

// Two ranks whatever the others' number, in a program of the other interface.
void Plan::gaspi() {
  say("GASPI on two ranks");
  std::vector<std::string> command = {program_ + "-gaspi"};
  if (request_.quick) command.push_back("--quick");
  if (!request_.only.empty()) {
    command.push_back("--only");
    command.push_back(fmt::format("{}", fmt::join(request_.only, ",")));
  }
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
  std::replace(symbol.begin(), symbol.end(), '.', '_');
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
    const std::string what = figure.name + sizeof "instr." - 1;
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
// each other by the network although they share a host.
void Plan::network() {
  const NetworkName name = network_name(request_.network.empty() ? "ofi/tcp" : request_.network)
                               .value_or(NetworkName{"ofi", "tcp"});
  const bool is_ucx = name.conduit == "ucx";
  std::string transport = name.transport;
  std::vector<std::string> sets = {fmt::format("conduits.{0}.plugin={0}", name.conduit)};
  if (is_ucx && transport.find("self") == std::string::npos) transport += ",self";
  if (is_ucx) sets.push_back(fmt::format("conduits.ucx.options.tls=\"{}\"", transport));
  if (name.conduit == "ofi")
    sets.push_back(fmt::format("conduits.ofi.options.provider=\"{}\"", transport));
  if (name.conduit == "verbs" && !transport.empty())
    sets.push_back(fmt::format("conduits.verbs.device=\"{}\"", transport));
  sets.push_back(fmt::format("peers=[{{match: {{locality: self}}, use: [self]}}, {{use: [{}]}}]",
                             name.conduit));
  const std::string title = name.conduit + (name.transport.empty() ? "" : "/" + name.transport);
  say(fmt::format("puts, gets and messages over {}", title));
  std::vector<std::string> words = {"--name", title, "--transport", transport};
  if (request_.quick) words.push_back("--quick");
  if (!request_.only.empty()) {
    words.push_back("--only");
    words.push_back(fmt::format("{}", fmt::join(request_.only, ",")));
  }
  // GASPI's figures are a program's of their own.
  const auto wants_some = [this](bool gaspi) {
    const auto figures = catalogue();
    return std::any_of(figures.begin(), figures.end(), [&](const Figure& figure) {
      return figure.launch == Launch::network && wants(figure) &&
             std::string_view(figure.name).starts_with("net.gaspi.") == gaspi;
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
  for (Measured& row : middle_launches(rows)) outcome_.measured.push_back(std::move(row));
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
    if (request_.quick) command.push_back("--quick");
    if (!request_.only.empty()) {
      command.push_back("--only");
      command.push_back(fmt::format("{}", fmt::join(request_.only, ",")));
    }
    std::vector<std::string> sets;
    if (staged) sets = {fmt::format("memkinds.{}.ipc=never", kind)};
    take_records(launch(2, command, sets), outcome_.measured);
  }
}

// The sides in turns, so that a busy neighbour meets all of them; each row's median over the
// rounds. A side that measures nothing is left out from then on, with a line.
void Plan::take_turns(MpiSides& sides, const std::vector<std::string>& command, unsigned ranks,
                      const std::vector<std::string>& sets, Rounds& ours) {
  const unsigned rounds = request_.quick ? 1 : sides.one_sided() ? 3 : 5;
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<Measured> rows;
    take_records(launch(ranks, command, sets), rows);
    say_rows("ours", round, rounds, rows);
    ours.add(rows);
    for (MpiSide& side : sides.sides()) {
      if (side.silent) continue;
      rows.clear();
      const Captured captured = run_captured(side.command);
      take_records(captured, rows);
      side.silent = rows.empty() || captured.status == MpiSide::kTimeLimit;
      if (side.silent) {
        outcome_.problems.push_back(fmt::format(
            "{} {} in round {}", side.name, rows.empty() ? "measured nothing" : "hung", round + 1));
      }
      if (rows.empty()) continue;
      say_rows(side.name, round, rounds, rows);
      side.rounds.add(rows);
    }
  }
}

// The rows that the wanted figures are made of: openmpi.tcp.barrier is barrier on both sides, and
// bound.X needs X and the bound itself. Empty: all.
std::vector<std::string> Plan::collective_rows() const {
  std::vector<std::string> rows;
  for (const std::string& name : request_.only) {
    const Figure* const figure = find_figure(name);
    if (figure == nullptr || figure->launch != Launch::collectives) continue;
    const size_t first = name.find('.') + 1;
    const bool tcp = name.compare(first, 4, "tcp.") == 0;
    rows.push_back(name.substr(tcp ? first + 4 : first));
    rows.push_back(name);  // a row of its own where our program measures both sides
  }
  return rows;
}

void Plan::collectives() {
  const bool tcp = request_.collectives == "tcp";
  const unsigned ranks = request_.ranks > 2 ? request_.ranks : 4;
  std::vector<std::string> sets;
  if (tcp && !request_.config) {
    sets = {"conduits.ucx.plugin=ucx", "conduits.ucx.options.tls=\"tcp,self\"",
            "peers=[{match: {locality: self}, use: [self]}, {use: [ucx]}]"};
  }
  std::vector<std::string> command = {program_, "--launch", "collectives"};
  if (request_.quick) command.push_back("--quick");
  const std::vector<std::string> rows = collective_rows();
  if (!rows.empty()) {
    command.push_back("--only");
    command.push_back(fmt::format("{}", fmt::join(rows, ",")));
  }
  MpiSides mpi({ranks, request_.quick, tcp, false, rows}, tool_, outcome_.notes);
  Rounds ours;
  take_turns(mpi, command, ranks, sets, ours);
  if (!tcp) share_cores(command, ranks, sets, ours);
  if (!tcp && !request_.config) copy_twice(sets, ranks, ours);
  // Over TCP the target is another one, and so is the figure.
  for (const MpiSide& side : mpi.sides()) {
    combine(tcp ? side.name + ".tcp" : side.name, ours, side.rounds);
  }
  combine("bound", ours, ours);
  combine("sockets", ours, ours);
}

// Two ranks per core, where the first launches had a core for each: the same ranks on half of the
// cores, and twice as many on the same cores.
void Plan::share_cores(const std::vector<std::string>& command, unsigned ranks,
                       const std::vector<std::string>& sets, const Rounds& free_cores) {
  if (!outcome_.facts || outcome_.facts->cores < ranks || ranks < 2) return;
  const Facts facts = *outcome_.facts;
  const auto on_cores = [&command](unsigned cores) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"--cores", std::to_string(cores)});
    return words;
  };
  measure_again("shared_cores", "ours on half of the cores", on_cores(ranks / 2), ranks, sets,
                free_cores);
  measure_again("twice_the_ranks", "ours with twice the ranks", on_cores(ranks), 2 * ranks, sets,
                free_cores);
  outcome_.facts = facts;
}

// Out of buffers that neighbors cannot reach, where the kernel does not copy between processes.
void Plan::copy_twice(std::vector<std::string> sets, unsigned ranks, const Rounds& once) {
  sets.push_back("conduits.shm.options.cma=never");
  std::vector<std::string> command = {program_, "--launch", "collectives", "--only",
                                      "heap.broadcast.8MiB"};
  if (request_.quick) command.push_back("--quick");
  measure_again("two_copies", "ours by two copies", command, ranks, sets, once);
}

// The same rows in other circumstances than those of the first launches.
void Plan::measure_again(const std::string& figures, const std::string& what,
                         const std::vector<std::string>& command, unsigned ranks,
                         const std::vector<std::string>& sets, const Rounds& first) {
  if (!wants_any(figures + ".")) return;
  Rounds again;
  const unsigned rounds = request_.quick ? 1 : 3;
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<Measured> rows;
    take_records(launch(ranks, command, sets), rows);
    say_rows(what, round, rounds, rows);
    again.add(rows);
  }
  combine(figures, again, first);
}

void Plan::one_sided() {
  const bool tcp = request_.one_sided == "tcp";
  std::vector<std::string> sets;
  if (tcp && !request_.config) {
    sets = {"conduits.ofi.plugin=ofi", "conduits.ofi.options.provider=tcp",
            "peers=[{match: {locality: self}, use: [self]}, {use: [ofi]}]"};
  }
  std::vector<std::string> command = {program_, "--launch", "one-sided"};
  if (request_.quick) command.push_back("--quick");
  MpiSides sides({2, request_.quick, tcp, true, {}}, tool_, outcome_.notes);
  Rounds ours;
  take_turns(sides, command, 2, sets, ours);
  for (const MpiSide& side : sides.sides()) combine(side.name, ours, side.rounds);
}

// Why a row of --one-sided is not ahead: what is known of it (the README says more), or whether the
// rounds show it at all.
std::string why_behind(const std::string& row, bool tcp, const std::vector<double>& ours,
                       const std::vector<double>& theirs) {
  if (tcp && row == "fetch_add8")
    return "; behind: libfabric's tcp has no atomics, so it is a message and its reply";
  if (!tcp && row.find("MiB") != std::string::npos)
    return "; behind: one copy between the same mappings on either side";
  if (theirs.size() < 2) return "; behind in the only round";
  if (*std::min_element(ours.begin(), ours.end()) <=
      *std::max_element(theirs.begin(), theirs.end()))
    return "; behind in the median only: the rounds of both sides overlap";
  return "; behind in every round: the cause is not known";
}

std::string whose(const std::string& side) {
  if (side == "bound") return "bound's";
  if (side == "two_copies") return "one copy's";
  if (side == "shared_cores" || side == "twice_the_ranks") return "free cores'";
  return side + "'s";
}

// A figure for each row that both sides have: `raw` calls it SIDE.ROW where our own program has
// measured it, else just ROW.
void Plan::combine(const std::string& side, const Rounds& ours, const Rounds& raw) {
  for (const auto& [row, values] : ours.rows()) {
    const std::string name = side + "." + row;
    const std::optional<double> theirs = raw.median_of(&raw == &ours ? name : row);
    const Figure* const figure = find_figure(name);
    if (!theirs || figure == nullptr || !wants(*figure)) continue;
    const double unit = std::string_view(figure->unit) == "us" ? 1e3 : 1;
    Measured m;
    m.name = name;
    m.ours = *ours.median_of(row) / unit;
    m.raw = *theirs / unit;
    if (side == "bound") m.path = "direct";
    m.note = fmt::format("{:.2f} of the {} speed, {} rounds", *m.raw / m.ours, whose(side),
                         values.size());
    if (figure->launch == Launch::one_sided && m.ours > *m.raw && !request_.config)
      m.note += why_behind(row, request_.one_sided == "tcp", values, raw.rows().at(row));
    outcome_.measured.push_back(std::move(m));
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
    const bool found =
        std::any_of(outcome_.measured.begin(), outcome_.measured.end(),
                    [&](const Measured& measured) { return measured.name == figure.name; });
    if (!found) outcome_.problems.push_back(fmt::format("{} was not measured", figure.name));
  }
}

}  // namespace

std::optional<NetworkName> network_name(const std::string& text) {
  // A colon is understood, as UCX's own words have commas and libfabric's semicolons.
  const size_t cut = text.find_first_of("/:");
  NetworkName name{text.substr(0, cut), cut == std::string::npos ? "" : text.substr(cut + 1)};
  if (name.conduit != "ofi" && name.conduit != "ucx" && name.conduit != "verbs")
    return std::nullopt;
  if (cut == std::string::npos && name.conduit != "verbs") name.transport = "tcp";
  return name;
}

Outcome carry_out(const Request& request, const std::string& tool, const std::string& program) {
  return Plan(request, tool, program).carry_out();
}

}  // namespace causeway::bench
