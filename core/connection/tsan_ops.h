// Annotations for ThreadSanitizer (thread/tsan_annotations.h) around the operations of a conduit
// that send. In builds without ThreadSanitizer tables stay as they are.
#pragma once

#include <causeway/conduit.h>

#include "thread/tsan_annotations.h"

namespace causeway {

// Replaces each entry of a conduit's own table whose effect another process may notice by a
// function that annotates the send and calls the conduit's entry.
void annotate_sends(cwyc_ops& native);
inline void annotate_sends_for_tsan(cwyc_ops& native) {
  if constexpr (kThreadSanitizer) annotate_sends(native);
}

}  // namespace causeway
