// causeway explain: which conduit would serve which peer, by which rule, how each operation is
// done, and why the other conduits are not used. Asks the code that jobs use (core/connection),
// with this host's plugins, for a job of N ranks on this host and one rank elsewhere.
#include <fmt/ranges.h>
#include <hwloc.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "commands.h"
#include "config/config.h"
#include "config/peer_rules.h"
#include "config/rank_set.h"
#include "connection/fallbacks.h"
#include "connection/job.h"
#include "connection/selector.h"
#include "explain_parts.h"
#include "loader/one_line.h"
#include "spawn/limits.h"
#include "text.h"
#include "world.h"

namespace causeway::command {
namespace {

struct ExplainArguments {
  WorldArguments world;
  bool collectives = false;
  bool memkinds = false;
  bool json = false;
};

struct SizeRange {
  uint64_t from, to;  // bytes, inclusive
};
// How one operation reaches one class of peers.
struct Line {
  std::string operation;
  std::optional<SizeRange> bytes;
  std::string size, conduit, how;  // size: where it is no range of bytes
  const RailSpec* rail = nullptr;
};
struct UsedConduit {
  std::string name;
  DeviceChoice device;
  uint32_t lanes;
};
struct PeerClass {
  std::string who;
  std::vector<uint32_t> ranks;
  Locality locality = Locality::self;
  std::string rule;         // label and where it is written; empty: none matches
  std::string unreachable;  // the whole reason; empty when a conduit was chosen
  std::string trouble;      // the same beside `rule` and `others`
  std::vector<Line> lines;
  std::vector<UsedConduit> used;
  std::string put_conduit;      // empty when unreachable
  uint64_t put_forms = 0;       // CWY_FORM_* that it registers
  bool mapped = false;          // segments of the peers are mapped here, and ours there
  std::vector<Refusal> others;  // every conduit that is not used, and why
};

// Are puts, gets and atomics the program's own instructions? As core/object/publication decides.
bool is_inlined(const World& world, const Choice& choice, Locality locality) {
  const bool mapped = locality == Locality::self || locality == Locality::nbrhd;
  if (!mapped || world.config.direct_map != DirectMap::automatic ||
      world.config.checks != Checks::none)
    return false;
  for (const OperationKind kind : {OperationKind::put, OperationKind::get, OperationKind::atomic}) {
    const Conduit* conduit = choice.only(kind);
    if (conduit == nullptr || !(world.endpoint(conduit).attr.caps & CWYC_CAP_DIRECT)) return false;
  }
  return true;
}

// How one operation is done by each conduit of the span, once where they agree.
template <typename How>
std::string each_way(const World& world, const SizeSpan& span, How how) {
  std::string out;
  for (const Conduit* conduit : span.carrier.conduits) {
    const std::string way = how(world.endpoint(conduit));
    if (out.find(way) == std::string::npos) out += (out.empty() ? "" : ", or ") + way;
  }
  return out;
}

std::string by_text(const SizeSpan& span) {
  return span.by == "use" ? "" : fmt::format(", by {} of the rule", span.by);
}

void add_one_sided(const World& world, const Choice& choice, OperationKind kind, uint64_t cap,
                   bool inlined, std::vector<Line>& out) {
  const std::string word = operation_kind_word(kind);
  const bool atomic = kind == OperationKind::atomic;
  uint64_t from = 0;
  for (const SizeSpan& span : choice.of(kind)) {
    std::string how = inlined
                          ? (atomic ? "the program's own atomic instructions"
                                    : "the program's own loads and stores")
                          : each_way(world, span, [&](const ConduitEp& ep) {
                              return std::string(ep.caps & cap ? "by the conduit"
                                                               : "emulated over active messages");
                            });
    if (span.carrier.is_rail()) {
      how += fmt::format(", in parts above {}, else in turn",
                         size_text(span.carrier.rail->stripe_above));
    }
    const RailSpec* const rail = span.carrier.is_rail() ? span.carrier.rail : nullptr;
    out.push_back({word, atomic ? SizeRange{4, 8} : SizeRange{from, span.to},
                   atomic ? "4, 8 B" : "", span.carrier.name(), how + by_text(span), rail});
    from = span.to + 1;
  }
}

// Messages of one category, as far as gex_AM_Max*() lets them come.
void add_messages(const World& world, const Choice& choice, const char* word,
                  size_t AmLimits::*which, std::vector<Line>& out) {
  const auto& spans = choice.of(OperationKind::am);
  const uint64_t most = largest_message(
      spans, [&](const Conduit& c) -> uint64_t { return world.endpoint(&c).limits.*which; });
  const bool is_long = which == &AmLimits::long_max;
  uint64_t from = 0;
  for (const SizeSpan& span : spans) {
    if (from > most) break;
    const std::string how = each_way(world, span, [&](const ConduitEp& ep) {
      const bool native = !is_long || is_native<&cwyc_ops::am_long>(ep.inner[0]);
      return std::string(native ? "by the conduit" : "emulated over mediums");
    });
    out.push_back({word, SizeRange{from, std::min(span.to, most)}, "", span.carrier.name(),
                   how + by_text(span)});
    from = span.to + 1;
  }
}

std::vector<Line> lines_of(const World& world, const Choice& choice, Locality locality) {
  const bool inlined = is_inlined(world, choice, locality);
  std::vector<Line> out;
  add_one_sided(world, choice, OperationKind::put, CWYC_CAP_PUT, inlined, out);
  add_one_sided(world, choice, OperationKind::get, CWYC_CAP_GET, inlined, out);
  add_one_sided(world, choice, OperationKind::atomic, CWYC_CAP_ATOMIC, inlined, out);
  const SizeSpan& shorts = choice.of(OperationKind::am).front();
  out.push_back(
      {"AM short", {}, "16 args", shorts.carrier.name(), "by the conduit" + by_text(shorts)});
  add_messages(world, choice, "AM medium", &AmLimits::medium, out);
  add_messages(world, choice, "AM long", &AmLimits::long_max, out);
  if (locality == Locality::self) return out;
  const std::string noticed = each_way(world, shorts, [](const ConduitEp& ep) {
    return std::string(ep.caps & CWYC_CAP_PEER_FAILURE ? "noticed by the conduit"
                                                       : "told by the launcher alone");
  });
  out.push_back({"death", {}, "of a rank", shorts.carrier.name(), noticed});
  return out;
}

// Why each conduit that is not used is not: refused when tried, unable, or simply not named.
std::vector<Refusal> others_of(const World& world, const Choice& choice, const PeerFacts& peer) {
  std::vector<Refusal> out = choice.refused;
  const auto told = [&](const std::string& name) {
    for (const Refusal& r : out)
      if (r.conduit == name) return true;
    return false;
  };
  for (const auto& conduit : world.conduits.conduits) {
    if (choice.uses(conduit.get()) || told(conduit->name()) || conduit->spec().lane != 0) continue;
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    const cwy_status status = conduit->module().reach(conduit->domain(), &peer.desc, &err);
    out.push_back({conduit->name(), status == CWY_OK ? fmt::format("could, but {} does not name it",
                                                                   choice.rule->label)
                                                     : reason(err, status)});
  }
  for (const ConduitFailure& failure : world.conduits.failures)
    if (!told(failure.name)) out.push_back({failure.name, failure.reason});
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
    for (const auto& conduit : world.conduits.conduits)
      if (choice.uses(conduit.get()))
        out.used.push_back({conduit->name(), conduit->device(), conduit->spec().lanes});
    out.put_conduit = choice.put->name();
    const ConduitEp& ep = world.endpoint(choice.put);
    out.put_forms = ep.caps & CWYC_CAP_MEM_REG ? ep.attr.mem_forms : 0;
    out.mapped = is_inlined(world, choice, out.locality);
    out.others = others_of(world, choice, peer);
  } catch (const Unreachable& e) {
    out.unreachable = e.text();
    out.trouble = e.reason;
    if (e.rule == nullptr) return out;
    out.rule = fmt::format("{} ({})", e.rule->label, e.rule->where.str());
    if (e.rule->require || e.rule->on_fallback == Fallback::fail) return out;
    out.others = e.refused;
    out.trouble = fmt::format("the rule takes {}; on this machine none serves",
                              fmt::join(e.rule->use, ", else "));
  }
  return out;
}

using Neighborhoods = std::vector<std::vector<uint32_t>>;

// The other ranks of this host, by the rule that is for them, as in core/connection/peer_classes.
struct Neighbors {
  const PeerRule* rule;
  PeerFacts first;
  std::vector<uint32_t> ranks;
  std::string who() const {
    return fmt::format("rank 0 to rank{} {}", ranks.size() == 1 ? "" : "s",
                       RankSet::of(ranks).str());
  }
};

std::vector<Neighbors> neighbor_classes(const World& world, uint32_t ranks,
                                        const std::string& host) {
  std::vector<Neighbors> out;
  const Locality near = neighbor_locality(world);
  const uint32_t most = world.config.neighborhood_ranks;
  PeerFacts peer = facts(Locality::nbrhd, 0, host);
  for (uint32_t r = 1; r < ranks; ++r) {
    peer.locality = most != 0 && r >= most ? Locality::host : near;
    peer.desc.peer.rank = peer.desc.local_index = r;
    const PeerRule* rule = rule_for(world.config, peer);
    const auto at = std::ranges::find_if(out, [&](const Neighbors& n) {
      return n.rule == rule && n.first.locality == peer.locality;
    });
    if (at == out.end())
      out.push_back({rule, peer, {r}});
    else
      at->ranks.push_back(r);
  }
  return out;
}

std::vector<PeerClass> explain_all(const World& world, uint32_t ranks) {
  const Card here = Card::of_this_process();
  std::vector<PeerClass> out;
  out.push_back(explain_class(world, "rank 0 to itself", facts(Locality::self, 0, here.hostname)));
  out.back().ranks = {0};
  for (const Neighbors& n : neighbor_classes(world, ranks, here.hostname)) {
    out.push_back(explain_class(world, n.who(), n.first));
    out.back().ranks = n.ranks;
  }
  out.push_back(explain_class(world, "rank 0 to a rank on another host",
                              facts(Locality::remote, ranks, "another-host")));
  return out;
}

std::string machine_text() {
  hwloc_topology_t topology;
  if (!affinity_is_known() || hwloc_topology_init(&topology) != 0) return "unknown";
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

std::vector<MemkindAnswer> memkinds_of(const World& world, const std::vector<PeerClass>& classes) {
  std::vector<MemkindPeer> peers;
  for (const PeerClass& c : classes)
    peers.push_back({c.who, c.locality, c.put_conduit, c.put_forms, c.mapped});
  return explain_memkinds(world.config, *world.loader, peers);
}

// The job's own peers, that is: the rank on another host is there to be asked about only.
bool all_reached(const std::vector<PeerClass>& classes) {
  return std::ranges::all_of(classes, [](const PeerClass& c) {
    return c.unreachable.empty() || c.locality == Locality::remote;
  });
}

// As a program is told by gex_System_QueryNbrhdInfo(), for people.
std::string neighborhoods_text(const Neighborhoods& all) {
  constexpr size_t most = 8;
  const bool alone = std::ranges::all_of(all, [](const auto& ranks) { return ranks.size() == 1; });
  if (alone && all.size() > 1) return "each rank its own";
  std::string out;
  for (size_t i = 0; i < all.size() && i < most; ++i)
    out += (i == 0 ? "" : " | ") + RankSet::of(all[i]).str();
  return all.size() > most ? fmt::format("{} and {} more", out, all.size() - most) : out;
}

void print_people(const World& world, const ExplainArguments& args, const Neighborhoods& all,
                  const std::vector<PeerClass>& classes) {
  print_folded(
      fmt::format("a job of {} rank(s) on this host ({})", args.world.ranks, machine_text()), "");
  print_folded("neighborhoods: " + neighborhoods_text(all), "");
  for (const PeerClass& c : classes) {
    fmt::print("\n");
    print_folded(fmt::format("{} ({}){}{}", c.who, locality_word(c.locality),
                             c.rule.empty() ? "" : ", by rule ", c.rule),
                 "", c.who.size());
    if (!c.trouble.empty()) print_folded("unreachable: " + c.trouble);
    std::vector<std::vector<std::string>> rows;
    for (const Line& l : c.lines) {
      const std::string size = l.size.empty() ? range_text(l.bytes->from, l.bytes->to) : l.size;
      rows.push_back({l.operation, size, l.conduit, l.how});
    }
    print_columns(rows);
    for (const auto& [conduit, device, lanes] : c.used) {
      print_folded(fmt::format("device of {}: {}{}{}", conduit, device.name,
                               device.name.empty() ? "" : ", ", device.why));
      if (lanes == 1) continue;
      print_folded(
          fmt::format("lanes of {}: {}; two ranks use the one that the sum of their numbers "
                      "names, and the first for atomics",
                      conduit, lanes));
    }
    for (const Refusal& r : c.others) print_folded(fmt::format("not {}: {}", r.conduit, r.reason));
  }
  if (args.collectives) print_collectives(world, args.world.ranks);
  if (args.memkinds) print_memkinds(memkinds_of(world, classes));
}

// Those of the class that rank 0 has in its neighborhood: "1-3".
std::string neighbors_text(const PeerClass& c, const Neighborhoods& all) {
  std::vector<uint32_t> out;
  for (const uint32_t rank : all.front())
    if (std::ranges::binary_search(c.ranks, rank)) out.push_back(rank);
  return RankSet::of(out).str();
}

void print_json(const std::vector<PeerClass>& classes, const Neighborhoods& all) {
  const auto line_json = [](const Line& l) {
    return fmt::format(
        R"({{"operation":{},{},"stripe_above":{},"conduit":{},"how":{}}})", json_text(l.operation),
        l.bytes ? range_json(l.bytes->from, l.bytes->to) : R"("from":null,"to":null)",
        l.rail != nullptr ? std::to_string(l.rail->stripe_above) : "null", json_text(l.conduit),
        json_text(l.how));
  };
  const auto device_json = [](const UsedConduit& used) {
    return fmt::format(R"({{"conduit":{},"device":{},"why":{},"lanes":{}}})", json_text(used.name),
                       json_text(used.device.name), json_text(used.device.why), used.lanes);
  };
  const auto refusal_json = [](const Refusal& r) {
    return fmt::format(R"({{"conduit":{},"reason":{}}})", json_text(r.conduit),
                       json_text(r.reason));
  };
  fmt::print(
      "{}\n", json_each(classes, [&](const PeerClass& c) {
        return fmt::format(
            R"({{"peer":{},"locality":{},"neighbors":{},"rule":{},"unreachable":{},"operations":{},"devices":{},"not_used":{}}})",
            json_text(c.who), json_text(locality_word(c.locality)),
            json_text(neighbors_text(c, all)), json_text(c.rule),
            c.unreachable.empty() ? "null" : json_text(c.unreachable),
            json_each(c.lines, line_json), json_each(c.used, device_json),
            json_each(c.others, refusal_json));
      }));
}

int explain(const ExplainArguments& args) {
  const World world = open_world(args.world);
  const std::vector<PeerClass> classes = explain_all(world, args.world.ranks);
  const Neighborhoods all =
      neighborhoods(world, 0, args.world.ranks, Card::of_this_process().hostname);
  if (args.json && args.collectives)
    fmt::print("{}\n", collectives_json(world, args.world.ranks));
  else if (args.json && args.memkinds)
    fmt::print("{}\n", memkinds_json(memkinds_of(world, classes)));
  else if (args.json)
    print_json(classes, all);
  else
    print_people(world, args, all, classes);
  return all_reached(classes) ? kOk : kFailed;
}

}  // namespace

void add_explain(Options& app, int& status) {
  auto args = std::make_shared<ExplainArguments>();
  Options& sub = app.subcommand(
      "explain", "Say which conduit serves which peer, by which rule, and why not the others",
      [args, &status] { status = explain(*args); });
  add_world_options(sub, args->world, "Ranks of the job on this host");
  sub.flag("--collectives", args->collectives,
           "Also say which algorithm serves which collective; with --json, only that");
  sub.flag("--memkind,--memkinds", args->memkinds,
           "Also say how memory of devices is reached; with --json, only that");
  sub.flag("--json", args->json, "Print JSON");
  sub.footer(
      "Exit status: 0 every rank of the job is reached, 1 one is not (the rank on another host\n"
      "does not count) or the configuration cannot be used, 2 usage.");
}

}  // namespace causeway::command
