// causeway map: which conduits lead from each host to each host. Without a job, for hosts that are
// named, by the rules and this host's plugins; started as the program of a job, for its hosts, as
// every rank chooses.
#include <gasnetex.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "collective/exchange.h"
#include "commands.h"
#include "connection/job.h"
#include "connection/selector.h"
#include "object/team.h"
#include "process/runtime.h"
#include "text.h"
#include "world.h"

namespace causeway::command {
namespace {

struct Arguments {
  WorldArguments world;
  std::vector<std::string> hosts;
  bool json = false;
};

// The ways from one host to another: one, or several where rules tell ranks apart.
using Cell = std::set<std::string>;
struct Map {
  std::vector<std::string> hosts;
  std::vector<uint32_t> ranks;           // by host
  std::vector<size_t> neighborhoods;     // by host
  std::vector<std::vector<Cell>> cells;  // from, to

  void add_host(const std::string& name) {
    hosts.push_back(name);
    ranks.push_back(0);
    neighborhoods.push_back(0);
    for (auto& row : cells) row.resize(hosts.size());
    cells.resize(hosts.size(), std::vector<Cell>(hosts.size()));
  }
};

std::string way_to(const Config& config, const ConduitSet& set, const PeerFacts& peer) {
  try {
    return choose(config, set, peer).summary();
  } catch (const Error& e) {
    return "unreachable: " + e.text();
  }
}

// ---- without a job ----

Map suppose(const Arguments& args) {
  const World world = open_world(args.world);
  const Locality near = neighbor_locality(world);
  Map map;
  for (const std::string& host : args.hosts) map.add_host(host);
  const uint32_t each = args.world.ranks;
  for (size_t from = 0; from < args.hosts.size(); ++from) {
    map.ranks[from] = each;
    map.neighborhoods[from] =
        neighborhoods(world, static_cast<uint32_t>(from * each), each, args.hosts[from]).size();
    for (size_t to = 0; to < args.hosts.size(); ++to) {
      for (uint32_t i = 0; i < each; ++i) {
        if (from == to && each == 1) continue;  // nobody but the rank itself
        const auto rank = static_cast<uint32_t>(to * each + i);
        const PeerFacts peer = facts(from == to ? near : Locality::remote, rank, args.hosts[to]);
        map.cells[from][to].insert(way_to(world.config, world.conduits, peer));
      }
    }
  }
  return map;
}

// ---- as a job ----

// Number of the host of each rank, in order of the lowest rank.
std::vector<uint32_t> host_numbers(const JobFacts& job, Map& map) {
  std::map<uint64_t, uint32_t> known;
  std::vector<uint32_t> out;
  for (uint32_t r = 0; r < job.size(); ++r) {
    const Card& card = job.card(r);
    const auto [at, fresh] = known.emplace(card.host_id, static_cast<uint32_t>(map.hosts.size()));
    if (fresh) map.add_host(card.hostname);
    out.push_back(at->second);
    ++map.ranks[at->second];
    if (job.nbrhd_of(r) == r) ++map.neighborhoods[at->second];
  }
  return out;
}

// "<host> <way>" per line: what this rank chooses towards the others.
std::string own_rows(const Runtime& rt, const std::vector<uint32_t>& host_of) {
  std::set<std::string> lines;
  for (uint32_t r = 0; r < rt.job().size(); ++r) {
    if (r == rt.job().rank()) continue;
    lines.insert(fmt::format("{} {}\n", host_of[r],
                             way_to(rt.config(), rt.conduits(), rt.job().facts_of(r, nullptr))));
  }
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

// Rank 0 has the whole; the others nothing to print.
std::optional<Map> ask_job() {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  int argc = 0;
  char** argv = nullptr;
  if (gex_Client_Init(&client, &ep, &tm, "CAUSEWAY_MAP", &argc, &argv, 0) != GASNET_OK) {
    throw Error(CWY_ERR_INVALID, "the job could not be started");
  }
  Map map;
  const std::vector<uint32_t> host_of = host_numbers(runtime().job(), map);
  const std::vector<std::string> words =
      causeway::exchange(*Team::of(tm), own_rows(runtime(), host_of));
  for (uint32_t r = 0; r < words.size(); ++r) {
    std::istringstream lines(words[r]);
    for (std::string line; std::getline(lines, line);) {
      const size_t space = line.find(' ');
      const auto to = std::strtoul(line.c_str(), nullptr, 10);
      map.cells[host_of[r]].at(to).insert(line.substr(space + 1));
    }
  }
  if (runtime().rank() != 0) return std::nullopt;
  return map;
}

// ---- printing ----

// A letter per way, then AA, AB ...
std::string letters(size_t n) {
  std::string out(1, static_cast<char>('A' + n % 26));
  return n < 26 ? out : letters(n / 26 - 1) + out;
}

void print_people(const Map& map) {
  std::map<std::string, std::string> names;
  std::vector<std::string> ways;
  std::vector<std::vector<std::string>> rows{{"", "ranks", "neighborhoods"}};
  for (size_t h = 0; h < map.hosts.size(); ++h) rows[0].push_back(map.hosts[h]);
  for (size_t from = 0; from < map.hosts.size(); ++from) {
    std::vector<std::string> row{map.hosts[from], std::to_string(map.ranks[from]),
                                 std::to_string(map.neighborhoods[from])};
    for (const Cell& cell : map.cells[from]) {
      std::string text;
      for (const std::string& way : cell) {
        const auto [at, fresh] = names.emplace(way, letters(ways.size()));
        if (fresh) ways.push_back(way);
        text += (text.empty() ? "" : ",") + at->second;
      }
      row.push_back(text.empty() ? "-" : text);
    }
    rows.push_back(std::move(row));
  }
  fmt::print("{}\n", bold("from each host (rows) to each host (columns)"));
  print_columns(rows);
  fmt::print("\n");
  std::vector<std::vector<std::string>> legend;
  for (const std::string& way : ways) legend.push_back({names[way], way});
  print_columns(legend);
}

void print_json(const Map& map) {
  std::vector<std::string> out;
  for (size_t from = 0; from < map.hosts.size(); ++from) {
    for (size_t to = 0; to < map.hosts.size(); ++to) {
      const std::string inside =
          from == to ? fmt::format(R"(,"neighborhoods":{})", map.neighborhoods[from]) : "";
      out.push_back(fmt::format(R"({{"from":{},"to":{},"ways":{}{}}})", json_text(map.hosts[from]),
                                json_text(map.hosts[to]), json_each(map.cells[from][to], json_text),
                                inside));
    }
  }
  fmt::print("{}\n", json_array(out));
}

int show(Arguments& args) {
  try {
    const bool job = in_a_job();
    if (args.hosts.empty() && !job) {
      args.hosts = {Card::of_this_process().hostname, "another-host"};
    }
    const std::optional<Map> map = job ? ask_job() : suppose(args);
    if (map && args.json) print_json(*map);
    if (map && !args.json) print_people(*map);
    if (job) {
      std::fflush(stdout);
      gasnet_exit(kOk);
    }
    return kOk;
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", e.text());
    return kFailed;
  }
}

}  // namespace

void add_map(Options& app, int& status) {
  auto args = std::make_shared<Arguments>();
  Options& sub = app.subcommand(
      "map",
      "Show which conduits lead from each host to each host; run it as the program of a job "
      "to see that job's",
      [args, &status] { status = show(*args); });
  add_world_options(sub, args->world, "Ranks of each host, when there is no job");
  sub.option("--hosts", args->hosts, "Names of hosts, separated by commas, when there is no job")
      .commas();
  sub.flag("--json", args->json, "Print JSON");
}

}  // namespace causeway::command
