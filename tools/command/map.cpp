// causeway map: which conduits lead from each host to each host. Without a job, for hosts that are
// named, by the rules and this host's plugins; started as the program of a job, for its hosts, as
// every rank chooses.
#include <gasnetex.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/error.h"
#include "collective/exchange.h"
#include "commands.h"
#include "connection/job.h"
#include "connection/selector.h"
#include "launch/host_file.h"
#include "map.h"
#include "object/team.h"
#include "process/runtime.h"
#include "world.h"

namespace causeway::command {
namespace {

struct MapArguments {
  WorldArguments world;
  std::vector<std::string> hosts;
  bool json = false;
  bool svg = false;
  bool dot = false;
};

std::string way_to(const Config& config, const ConduitSet& set, const PeerFacts& peer) {
  try {
    return choose(config, set, peer).summary();
  } catch (const Unreachable& e) {
    return "unreachable: " + e.reason;
  }
}

// ---- without a job ----

// The ways to `ranks` of a host, from another of its ranks or from another host. Rules alone tell
// ranks apart, as in core/connection/peer_classes.
Cell ways_to(const World& world, Locality locality, uint32_t first, uint32_t ranks,
             const std::string& host) {
  Cell out;
  std::set<const PeerRule*> seen;
  PeerFacts peer = facts(locality, first, host);
  for (uint32_t r = first; r < first + ranks; ++r) {
    peer.desc.peer.rank = peer.desc.local_index = r;
    if (seen.insert(rule_for(world.config, peer)).second)
      out.insert(way_to(world.config, world.conduits, peer));
  }
  return out;
}

// Among the ranks of a host, of which so many as the configuration says are neighbors.
Cell ways_within(const World& world, uint32_t first, uint32_t ranks, const std::string& host) {
  const uint32_t limit = world.config.neighborhood_ranks;
  const uint32_t most = limit == 0 ? ranks : std::min(limit, ranks);
  Cell out;
  if (most > 1) out = ways_to(world, neighbor_locality(world), first, ranks, host);
  if (most < ranks) out.merge(ways_to(world, Locality::host, first, ranks, host));
  return out;
}

Map suppose(const MapArguments& args) {
  const World world = open_world(args.world);
  const uint32_t each = args.world.ranks;
  const auto count = static_cast<uint32_t>(args.hosts.size());
  Map map;
  for (const std::string& host : args.hosts) map.add_host(host);
  for (uint32_t to = 0; to < count; ++to) {
    const std::string& host = args.hosts[to];
    map.ranks[to] = each;
    map.neighborhoods[to] = neighborhoods(world, to * each, each, host).size();
    const Cell remote = ways_to(world, Locality::remote, to * each, each, host);
    for (uint32_t from = 0; from < count; ++from) map.cells[from][to] = remote;
    map.cells[to][to] = ways_within(world, to * each, each, host);
  }
  return map;
}

// ---- as a job ----

// Containers may call themselves by one name.
std::string unused_name(const Map& map, const std::string& name) {
  std::string out = name;
  for (int i = 2; std::count(map.hosts.begin(), map.hosts.end(), out) != 0; ++i)
    out = fmt::format("{}({})", name, i);
  return out;
}

// Number of the host of each rank, in order of the lowest rank.
std::vector<uint32_t> host_numbers(const JobFacts& job, Map& map) {
  std::map<uint64_t, uint32_t> known;
  std::vector<uint32_t> out;
  for (uint32_t r = 0; r < job.size(); ++r) {
    const Card& card = job.card(r);
    const auto [at, fresh] = known.emplace(card.host_id, static_cast<uint32_t>(map.hosts.size()));
    if (fresh) map.add_host(unused_name(map, card.hostname));
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
  if (gex_Client_Init(&client, &ep, &tm, "CAUSEWAY_MAP", &argc, &argv, 0) != GASNET_OK)
    throw Error(CWY_ERR_INVALID, "the job could not be started");
  Map map;
  const std::vector<uint32_t> host_of = host_numbers(runtime().job(), map);
  const std::vector<std::string> words =
      causeway::exchange(*Team::of(tm), own_rows(runtime(), host_of), "causeway map");
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

// Names that are used twice would be one host in the answer.
void check_hosts(const MapArguments& args) {
  std::set<std::string> seen;
  for (const std::string& host : args.hosts) {
    if (host.empty()) throw Error(CWY_ERR_INVALID, "--hosts: a host without a name");
    if (launch::has_slots(host))
      throw Error(CWY_ERR_INVALID,
                  "--hosts: '{}' is no name; --ranks says how many ranks a host has", host);
    if (!seen.insert(host).second)
      throw Error(CWY_ERR_INVALID, "--hosts: {} is named twice; name each host once", host);
  }
  constexpr uint64_t kMost = 1u << 20;
  if (args.hosts.size() * uint64_t{args.world.ranks} > kMost)
    throw Error(CWY_ERR_INVALID, "{} hosts of {} ranks are more than {} ranks; see --ranks",
                args.hosts.size(), args.world.ranks, kMost);
}

void print(const MapArguments& args, const Map& map) {
  if (args.svg)
    print_map_svg(map);
  else if (args.dot)
    print_map_dot(map);
  else if (args.json)
    print_map_json(map);
  else
    print_map(map);
}

int show(MapArguments& args) {
  const bool job = in_a_job();
  if (args.hosts.empty() && !job) args.hosts = {Card::of_this_process().hostname, "another-host"};
  check_hosts(args);
  const std::optional<Map> map = job ? ask_job() : suppose(args);
  if (map) print(args, *map);
  if (job) {
    std::fflush(stdout);
    gasnet_exit(kOk);
  }
  return kOk;
}

}  // namespace

void add_map(Options& app, int& status) {
  auto args = std::make_shared<MapArguments>();
  Options& sub = app.subcommand(
      "map",
      "Show which conduits lead from each host to each host; run it as the program of a job "
      "to see that job's",
      [args, &status] { status = show(*args); });
  add_world_options(sub, args->world, "Ranks of each host, when there is no job");
  sub.option("--hosts", args->hosts, "Names of hosts, separated by commas, when there is no job")
      .commas();
  const Option json = sub.flag("--json", args->json, "Print JSON");
  const Option svg =
      sub.flag("--svg", args->svg, "Print a picture: a row and a column per host, a colour per way")
          .excludes(json);
  sub.flag("--dot", args->dot, "Print a graph of the hosts for Graphviz")
      .excludes(json)
      .excludes(svg);
}

}  // namespace causeway::command
