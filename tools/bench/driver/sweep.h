// `causeway bench --sweep`: operations over sizes, one at a time and many under way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "earlier.h"
#include "plan.h"

namespace causeway::bench {

// "put,am" and "8-4MiB": the words, and the sizes, each twice the one before. Both throw
// std::runtime_error that says what there is.
std::vector<std::string> sweep_operations(const std::string& text);
std::vector<uint64_t> sweep_sizes(const std::string& text);
constexpr const char* kAllSweeps = "put,get,am,allreduce";
constexpr const char* kSweepSizes = "8-4MiB";

// The figures of one operation, one at a time ("latency") or many under way ("bandwidth"), by size.
struct Curve {
  struct At {
    uint64_t bytes;
    const Measured* measured;
  };
  std::string operation, what;
  std::vector<At> points;
  bool is_latency() const { return what == "latency"; }
  const char* unit() const { return is_latency() ? "us" : "GB/s"; }
  std::string title() const;
  // The other sides that were measured: "openmpi".
  std::vector<std::string> sides() const;
};
// In the order in which they were measured.
std::vector<Curve> curves_of(const Outcome& outcome);
std::vector<std::vector<std::string>> curve_rows(const Curve& curve, const Earlier& earlier);
void print_sweep(const Outcome& outcome, const Earlier& earlier);

}  // namespace causeway::bench
