// The ingredients of a run: a seed, families of operations, and how many steps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace storm {

enum class Family : uint8_t {
  coll,     // collectives of GASNet-EX
  rma,      // puts and gets
  am,       // active messages
  vis,      // vector, indexed, strided
  notice,   // peer completion of VIS puts
  team,     // teams made and ended under way
  segment,  // segments replaced under a second endpoint
  device,   // collectives and transfers on device memory
  threads,  // a second thread beside the first, in some epochs
  ends,     // how the job ends
  atomics,  // remote atomics, and those of the tools
  gaspi,    // GASPI beside it
  legacy,   // the older collectives of GASNet-1
  clients,  // a second client
};
inline constexpr unsigned kFamilies = 14;
std::string_view name_of(Family family);

struct Options {
  uint64_t seed = 1;
  uint32_t steps = 192;
  uint32_t ops = 0;      // a bit for each family
  double patience = 40;  // seconds that a step may take before it is a hang
  bool verbose = false;

  bool has(Family family) const { return (ops >> static_cast<unsigned>(family) & 1) != 0; }
};

// "coll,rma" as bits. False, with `bad` the unknown word, when it is none.
bool parse_ops(std::string_view text, uint32_t& ops, std::string& bad);
std::string print_ops(uint32_t ops);

}  // namespace storm
