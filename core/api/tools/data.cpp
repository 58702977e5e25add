// Counting and summing bytes.
#include <gasnet_tools.h>

#include <cstring>

#include "api/export.h"

CAUSEWAY_API size_t gasnett_count0s(const void* src, size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(src);
  size_t zeros = 0;
  for (; bytes >= sizeof(uint64_t); p += sizeof(uint64_t), bytes -= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, p, sizeof word);
    zeros += static_cast<size_t>(gasnett_count0s_uint64_t(word));
  }
  for (; bytes > 0; ++p, --bytes) zeros += *p == 0;
  return zeros;
}

CAUSEWAY_API size_t gasnett_count0s_copy(void* dst, const void* src, size_t bytes) {
  std::memcpy(dst, src, bytes);
  return gasnett_count0s(dst, bytes);
}

// FNV-1a, 64 bits.
CAUSEWAY_API uint64_t gasnett_checksum(const void* p, int numbytes) {
  const auto* byte = static_cast<const unsigned char*>(p);
  uint64_t sum = 0xcbf29ce484222325ull;
  for (int i = 0; i < numbytes; ++i) sum = (sum ^ byte[i]) * 0x100000001b3ull;
  return sum;
}
