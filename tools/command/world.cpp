#include "world.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "am/deliver.h"
#include "base/error.h"
#include "config/set_text.h"
#include "connection/job.h"
#include "connection/mapping.h"
#include "probe_services.h"
#include "spawn/job_id.h"

namespace causeway::command {

void add_world_options(Options& sub, WorldArguments& args, const std::string& ranks_help) {
  sub.option("-n,--ranks", args.ranks, ranks_help).in_range(1u, 1048576u).shows_default();
  sub.option("--config", args.configs, "Configuration file, as for `causeway run`; may be repeated")
      .one_at_a_time();
  sub.option("--set", args.sets, "path=value, as for `causeway run`; may be repeated")
      .one_at_a_time();
}

const ConduitEp& World::endpoint(const Conduit* conduit) const {
  for (const auto& ep : endpoints)
    if (ep->conduit == conduit) return *ep;
  throw Error(CWY_ERR_INVALID, "conduit {} has no endpoint", conduit->name());
}

void add_sets(ConfigSources& sources, const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    for (std::string& set : split_sets(text)) sources.flags.push_back(std::move(set));
}

Config load_config_of(const std::vector<std::string>& files, const std::vector<std::string>& sets) {
  ConfigSources sources = ConfigSources::from_environment();
  if (!files.empty()) sources.files = files;
  add_sets(sources, sets);
  return load_config(sources);
}

World open_world(const WorldArguments& args) {
  World world;
  world.config = load_config_of(args.configs, args.sets);
  // A job ends where a plugin is missing; an answer for another machine only names it.
  if (world.config.on_load_error == LoadErrorPolicy::fail)
    world.config.on_load_error = LoadErrorPolicy::warn;
  world.loader = std::make_unique<Loader>(
      world.config, probe_services(args.ranks, world.config.timeouts.start_ns));
  world.conduits =
      open_conduits(world.config, *world.loader, WhichConduits::all,
                    {probe_services()->job, Card::of_this_process().hostname, new_secret()});
  for (auto& conduit : world.conduits.conduits)
    world.endpoints.push_back(open_conduit_ep(*conduit, nullptr, 0, false, args.ranks, &deliver));
  find_mapping_conduits(world.endpoints);
  for (auto& ep : world.endpoints) {
    // A job opens only what a rule names, and maps nothing else.
    const ConduitSpec& spec = ep->conduit->spec();
    if (!spec.open_always && !world.config.uses_conduit(spec.name)) ep->maps_neighbors = false;
  }
  world.maps = mapping_words(world.config, world.endpoints);
  return world;
}

bool in_a_job() {
  return std::getenv("PMIX_NAMESPACE") != nullptr || std::getenv("CAUSEWAY_RANKS") != nullptr;
}

PeerFacts facts(Locality locality, uint32_t rank, const std::string& host) {
  PeerFacts peer;  // its pair is 0: of lanes the first one answers
  peer.locality = locality;
  peer.host = host;
  peer.desc.head = CWY_HEAD(cwyc_peer_desc);
  peer.desc.peer = {rank, 1};
  peer.desc.same_process = locality == Locality::self;
  peer.desc.same_host = locality != Locality::remote;
  peer.desc.local_index = rank;
  return peer;
}

Locality neighbor_locality(const World& world) {
  const bool maps = std::any_of(world.endpoints.begin(), world.endpoints.end(),
                                [](const auto& ep) { return ep->maps_neighbors; });
  return maps ? Locality::nbrhd : Locality::host;
}

std::vector<std::vector<uint32_t>> neighborhoods(const World& world, uint32_t first, uint32_t ranks,
                                                 const std::string& host) {
  const uint32_t most =
      world.config.neighborhood_ranks == 0 ? ranks : world.config.neighborhood_ranks;
  std::map<const PeerRule*, bool> mapped;  // by what serves a rank
  std::map<uint32_t, size_t> known;        // portion -> neighborhood
  std::vector<std::vector<uint32_t>> out;
  for (uint32_t r = first; r < first + ranks; ++r) {
    const PeerFacts peer = facts(Locality::nbrhd, r, host);
    const auto [at, fresh] = mapped.emplace(rule_for(world.config, peer), false);
    if (fresh)
      at->second = maps_segments(world.config, world.conduits, peer, world.maps, world.maps);
    const size_t next = out.size();
    const size_t where = at->second ? known.emplace((r - first) / most, next).first->second : next;
    if (where == next) out.emplace_back();
    out[where].push_back(r);
  }
  return out;
}

}  // namespace causeway::command
