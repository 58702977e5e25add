// How many times as long as in an ordinary build a test may take: sanitizers slow everything.
// tests/CMakeLists.txt says the same to ctest.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kSlowdown = 4;
#else
inline constexpr double kSlowdown = 1;
#endif

inline constexpr bool kSanitized = kSlowdown > 1;
