#include "session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace causeway::bench {

bool Session::wants(std::string_view name) const {
  if (only_.empty()) return true;
  return std::find(only_.begin(), only_.end(), name) != only_.end();
}

void Session::report(const Measured& measured) {
  if (!job_.is_first() || !wants(measured.name)) return;
  fmt::print("{}\n", to_record(measured));
  fflush(stdout);
}

}  // namespace causeway::bench
