#include "am/limits.h"

#include <algorithm>
#include <set>

#include "am/send_buffer.h"
#include "base/context.h"
#include "base/fatal.h"
#include "connection/job.h"
#include "connection/peer.h"
#include "object/team.h"

namespace causeway {
namespace {

AmLimits compute(const Peer& peer) {
  return limits_with(peer.rank);
}

AmLimits compute(const Team& team) {
  std::set<uint32_t> ranks;
  for (const TeamMember& member : team.members()) ranks.insert(member.rank());
  AmLimits out = limits_between_others(ranks);
  for (const uint32_t rank : ranks) out = least(out, limits_with(rank));
  return out;
}

// Several threads may compute the same answer at once. `long_max` is looked at only where
// `medium_max`, written last, is seen.
template <typename Whose>
AmLimits limits_slowly(const Whose& whose) {
  const AmLimits limits = or_fatal("gex_AM_Max*()", [&] { return compute(whose); });
  whose.long_max.store(static_cast<uint32_t>(limits.long_max), std::memory_order_relaxed);
  whose.medium_max.store(static_cast<uint32_t>(limits.medium), std::memory_order_release);
  return limits;
}

template <typename Whose>
inline AmLimits remembered(const Whose& whose) {
  // Acquire: pairs with the release above, for the other value.
  const uint32_t medium = whose.medium_max.load(std::memory_order_acquire);
  if (__builtin_expect(medium == 0, 0)) return limits_slowly(whose);
  return {medium, whose.long_max.load(std::memory_order_relaxed)};
}

}  // namespace

AmLimits limits_of(const Peer& peer) {
  return remembered(peer);
}

AmLimits limits_of(const Team& team) {
  return remembered(team);
}

AmLimits least_limits() {
  static const AmLimits limits = [] {
    AmLimits out{SIZE_MAX, SIZE_MAX};
    for (uint32_t r = 0; r < context().size(); ++r)
      for (const auto& [conduit, theirs] : context().job().kind(r).am_limits)
        out = least(out, theirs);
    return out;
  }();
  return limits;
}

size_t payload_limit(const AmLimits& limits, bool medium, gex_Flags_t flags) {
  if (medium) return limits.medium;
  const bool in_our_buffer = (flags & GEX_FLAG_AM_PREPARE_LEAST_ALLOC) != 0;
  return in_our_buffer ? std::min(limits.long_max, kSendBufferBytes) : limits.long_max;
}

}  // namespace causeway
