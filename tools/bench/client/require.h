// The end of a measuring program that cannot go on.
#pragma once

#include <fmt/format.h>
#include <gasnetex.h>

#include <string_view>

namespace causeway::bench {

[[noreturn]] inline void refuse(std::string_view why) {
  fmt::print(stderr, "causeway-bench: {}\n", why);
  gasnet_exit(1);
}
inline void require(int status, const char* call) {
  if (status != GASNET_OK) refuse(fmt::format("{}: {}", call, gasnet_ErrorDesc(status)));
}

}  // namespace causeway::bench
