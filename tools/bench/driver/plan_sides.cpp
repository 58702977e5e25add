// Figures beside other sides: MPI and OpenSHMEM libraries, bounds of the memory, our own ranks in
// other circumstances.
#include <fmt/format.h>

#include "plan_class.h"

namespace causeway::bench {
namespace {

// Why a row of --one-sided is not ahead: what is known of it (the README says more), or whether the
// rounds show it at all.
std::string why_behind(const std::string& row, bool tcp, const std::vector<double>& ours,
                       const std::vector<double>& theirs) {
  if (tcp && row == "fetch_add8")
    return "; behind: libfabric's tcp has no atomics, so it is a message and its reply";
  if (!tcp && row.find("MiB") != std::string::npos)
    return "; behind: one copy between the same mappings on either side";
  if (theirs.size() < 2) return "; behind in the only round";
  if (*std::ranges::min_element(ours) <= *std::ranges::max_element(theirs))
    return "; behind in the median only: the rounds of both sides overlap";
  return "; behind in every round: the cause is not known";
}

std::string whose(const std::string& side) {
  if (side == "bound") return "bound's";
  if (side == "two_copies") return "one copy's";
  if (side == "shared_cores" || side == "twice_the_ranks") return "free cores'";
  return side + "'s";
}

}  // namespace

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
  const std::vector<std::string> rows = collective_rows();
  add_selection(command, rows);
  MpiSides mpi({ranks, request_.quick, tcp, false, rows}, tool_, outcome_.notes);
  Rounds ours;
  take_turns(mpi, command, ranks, sets, ours);
  if (!tcp) share_cores(command, ranks, sets, ours);
  if (!tcp && !request_.config) copy_twice(sets, ranks, ours);
  // Over TCP the target is another one, and so is the figure.
  for (const MpiSide& side : mpi.sides())
    combine(tcp ? side.name + ".tcp" : side.name, ours, side.rounds);
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
  std::vector<std::string> command = {program_, "--launch", "collectives"};
  add_selection(command, {"heap.broadcast.8MiB"});
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
    m.spread = spread_of(values, *ours.median_of(row));
    if (side == "bound") m.path = "direct";
    m.note = fmt::format("{:.2f} of the {} speed, {} rounds", *m.raw / m.ours, whose(side),
                         values.size());
    if (figure->launch == Launch::one_sided && m.ours > *m.raw && !request_.config)
      m.note += why_behind(row, request_.one_sided == "tcp", values, raw.rows().at(row));
    outcome_.measured.push_back(std::move(m));
  }
}

}  // namespace causeway::bench
