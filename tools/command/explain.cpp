// causeway explain: which conduit would serve which peer, by which rule, how each operation is
// done, and why the other conduits are not used. Asks the code that jobs use (core/select), with
// this host's plugins, for a job of N ranks on this host and one rank elsewhere.
#include <gasnet_fwd.h>
#include <hwloc.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "am/deliver.h"
#include "am/emulated_long.h"
#include "collective/table.h"
#include "commands.h"
#include "config/config.h"
#include "config/peer_rules.h"
#include "config/set_text.h"
#include "diag/error.h"
#include "explain_memkinds.h"
#include "object/job.h"
#include "probe_services.h"
#include "select/conduit_set.h"
#include "select/selector.h"
#include "text.h"

namespace causeway::command {
namespace {

struct Arguments {
  uint32_t ranks = 4;
  std::string config;
  std::vector<std::string> sets;
  bool collectives = false;
  bool memkinds = false;
  bool json = false;
};

// How one operation reaches one class of peers.
struct Line {
  std::string operation, size, conduit, how;
};
struct PeerClass {
  std::string who;
  Locality locality = Locality::self;
  std::string rule;         // label and where it is written
  std::string unreachable;  // the whole reason; empty when a conduit was chosen
  std::vector<Line> lines;
  std::string put_conduit;  // empty when unreachable
  uint64_t put_forms = 0;   // CWY_FORM_* that it registers
  std::vector<Refusal> others;  // every conduit that is not used, and why
};

struct World {
  Config config;
  std::unique_ptr<Loader> loader;
  ConduitSet conduits;
  std::vector<std::unique_ptr<ConduitEp>> endpoints;

  const ConduitEp& endpoint(const Conduit* conduit) const {
    for (const auto& ep : endpoints) {
      if (ep->conduit == conduit) return *ep;
    }
    throw Error(CWY_ERR_INVALID, "conduit {} has no endpoint", conduit->name());
  }
};

World open_world(const Arguments& args) {
  World world;
  ConfigSources sources = ConfigSources::from_environment();
  if (!args.config.empty()) sources.file = args.config;
  for (const std::string& text : args.sets) {
    for (std::string& set : split_sets(text)) sources.sets.push_back(std::move(set));
  }
  world.config = load_config(sources);
  world.loader = std::make_unique<Loader>(world.config, probe_services(args.ranks));
  world.conduits = open_conduits(world.config, *world.loader, WhichConduits::all);
  for (auto& conduit : world.conduits.conduits) {
    world.endpoints.push_back(open_conduit_ep(*conduit, nullptr, 0, false, args.ranks, &deliver));
  }
  return world;
}

std::string size_text(uint64_t bytes) {
  if (bytes >= (1u << 20) && bytes % (1u << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1024 && bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

const char* one_sided(const World& world, const ConduitEp& ep, Locality locality, uint64_t cap) {
  const bool mapped = locality == Locality::self || locality == Locality::nbrhd;
  const bool direct = mapped && (ep.attr.caps & CWYC_CAP_DIRECT) != 0 &&
                      world.config.direct_map == DirectMap::automatic &&
                      world.config.checks == Checks::none;
  if (direct && cap == CWYC_CAP_ATOMIC) return "the program's own atomic instructions";
  if (direct) return "the program's own loads and stores";
  return ep.caps & cap ? "by the conduit" : "emulated over active messages";
}

std::vector<Line> lines_of(const World& world, const Choice& choice, Locality locality) {
  const ConduitEp& put = world.endpoint(choice.put);
  const ConduitEp& get = world.endpoint(choice.get);
  const ConduitEp& atomic = world.endpoint(choice.atomic);
  const ConduitEp& am = world.endpoint(choice.am);
  const bool native_long = am.inner[0].am_long != &emulated_long;
  return {
      {"put", "any", choice.put->name(), one_sided(world, put, locality, CWYC_CAP_PUT)},
      {"get", "any", choice.get->name(), one_sided(world, get, locality, CWYC_CAP_GET)},
      {"atomic", "4, 8 B", choice.atomic->name(),
       one_sided(world, atomic, locality, CWYC_CAP_ATOMIC)},
      {"AM short", "16 args", choice.am->name(), "by the conduit"},
      {"AM medium", "to " + size_text(am.limits.medium), choice.am->name(), "by the conduit"},
      {"AM long", "to " + size_text(am.limits.long_max), choice.am->name(),
       native_long ? "by the conduit" : "emulated over mediums"},
  };
}

bool in_use(const Choice& choice, const Conduit* conduit) {
  return conduit == choice.put || conduit == choice.get || conduit == choice.atomic ||
         conduit == choice.am;
}

// Why each conduit that is not used is not: refused when tried, unable, or simply not named.
std::vector<Refusal> others_of(const World& world, const Choice& choice, const PeerFacts& peer) {
  std::vector<Refusal> out = choice.refused;
  const auto told = [&](const std::string& name) {
    for (const Refusal& r : out) {
      if (r.conduit == name) return true;
    }
    return false;
  };
  for (const auto& conduit : world.conduits.conduits) {
    if (in_use(choice, conduit.get()) || told(conduit->name())) continue;
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    const cwy_status status = conduit->module().reach(conduit->domain(), &peer.desc, &err);
    out.push_back({conduit->name(), status == CWY_OK ? fmt::format("could, but {} does not name it",
                                                                   choice.rule->label)
                                                     : std::string(err.text)});
  }
  for (const ConduitFailure& failure : world.conduits.failures) {
    if (!told(failure.name)) out.push_back({failure.name, failure.reason});
  }
  return out;
}

PeerClass explain_class(const World& world, const std::string& who, const PeerFacts& peer) {
  PeerClass out;
  out.who = who;
  out.locality = peer.locality;
  try {
    const Choice choice = choose(world.config, world.conduits, peer);
    out.rule = fmt::format("{} ({})", choice.rule->label, choice.rule->where.str());
    out.lines = lines_of(world, choice, peer.locality);
    out.put_conduit = choice.put->name();
    const ConduitEp& ep = world.endpoint(choice.put);
    out.put_forms = ep.caps & CWYC_CAP_MEM_REG ? ep.attr.mem_forms : 0;
    out.others = others_of(world, choice, peer);
  } catch (const Error& e) {
    out.unreachable = e.text();
  }
  return out;
}

PeerFacts facts(Locality locality, uint32_t rank, const char* host) {
  PeerFacts peer;
  peer.locality = locality;
  peer.host = host;
  peer.desc.head = CWY_HEAD(cwyc_peer_desc);
  peer.desc.peer = {rank, 1};
  peer.desc.same_process = locality == Locality::self;
  peer.desc.same_host = locality != Locality::remote;
  peer.desc.local_index = rank;
  return peer;
}

std::vector<PeerClass> explain_all(const World& world, uint32_t ranks) {
  const Card here = Card::of_this_process();
  bool maps = false;
  PeerFacts neighbor = facts(Locality::nbrhd, 1, here.hostname.c_str());
  for (const auto& ep : world.endpoints) {
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    maps |= (ep->attr.caps & CWYC_CAP_DIRECT) != 0 &&
            ep->conduit->module().reach(ep->conduit->domain(), &neighbor.desc, &err) == CWY_OK;
  }
  if (!maps) neighbor.locality = Locality::host;
  std::vector<PeerClass> out;
  out.push_back(
      explain_class(world, "rank 0 to itself", facts(Locality::self, 0, here.hostname.c_str())));
  if (ranks > 1) {
    const std::string who =
        ranks == 2 ? "rank 0 to rank 1" : fmt::format("rank 0 to ranks 1-{}", ranks - 1);
    out.push_back(explain_class(world, who, neighbor));
  }
  out.push_back(explain_class(world, "rank 0 to a rank on another host",
                              facts(Locality::remote, ranks, "another-host")));
  return out;
}

std::string machine_text() {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return "unknown";
  std::string text = "unknown";
  if (hwloc_topology_load(topology) == 0) {
    text = fmt::format("{} package(s), {} NUMA node(s), {} core(s), {} usable processor(s)",
                       hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE),
                       hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE),
                       hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), usable_cpus());
  }
  hwloc_topology_destroy(topology);
  return text;
}

// ---- collectives ----

// Teams of this many members on this host, and of twice as many on two hosts.
cwyl_shape team_shape(const World& world, uint32_t operation, uint32_t members, uint32_t hosts) {
  cwyl_shape shape{};
  shape.head = CWY_HEAD(cwyl_shape);
  shape.operation = operation;
  shape.team_size = members * hosts;
  shape.memkind_classes = 1u << CWY_MEM_HOST;
  shape.scratch_bytes = world.config.collective_scratch;
  const bool reduces = operation == CWYL_REDUCE_ONE || operation == CWYL_REDUCE_ALL;
  shape.dt = reduces ? GEX_DT_DBL : 0;
  shape.opcode = reduces ? GEX_OP_ADD : 0;
  shape.element_bytes = reduces ? 8 : 1;
  bool maps = false;
  for (const auto& ep : world.endpoints) {
    const PeerFacts neighbor = facts(Locality::nbrhd, 1, "");
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    maps |= (ep->caps & CWYC_CAP_DIRECT) != 0 && (ep->attr.caps & CWYC_CAP_MEM_ALLOC) != 0 &&
            ep->conduit->module().reach(ep->conduit->domain(), &neighbor.desc, &err) == CWY_OK;
  }
  maps &= members > 1 && world.config.direct_map == DirectMap::automatic;
  shape.host_count = hosts;
  shape.nbrhd_count = maps ? hosts : members * hosts;
  shape.nbrhd_most = maps ? members : 1;
  return shape;
}

// Sizes at which the choice may change: borders of rules and candidates, and powers of two, since
// scores are functions.
std::vector<uint64_t> size_borders(const CollectiveTable& table) {
  std::set<uint64_t> sizes;
  for (unsigned k = 0; k <= 30; ++k) sizes.insert(uint64_t{1} << k);
  for (unsigned k = 0; k <= 30; ++k) sizes.insert((uint64_t{1} << k) + 1);
  const auto border = [&](uint64_t from, uint64_t to) {
    sizes.insert(std::max<uint64_t>(from, 1));
    if (to != UINT64_MAX) sizes.insert(to + 1);
  };
  for (const CollectiveRule& rule : table.rules()) border(rule.from, rule.to);
  for (const CollectiveTable::Candidate& c : table.candidates()) {
    border(c.algorithm->min_bytes, c.algorithm->max_bytes);
  }
  return {sizes.begin(), sizes.end()};
}

struct CollectiveLine {
  std::string operation, sizes, algorithm, reason;
};

std::string range_text(uint64_t from, uint64_t to) {
  if (from <= 1) return to == UINT64_MAX ? "any" : "to " + size_text(to);
  return to == UINT64_MAX ? "from " + size_text(from) : size_text(from) + " to " + size_text(to);
}

std::vector<CollectiveLine> collective_lines(const World& world, const CollectiveTable& table,
                                             uint32_t members, uint32_t hosts) {
  std::vector<CollectiveLine> out;
  const std::vector<uint64_t> sizes = size_borders(table);
  for (uint32_t operation = 0; operation < CWYL_OPERATIONS; ++operation) {
    cwyl_shape shape = team_shape(world, operation, members, hosts);
    std::string held_name, held_reason;
    uint64_t begin = 0;
    const auto close = [&](uint64_t to) {
      if (held_name.empty()) return;
      out.push_back({operation_word(operation),
                     operation == CWYL_BARRIER ? "-" : range_text(begin, to), held_name,
                     held_reason});
    };
    for (const uint64_t size : sizes) {
      shape.bytes = operation == CWYL_BARRIER ? 0 : size;
      std::string name = "none", reason;
      try {
        const CollectiveTable::Choice c = table.choose(shape);
        name = c.candidate->name();
        reason = c.rule != nullptr ? fmt::format("rule {} ({})", c.rule->label, c.rule->where.str())
                                   : "the highest score";
      } catch (const Error& e) {
        reason = e.text();
      }
      if (name == held_name && reason == held_reason) continue;
      close(size - 1);
      held_name = name;
      held_reason = reason;
      begin = size;
    }
    close(UINT64_MAX);
  }
  return out;
}

struct TeamClass {
  std::string who;
  std::vector<CollectiveLine> lines;
};
std::vector<TeamClass> explain_collectives(const World& world, uint32_t ranks) {
  const CollectiveTable table(world.config, *world.loader);
  std::vector<TeamClass> out;
  for (const uint32_t hosts : {1u, 2u}) {
    out.push_back({fmt::format("a team of {} member(s) on {}", ranks * hosts,
                               hosts == 1 ? "this host" : "two hosts"),
                   collective_lines(world, table, ranks, hosts)});
  }
  return out;
}

void print_collectives(const World& world, uint32_t ranks) {
  for (const TeamClass& team : explain_collectives(world, ranks)) {
    fmt::print("\n{}\n", bold("collectives of " + team.who));
    std::vector<std::vector<std::string>> rows;
    for (const CollectiveLine& l : team.lines) {
      rows.push_back({l.operation, l.sizes, l.algorithm, "by " + l.reason});
    }
    print_columns(rows);
  }
  const CollectiveTable table(world.config, *world.loader);
  fmt::print("\n{}\n", bold("algorithms a rule can name"));
  std::vector<std::vector<std::string>> rows;
  for (const CollectiveTable::Candidate& c : table.candidates()) {
    const cwyl_candidate& a = *c.algorithm;
    const std::string most =
        a.max_team >= 1u << 20 ? "any size" : fmt::format("up to {} members", a.max_team);
    rows.push_back({operation_word(a.operation), c.name(), "teams of " + most,
                    a.keeps_order || a.operation < CWYL_REDUCE_ONE ? "" : "not in rank order"});
  }
  print_columns(rows);
  if (rows.empty()) fmt::print("  no collective plugin is loaded\n");
}

std::string collectives_json(const World& world, uint32_t ranks) {
  std::vector<std::string> teams;
  for (const TeamClass& team : explain_collectives(world, ranks)) {
    std::vector<std::string> lines;
    for (const CollectiveLine& l : team.lines) {
      lines.push_back(fmt::format(R"({{"operation":{},"sizes":{},"algorithm":{},"by":{}}})",
                                  json_text(l.operation), json_text(l.sizes),
                                  json_text(l.algorithm), json_text(l.reason)));
    }
    teams.push_back(
        fmt::format(R"({{"team":{},"choices":{}}})", json_text(team.who), json_array(lines)));
  }
  return json_array(teams);
}

void print_people(const World& world, const Arguments& args,
                  const std::vector<PeerClass>& classes) {
  fmt::print("a job of {} rank(s) on this host ({})\n", args.ranks, machine_text());
  for (const PeerClass& c : classes) {
    fmt::print("\n{} ({})", bold(c.who), locality_word(c.locality));
    if (!c.unreachable.empty()) {
      fmt::print("\n  unreachable: {}\n", c.unreachable);
      continue;
    }
    fmt::print(", by rule {}\n", c.rule);
    std::vector<std::vector<std::string>> rows;
    for (const Line& l : c.lines) rows.push_back({l.operation, l.size, l.conduit, l.how});
    print_columns(rows);
    for (const Refusal& r : c.others) fmt::print("  not {}: {}\n", r.conduit, r.reason);
  }
  if (args.collectives) print_collectives(world, args.ranks);
  if (!args.memkinds) return;
  std::vector<MemkindPeer> peers;
  for (const PeerClass& c : classes) {
    peers.push_back({c.who, c.locality, c.put_conduit, c.put_forms});
  }
  print_memkinds(world.config, *world.loader, peers);
}

void print_json(const std::vector<PeerClass>& classes) {
  std::vector<std::string> parts;
  for (const PeerClass& c : classes) {
    std::vector<std::string> lines, others;
    for (const Line& l : c.lines) {
      lines.push_back(fmt::format(R"({{"operation":{},"size":{},"conduit":{},"how":{}}})",
                                  json_text(l.operation), json_text(l.size), json_text(l.conduit),
                                  json_text(l.how)));
    }
    for (const Refusal& r : c.others) {
      others.push_back(fmt::format(R"({{"conduit":{},"reason":{}}})", json_text(r.conduit),
                                   json_text(r.reason)));
    }
    parts.push_back(fmt::format(
        R"({{"peer":{},"locality":{},"rule":{},"unreachable":{},"operations":{},"not_used":{}}})",
        json_text(c.who), json_text(locality_word(c.locality)), json_text(c.rule),
        c.unreachable.empty() ? "null" : json_text(c.unreachable), json_array(lines),
        json_array(others)));
  }
  fmt::print("{}\n", json_array(parts));
}

int explain(const Arguments& args) {
  try {
    const World world = open_world(args);
    const std::vector<PeerClass> classes = explain_all(world, args.ranks);
    if (args.json && args.collectives) {
      fmt::print("{}\n", collectives_json(world, args.ranks));
    } else if (args.json) {
      print_json(classes);
    } else {
      print_people(world, args, classes);
    }
    return kOk;
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", e.text());
    return kFailed;
  }
}

}  // namespace

void add_explain(CLI::App& app, int& status) {
  auto args = std::make_shared<Arguments>();
  CLI::App* sub = app.add_subcommand(
      "explain", "Say which conduit serves which peer, by which rule, and why not the others");
  sub->add_option("-n,--ranks", args->ranks, "Ranks of the job on this host")
      ->check(CLI::Range(1u, 1048576u))
      ->capture_default_str();
  sub->add_option("--config", args->config, "Configuration file, as for `causeway run`");
  sub->add_option("--set", args->sets, "path=value, as for `causeway run`; may be repeated")
      ->allow_extra_args(false);
  sub->add_flag("--collectives", args->collectives,
                "Also say which algorithm serves which collective; with --json, only that");
  sub->add_flag("--memkind,--memkinds", args->memkinds,
                "Also say how memory of devices is reached; not with --json");
  sub->add_flag("--json", args->json, "Print JSON");
  sub->callback([args, &status] { status = explain(*args); });
}

}  // namespace causeway::command
