#include "base/flags.h"

#include "base/context.h"
#include "base/fatal.h"
#include "base/warn_once.h"

namespace causeway {

void warn_of_flags(const char* call, gex_Flags_t foreign) {
  if (!g_checks) return;
  warn_once("{}: flags {:#x} are for other calls and have no effect here", call, foreign);
}

void check_flags_of_none(const char* call, gex_Flags_t flags) {
  if (flags_of_call(call, flags, 0) != 0) fatal(call, "flags must be 0; {:#x} was passed", flags);
}

}  // namespace causeway
