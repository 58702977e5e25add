// The digest of a table (table.h).
#include <fmt/core.h>
#include <gasnet_fwd.h>

#include <algorithm>

#include "base/context.h"
#include "collective/table.h"

namespace causeway {
namespace {

// FNV-1a, 64 bits: equal on every build of every version.
class Hash {
 public:
  void add(const std::string& text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0xff);
  }
  void add(int32_t score) {
    for (int shift = 0; shift < 32; shift += 8)
      add_byte(static_cast<uint32_t>(score) >> shift & 255);
  }
  uint64_t value() const { return value_; }

 private:
  void add_byte(uint64_t byte) { value_ = (value_ ^ byte) * 1099511628211ull; }
  uint64_t value_ = 14695981039346656037ull;
};

// Members share the configuration (compared at start-up), so ranges and scores are what is left
// to differ. A score is a function of the shape; a sample of shapes tells versions apart.
void add_scores(Hash& hash, const cwyl_candidate& c) {
  cwyl_shape shape{};
  shape.head = CWY_HEAD(cwyl_shape);
  shape.operation = c.operation;
  shape.scratch_bytes = 1 << 16;
  for (uint32_t team = 1; team <= 4096; team *= 4) {
    for (uint64_t bytes = 1; bytes <= 1ull << 28; bytes *= 16) {
      for (const uint32_t nbrhds : {1u, (team + 3) / 4, team}) {
        shape.team_size = team;
        shape.nbrhd_count = nbrhds;
        shape.nbrhd_most = (team + nbrhds - 1) / nbrhds;
        shape.host_count = nbrhds;
        // Longer ones with two domains in each neighborhood.
        shape.domain_count = std::min(team, bytes > 256 ? nbrhds * 2 : nbrhds);
        shape.domain_most = (team + shape.domain_count - 1) / shape.domain_count;
        shape.bytes = bytes;
        shape.element_bytes = c.operation >= CWYL_REDUCE_ONE ? 8 : 1;
        shape.dt = c.operation >= CWYL_REDUCE_ONE ? GEX_DT_DBL : 0;
        shape.opcode = c.operation >= CWYL_REDUCE_ONE ? GEX_OP_ADD : 0;
        hash.add(c.score(&shape));
      }
    }
  }
}

std::string make_digest() {
  Hash hash;
  for (const CollectiveTable::Candidate& c : context().collectives().candidates()) {
    const cwyl_candidate& a = *c.algorithm;
    hash.add(fmt::format("{} {} {} {} {} {}-{} {}-{}", c.plugin, c.version, a.name, a.operation,
                         a.keeps_order, a.min_bytes, a.max_bytes, a.min_team, a.max_team));
    add_scores(hash, a);
  }
  return fmt::format("{:016x}", hash.value());
}

}  // namespace

const std::string& table_digest() {
  static const auto& digest = *new std::string(make_digest());  // a start may meet exit()
  return digest;
}

}  // namespace causeway
