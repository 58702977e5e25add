// A call that refuses its arguments returns an error code and, unless the client turned this off
// with gex_System_SetVerboseErrors(0), says why in one line.
#pragma once

#include <atomic>
#include <string_view>

#include "base/log.h"

namespace causeway {

inline std::atomic<int> verbose_errors{1};  // relaxed: a setting

// "causeway: rank R/N: error: <call>: <text>"
inline void log_refusal(std::string_view call, std::string_view text) {
  if (verbose_errors.load(std::memory_order_relaxed) != 0)
    write_client_error(fmt::format("{}: {}", call, text));
}

}  // namespace causeway
