#include "options.h"

#include <algorithm>

#include "../../common/plugin_error.h"
#include "../common/option_reader.h"
#include "layout.h"

namespace causeway::shm {

cwy_status read_options(const cwy_services& services, const cwy_options* opts, Options& out,
                        cwy_err* err) {
  int64_t connections = 0;
  OptionReader r(services, opts, err);
  r.choice("memory", {"auto", "memfd", "posix"}, out.memory);
  r.choice("huge_pages", {"never", "try", "require"}, out.huge_pages);
  r.choice("numa", {"first_touch", "local", "interleave"}, out.numa);
  r.choice("cma", {"auto", "never", "require"}, out.cma);
  r.choice("reserve", {"auto", "always", "never"}, out.reserve);
  r.choice("wakeup", {"auto", "membarrier", "bounded"}, out.wakeup);
  r.size("ring_bytes", out.ring_bytes);
  r.number("connections", connections);
  if (r.status() != CWY_OK) return r.status();
  if (out.ring_bytes % ring_unit != 0)
    return report(err, CWY_ERR_INVALID,
                  "option 'ring_bytes' is %llu; expected 0 or a multiple of 4 KiB up to 256 MiB",
                  static_cast<unsigned long long>(out.ring_bytes));
  out.connections = static_cast<uint32_t>(connections);
  if (out.memory == Memory::posix && out.huge_pages == HugePages::require)
    return report(err, CWY_ERR_INVALID,
                  "option 'huge_pages': require needs memory: memfd; POSIX shared memory has none");
  return CWY_OK;
}

uint64_t default_ring_bytes(uint32_t local_count) {
  // All rings that all peers have filled stay below 8.2 MB per rank.
  if (local_count <= 16) return 160 << 10;  // a medium of 64 KiB and a header of the client's
  if (local_count <= 64) return 64 << 10;
  if (local_count <= 128) return 32 << 10;
  return 16 << 10;
}

// Twice the ranks: a replaced rank may need a second slot before its first one is recycled, and
// several endpoints of one process need one each.
uint32_t default_connections(uint32_t local_count) {
  return 2 * std::max(local_count, 4u);
}

// As many as all ranks of a small host could want. With many ranks the first to ask have them:
// rings that are used cost memory, and so do the addresses of large ones that are not.
uint32_t default_side_slots(uint32_t local_count, uint64_t ring_bytes) {
  constexpr uint64_t most_slots = 48, most_bytes = 64 << 20;
  const uint64_t wanted = uint64_t{side_ways_max} * local_count;
  return static_cast<uint32_t>(
      std::min({wanted, most_slots, most_bytes / (lane_count * ring_bytes)}));
}

}  // namespace causeway::shm
