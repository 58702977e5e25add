// Rules of `peers:`: which peers they match, and which of them can never be the first to match.
#pragma once

#include <vector>

#include "config/config.h"
#include "config/problem.h"

namespace causeway {

inline constexpr Locality kLocalities[] = {Locality::self, Locality::nbrhd, Locality::host,
                                           Locality::remote};
const char* locality_word(Locality locality);

// Whether a condition on `condition` holds for a peer at `peer`: nbrhd includes self, host
// includes nbrhd; remote is a peer on another host.
bool locality_includes(Locality condition, Locality peer);

// Reports every rule all of whose peers are taken by rules before it. Rules that
// `comparable` marks false are left out: their conditions are not known.
void check_reachable(const std::vector<PeerRule>& rules, const std::vector<bool>& comparable,
                     Problems& problems);

}  // namespace causeway
