#include "base/invariant.h"

#include <fmt/core.h>

#include <cstdlib>

#include "base/log.h"

namespace causeway {

void invariant_broken(const char* invariant, const char* file, int line) {
  write_client_error(
      fmt::format("{}:{}: this does not hold: {}; a fault of the library, please report it", file,
                  line, invariant));
  std::abort();
}

}  // namespace causeway
