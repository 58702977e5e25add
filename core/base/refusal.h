// A call that refuses its arguments returns an error code and, unless the client turned this off
// with gex_System_SetVerboseErrors(0), says why in one line.
#pragma once

#include <atomic>
#include <string_view>

namespace causeway {

extern std::atomic<int> verbose_errors;  // relaxed: a setting

// "causeway: rank R/N: error: <call>: <text>"
void log_refusal(std::string_view call, std::string_view text);

}  // namespace causeway
