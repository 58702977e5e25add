// How the programs here end: a line, and a status that ctest understands.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace libraries {

[[noreturn]] inline void give_up(int status, const std::string& why) {
  std::printf("%s\n", why.c_str());
  std::fflush(stdout);
  _exit(status);
}

// What is said, and answered, about a library with faults that the conduit knows of: with `known`
// faults are expected, and their absence is what must be noticed.
inline int judge(const std::string& library, int status, bool known, const char* therefore) {
  if (!known || status == 77) return status;
  std::printf(status != 0 ? "known: %s has the fault; the conduit %s\n"
                          : "%s does not show the fault any more; the conduit %s\n",
              library.c_str(), therefore);
  return status != 0 ? 0 : 1;
}

}  // namespace libraries
