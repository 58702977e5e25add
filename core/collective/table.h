// CollectiveTable: the candidates of every loaded collective plugin, and the choice among them.
#pragma once

#include <causeway/collective.h>

#include <string>
#include <vector>

#include "config/config.h"
#include "loader/loader.h"

namespace causeway {

class CollectiveTable {
 public:
  CollectiveTable(const Config& config, Loader& loader);

  struct Candidate {
    std::string plugin;
    const cwyl_candidate* algorithm;
  };
  const std::vector<Candidate>& candidates() const { return candidates_; }

  // The fitting candidate with the highest score; the earlier one among equals. A pure function
  // of its argument, so members that share the facts agree. Throws Error when nothing fits.
  const Candidate& choose(const cwyl_shape& shape) const;

 private:
  std::vector<Candidate> candidates_;
};

const char* operation_word(uint32_t operation);

}  // namespace causeway
