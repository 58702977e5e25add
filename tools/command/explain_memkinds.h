// What `causeway explain --memkind` prints: per memory kind its devices, and how transfers between
// them and each sort of peer go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "loader/loader.h"

namespace causeway::command {

// A sort of peer, and the conduit that serves it.
struct MemkindPeer {
  std::string who;
  Locality locality;
  std::string conduit;  // empty: unreachable
  uint64_t forms = 0;   // CWY_FORM_* that it registers
};

void print_memkinds(const Config& config, Loader& loader, const std::vector<MemkindPeer>& peers);

}  // namespace causeway::command
