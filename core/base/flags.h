// Flags that a call does not know. Clients of the field pass flags which the specification lists
// for other calls, and the implementations that they grew up with take no notice.
#pragma once

#include <gasnetex.h>

namespace causeway {

// Every bit that is a GEX_FLAG_* of some call.
constexpr gex_Flags_t kFlagBits = (gex_Flags_t{1} << 28) - 1;

// `flags` without those of other calls than this one, which takes `own`; with `checks: full` a
// warning names them, once. Bits that no call has stay in, for the call to refuse.
void warn_of_flags(const char* call, gex_Flags_t foreign);
inline gex_Flags_t flags_of_call(const char* call, gex_Flags_t flags, gex_Flags_t own) {
  const gex_Flags_t foreign = flags & kFlagBits & ~own;
  if (__builtin_expect(foreign != 0, 0)) warn_of_flags(call, foreign);
  return flags & ~foreign;
}

// The same for a call that takes no flags; it ends the job for bits that no call has.
void check_flags_of_none(const char* call, gex_Flags_t flags);
inline void require_no_flags(const char* call, gex_Flags_t flags) {
  if (__builtin_expect(flags != 0, 0)) check_flags_of_none(call, flags);
}

}  // namespace causeway
