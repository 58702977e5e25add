// Two ranks of a GASPI job that measure together: what the measuring programs of GASPI share.
#pragma once

#include <GASPI.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "../spread.h"
#include "start.h"
#include "wanted.h"

namespace causeway::bench {

// Ends the process with a line when the call did not succeed.
void require(gaspi_return_t result, const char* call);
#define REQUIRE(call) require(call, #call)

// A barrier of both.
void meet();

class GaspiPair {
 public:
  // Starts GASPI, binds this rank to a core of its own where there are two, and makes segment 0 and
  // memory that both map without the library. Ends the process when there are not two ranks.
  GaspiPair(size_t segment_bytes, size_t shared_bytes, Wanted wanted);
  GaspiPair(const GaspiPair&) = delete;
  GaspiPair& operator=(const GaspiPair&) = delete;
  // Both together.
  void leave();

  bool is_first() const { return first_; }
  gaspi_rank_t other() const { return first_ ? 1 : 0; }
  unsigned cores() const { return core_.cores; }
  bool quick() const { return wanted_.quick; }
  unsigned char* segment() const { return segment_; }
  void* shared() const { return shared_; }  // rank 0 made it: nameless, so nothing stays behind

  bool wants(const std::string& name) const { return wanted_.has(name); }
  void tell_facts() const;
  // By the first rank.
  void report(const char* name, double ours, std::optional<double> raw, const std::string& path,
              const std::string& note, const Spread& spread) const;

  // Lets the library make progress, whatever comes of it.
  void poll() const;

  // Nanoseconds of 8 bytes and a notification there and back, `count` times. gaspi_wait now and
  // then, as programs have to, whose queues are finite.
  double notified_trips(uint64_t count) const;

 private:
  void* share(size_t bytes);

  Wanted wanted_;
  bool first_ = false;
  OwnCore core_;
  unsigned char* segment_ = nullptr;
  void* shared_ = nullptr;
};

}  // namespace causeway::bench
