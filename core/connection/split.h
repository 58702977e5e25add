// Split: a connection of the core's own that stands for several, where a rule directs sizes of one
// operation to different conduits or names a rail. It is a connection object with a table of its
// own, so that peers without such rules pay nothing for it.
//
// Nothing is assumed about order between the parts. Puts, gets and messages of the client have
// none; a long message travels whole through one conduit, or as an emulated one, which counts its
// pieces; vectors are answered with UNSUPPORTED, so that whoever wants them posts piece by piece.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace causeway {

struct Connection;
struct ConduitEp;

// The part that serves the sizes up to `to`.
struct SplitPart {
  uint64_t to = UINT64_MAX;  // bytes, inclusive
  // One, or those of a rail: each operation goes to the next one, larger ones to all.
  std::vector<Connection*> members;
  std::vector<double> shares;          // of a striped transfer, by member; their sum is 1
  uint64_t stripe_above = UINT64_MAX;  // bytes
  std::atomic<uint32_t> turn{0};       // relaxed: only has to spread
};

struct Split {
  std::unique_ptr<SplitPart[]> parts;  // by size; the last one has no end
  uint32_t count = 0;

  SplitPart& part_for(uint64_t size) {
    uint32_t i = 0;
    while (size > parts[i].to) ++i;
    return parts[i];
  }
};

}  // namespace causeway
