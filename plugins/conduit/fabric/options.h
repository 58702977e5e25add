// The options that all networks have.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "../common/option_reader.h"

namespace causeway::fabric {

// How long registrations of local buffers are kept: kept and watched; ended with the last
// operation; or kept without watching, for programs that never unmap memory they communicate from.
enum class Caching : uint32_t { watch, in_flight, keep };
enum class Native : uint32_t { automatic, never };

struct Options {
  uint64_t am_medium = 0;   // payload bytes
  uint64_t credits = 0;     // messages per lane and connection; 0 chooses
  uint64_t copy_below = 0;  // local buffers that need a registration are copied up to here
  Native atomics = Native::automatic;
  Caching registration_cache = Caching::watch;
  uint64_t registration_cache_bytes = 0;  // registered and unused at most
  uint64_t connect_timeout_ns = 0;

 protected:
  // Options that networks which register nothing have, too.
  void read_basic(OptionReader& r) {
    r.size("am_medium", am_medium);
    r.number("credits", credits);
    r.choice("atomics", {"auto", "never"}, atomics);
    r.time("connect_timeout", connect_timeout_ns);
    am_medium = am_medium / 8 * 8;
  }
  void read_shared(OptionReader& r) {
    read_basic(r);
    r.size("copy_below", copy_below);
    r.choice("registration_cache", {"watch", "in_flight", "keep"}, registration_cache);
    r.size("registration_cache_bytes", registration_cache_bytes);
  }
};

}  // namespace causeway::fabric
