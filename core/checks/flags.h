// Flags that a call does not know. Clients of the field pass flags which the specification lists
// for other calls, and the implementations that they grew up with take no notice.
#pragma once

#include <gasnetex.h>

#include "diag/log.h"

namespace causeway {

extern bool g_checks;  // object/runtime.h

// Every bit that is a GEX_FLAG_* of some call.
constexpr gex_Flags_t kFlagBits = (gex_Flags_t{1} << 28) - 1;

// `flags` without those of other calls than this one, which takes `own`; with `checks: full` a
// warning names them. Bits that no call has stay in, for the call to refuse.
inline gex_Flags_t flags_of_call(const char* call, gex_Flags_t flags, gex_Flags_t own) {
  const gex_Flags_t foreign = flags & kFlagBits & ~own;
  if (foreign != 0 && g_checks) {
    log_warn("{}: flags {:#x} are for other calls and have no effect here", call, foreign);
  }
  return flags & ~foreign;
}

}  // namespace causeway
