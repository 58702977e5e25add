#include "world.h"

#include <cstdlib>

#include "am/deliver.h"
#include "config/set_text.h"
#include "diag/error.h"
#include "probe_services.h"

namespace causeway::command {

void add_world_options(CLI::App& sub, WorldArguments& args, const std::string& ranks_help) {
  sub.add_option("-n,--ranks", args.ranks, ranks_help)
      ->check(CLI::Range(1u, 1048576u))
      ->capture_default_str();
  sub.add_option("--config", args.config, "Configuration file, as for `causeway run`");
  sub.add_option("--set", args.sets, "path=value, as for `causeway run`; may be repeated")
      ->allow_extra_args(false);
}

const ConduitEp& World::endpoint(const Conduit* conduit) const {
  for (const auto& ep : endpoints) {
    if (ep->conduit == conduit) return *ep;
  }
  throw Error(CWY_ERR_INVALID, "conduit {} has no endpoint", conduit->name());
}

World open_world(const WorldArguments& args) {
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

bool in_a_job() {
  return std::getenv("PMIX_NAMESPACE") != nullptr || std::getenv("CAUSEWAY_RANKS") != nullptr;
}

PeerFacts facts(Locality locality, uint32_t rank, const std::string& host) {
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

Locality neighbor_locality(const World& world) {
  const PeerFacts neighbor = facts(Locality::nbrhd, 1, "");
  for (const auto& ep : world.endpoints) {
    const Conduit& conduit = *ep->conduit;
    // A job opens only what a rule names, and maps nothing else.
    if (!conduit.spec().open_always && !world.config.uses_conduit(conduit.name())) continue;
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    if ((ep->attr.caps & CWYC_CAP_DIRECT) != 0 &&
        conduit.module().reach(conduit.domain(), &neighbor.desc, &err) == CWY_OK) {
      return Locality::nbrhd;
    }
  }
  return Locality::host;
}

}  // namespace causeway::command
