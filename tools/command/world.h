// Shared by `explain`, `map` and `info`: the configuration, this host's plugins with their conduits
// open, and peers that are only supposed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "connection/conduit_set.h"
#include "connection/selector.h"
#include "loader/loader.h"
#include "options/options.h"

namespace causeway::command {

struct WorldArguments {
  uint32_t ranks = 4;  // of one host
  std::vector<std::string> configs;
  std::vector<std::string> sets;
};
void add_world_options(Options& sub, WorldArguments& args, const std::string& ranks_help);

// Adds what --set was given: texts as CAUSEWAY_SET has them.
void add_sets(ConfigSources& sources, const std::vector<std::string>& texts);
// The configuration of jobs under these options. Throws Error.
Config load_config_of(const std::vector<std::string>& files, const std::vector<std::string>& sets);

struct World {
  Config config;
  std::unique_ptr<Loader> loader;
  ConduitSet conduits;  // those too that no rule names
  std::vector<std::unique_ptr<ConduitEp>> endpoints;
  std::string maps;  // what a rank would say on its card: mapping_words()

  const ConduitEp& endpoint(const Conduit* conduit) const;
};
// Throws Error.
World open_world(const WorldArguments& args);

// Started as a program of a job, not by itself.
bool in_a_job();

PeerFacts facts(Locality locality, uint32_t rank, const std::string& host);

// The locality of ranks of one host to each other: nbrhd where some conduit maps its memory, else
// host.
Locality neighbor_locality(const World& world);

// The neighborhoods of so many ranks of one host, from rank `first` on, by their lowest ranks: as
// core/connection/neighborhoods decides where all have opened what this process has.
std::vector<std::vector<uint32_t>> neighborhoods(const World& world, uint32_t first, uint32_t ranks,
                                                 const std::string& host);

}  // namespace causeway::command
