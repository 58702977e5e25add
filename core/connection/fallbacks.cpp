#include "connection/fallbacks.h"

#include <causeway/operations.h>

namespace causeway {

constinit Fallbacks fallbacks;

void fill_with_emulation(cwyc_ops& ops) {
  for_each_operation([&]<typename Each>(const Each&) {
    if (ops.*Each::member == nullptr) ops.*Each::member = fallbacks.emulated->*Each::member;
  });
}

}  // namespace causeway
