// Parts of the output of `causeway explain`. --collectives: which algorithm each collective of
// teams on one host and on two would run, by size, and the algorithms that a rule can name.
// --memkind: per memory kind its devices, and how transfers between them and each sort of peer go.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "loader/loader.h"
#include "world.h"

namespace causeway::command {

void print_collectives(const World& world, uint32_t ranks);
std::string collectives_json(const World& world, uint32_t ranks);

// A sort of peer, and the conduit that serves it.
struct MemkindPeer {
  std::string who;
  Locality locality;
  std::string conduit;  // empty: unreachable
  uint64_t forms = 0;   // CWY_FORM_* that it registers
  bool mapped = false;  // each side's segments are mapped on the other
};

struct MemkindAnswer {
  std::string kind, summary;
  std::vector<std::string> devices;
  std::string trouble;           // why it is of no use here; empty when it is
  std::string exports, imports;  // words for CWY_FORM_*
  std::vector<std::pair<std::string, std::string>> ways;  // by peer
};
std::vector<MemkindAnswer> explain_memkinds(const Config& config, Loader& loader,
                                            const std::vector<MemkindPeer>& peers);

void print_memkinds(const std::vector<MemkindAnswer>& kinds);
std::string memkinds_json(const std::vector<MemkindAnswer>& kinds);

}  // namespace causeway::command
