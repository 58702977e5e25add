// For the thread sanitizer: operations that tell it when something leaves this process
// (progress/tsan_annotations.h). In other builds tables stay as they are.
#pragma once

#include <causeway/conduit.h>

#include "progress/tsan_annotations.h"

namespace causeway {

// Makes the entries of a conduit's own table, which another process may notice, tell and then call
// it.
void tell_what_leaves(cwyc_ops& native);
inline void tell_if_heard(cwyc_ops& native) {
  if constexpr (kOrderIsTold) tell_what_leaves(native);
}

}  // namespace causeway
