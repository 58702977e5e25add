#include "connection/mapping.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "base/error.h"

namespace causeway {
namespace {

cwyc_peer_desc another_beside() {
  cwyc_peer_desc other{};
  other.head = CWY_HEAD(cwyc_peer_desc);
  other.same_host = 1;
  return other;
}

// Are connections to another process of this host of a class whose memory can be mapped?
bool maps_beside(const ConduitEp& cep) {
  if ((cep.attr.caps & CWYC_CAP_DIRECT) == 0 || !reaches_beside(*cep.conduit)) return false;
  const auto class_of = cep.conduit->module().class_of;
  if (class_of == nullptr) return true;
  const cwyc_peer_desc other = another_beside();
  cwyc_class_attr its{};
  its.head = CWY_HEAD(cwyc_class_attr);
  return cep.conduit->module().class_query(cep.ep, class_of(cep.conduit->domain(), &other), &its) ==
             CWY_OK &&
         (its.caps & CWYC_CAP_DIRECT) != 0;
}

bool maps_natively(const ConduitEp& cep) {
  return cep.maps_neighbors && (cep.caps & CWYC_CAP_DIRECT) != 0;
}

// Better candidates have higher numbers; 0: none.
int fitness(const Config& config, const ConduitEp& cep) {
  if (!(cep.attr.caps & CWYC_CAP_MEM_ALLOC) || !config.uses_conduit(cep.conduit->name())) return 0;
  if (maps_natively(cep)) return 4;
  if (cep.maps_neighbors) return 3;
  return reaches_beside(*cep.conduit) ? 2 : 1;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

}  // namespace

bool reaches_beside(const Conduit& conduit) {
  const cwyc_peer_desc other = another_beside();
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  return conduit.module().reach(conduit.domain(), &other, &err) == CWY_OK;
}

bool find_mapping_conduits(const ConduitEps& eps) {
  bool any = false;
  for (const auto& cep : eps) {
    cep->maps_neighbors = maps_beside(*cep);
    any |= cep->maps_neighbors;
  }
  return any;
}

Conduit* segment_allocator(const Config& config, const ConduitEps& eps) {
  Conduit* best = nullptr;
  int most = 0;
  for (const auto& cep : eps) {
    const int fits = fitness(config, *cep);
    if (fits <= most) continue;
    best = cep->conduit;
    most = fits;
  }
  return best;
}

std::string mapping_words(const Config& config, const ConduitEps& eps) {
  const Conduit* const allocator = segment_allocator(config, eps);
  std::string first, others;
  for (const auto& cep : eps) {
    if (!maps_natively(*cep)) continue;
    if (cep->conduit == allocator)
      first = cep->conduit->name();
    else
      others += " " + cep->conduit->name();
  }
  return first.empty() ? first : first + others;
}

bool maps_segments(const Choice& choice, const ConduitSet& set, const std::string& own,
                   const std::string& theirs) {
  if (own.empty() || theirs.empty()) return false;
  const std::string from = words_of(theirs).front();
  const std::vector<std::string> by = words_of(own);
  const Conduit* const conduit = set.find(from);
  return conduit != nullptr && std::ranges::find(by, from) != by.end() && choice.uses(conduit);
}

bool maps_segments(const Config& config, const ConduitSet& set, const PeerFacts& peer,
                   const std::string& own, const std::string& theirs) {
  try {
    return maps_segments(choose(config, set, peer), set, own, theirs);
  } catch (const Error&) {
    return false;  // not reached at all
  }
}

std::vector<uint32_t> divide_by_mapping(const std::vector<uint64_t>& groups,
                                        const std::function<bool(uint32_t, uint32_t)>& maps) {
  std::vector<uint32_t> out;
  std::map<uint64_t, std::vector<std::vector<uint32_t>>> known;  // group -> neighborhoods' members
  for (uint32_t rank = 0; rank < groups.size(); ++rank) {
    auto& neighborhoods = known[groups[rank]];
    const auto joins = [&](const std::vector<uint32_t>& members) {
      return std::ranges::all_of(members,
                                 [&](uint32_t m) { return maps(rank, m) && maps(m, rank); });
    };
    const auto found = std::ranges::find_if(neighborhoods, joins);
    if (found == neighborhoods.end()) {
      neighborhoods.push_back({rank});
      out.push_back(rank);
    } else {
      out.push_back(found->front());
      found->push_back(rank);
    }
  }
  return out;
}

}  // namespace causeway
