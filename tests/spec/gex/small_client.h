// The words of a program of its own, without the harness, when something is wrong.
#pragma once

#include <gasnetex.h>

#include <cstdio>

namespace spec {

inline gex_Rank_t me = 0;

inline void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "rank %u: %s\n", me, what);
  gasnet_exit(1);
}

}  // namespace spec
