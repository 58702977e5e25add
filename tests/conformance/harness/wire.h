// The control connection between harness, zygote and partner: what travels on it.
#pragma once

#include <cstdint>

#include "partner.h"

namespace causeway::conformance {

enum class CommandKind : uint32_t { call, hold, resume };

struct Command {
  CommandKind kind;
  uint32_t length;
  Thunk thunk;
  void (*fn)();
  uint8_t argument[kMaxTransfer];
};

struct Result {
  uint32_t ok;
  char text[1020];
  uint8_t value[kMaxTransfer];
};

// Serves one harness until it hangs up. Does not return.
[[noreturn]] void partner_main(const Settings& settings, uint32_t epoch, int control);

}  // namespace causeway::conformance
