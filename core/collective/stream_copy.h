// stream_copy: memcpy for results that are larger than the caches they would go through. A plain
// store reads its line from memory before it writes it; a streaming one does not, which is a third
// of what a long collective moves.
#pragma once

#include <cstddef>

namespace causeway {

// Ranges do not overlap. Ordered like memcpy before any later release of this thread.
void stream_copy(void* dst, const void* src, size_t bytes);

// Do `bytes`, touched by all that share this processor's caches together, exceed those caches?
bool exceeds_caches(size_t bytes);

}  // namespace causeway
