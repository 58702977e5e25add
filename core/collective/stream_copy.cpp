#include "collective/stream_copy.h"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace causeway {

void stream_copy(void* dst, const void* src, size_t bytes) {
#if defined(__x86_64__)
  constexpr size_t kLineBytes = 64;
  auto* to = static_cast<char*>(dst);
  auto* from = static_cast<const char*>(src);
  const size_t before = (kLineBytes - reinterpret_cast<uintptr_t>(to) % kLineBytes) % kLineBytes;
  if (bytes >= 4 * kLineBytes) {
    std::memcpy(to, from, before);
    to += before;
    from += before;
    bytes -= before;
    for (; bytes >= kLineBytes; bytes -= kLineBytes, to += kLineBytes, from += kLineBytes) {
      const auto* in = reinterpret_cast<const __m128i*>(from);
      auto* out = reinterpret_cast<__m128i*>(to);
      const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1),
                    c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
      _mm_stream_si128(out, a);
      _mm_stream_si128(out + 1, b);
      _mm_stream_si128(out + 2, c);
      _mm_stream_si128(out + 3, d);
    }
    // Nothing else orders streaming stores: a member that is told of the data later must see them.
    _mm_sfence();
  }
  std::memcpy(to, from, bytes);
#else
  std::memcpy(dst, src, bytes);
#endif
}

namespace {

// The last cache that this processor's neighbors share. The C library tells that of the whole
// socket, which on some machines is ten of them.
size_t last_cache() {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/cache/index3/size",
                                 std::max(0, ::sched_getcpu())));
  size_t kilobytes = 0;
  if (file >> kilobytes && kilobytes != 0) return kilobytes << 10;
  const long whole = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  // Where nothing is known, what a small server has.
  return whole > 0 ? static_cast<size_t>(whole) : size_t{32} << 20;
}

}  // namespace

bool exceeds_caches(size_t bytes) {
  static const size_t most = last_cache();
  return bytes > most;
}

}  // namespace causeway
