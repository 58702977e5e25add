#include "options.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heat {
namespace {

const char* const kUsage =
    "usage: heat [--size N] [--iterations I] [--every C] [--shrink] [--pause USEC]\n"
    "            [--die RANK ITERATION | --seed S]\n"
    "Heats a plate of N x N points on all ranks, with a checkpoint every C iterations. --die and\n"
    "--seed kill a rank, the latter at random. Run it with `causeway run --spares 1`, or with\n"
    "--shrink and `causeway run --on-failure=continue`.\n";

bool number(const char* text, unsigned long least, unsigned long most, unsigned long& value) {
  if (text == nullptr || *text < '0' || *text > '9') return false;
  char* end = nullptr;
  errno = 0;
  value = std::strtoul(text, &end, 10);
  return errno == 0 && *end == '\0' && value >= least && value <= most;
}

}  // namespace

bool Options::parse(int argc, char** argv) {
  unsigned long value = 0;
  // The next word; NULL, which is no number, behind the last.
  for (int i = 1; i < argc; ++i) {
    const char* const word = argv[i];
    if (std::strcmp(word, "--shrink") == 0) {
      shrink = true;
    } else if (std::strcmp(word, "--size") == 0 && number(argv[i + 1], 8, 4096, value)) {
      size = value;
      ++i;
    } else if (std::strcmp(word, "--iterations") == 0 && number(argv[i + 1], 1, 100000000, value)) {
      iterations = static_cast<unsigned>(value);
      ++i;
    } else if (std::strcmp(word, "--every") == 0 && number(argv[i + 1], 1, 1000000, value)) {
      every = static_cast<unsigned>(value);
      ++i;
    } else if (std::strcmp(word, "--pause") == 0 && number(argv[i + 1], 0, 1000000, value)) {
      pause_us = static_cast<unsigned>(value);
      ++i;
    } else if (std::strcmp(word, "--seed") == 0 && number(argv[i + 1], 0, ~0ul, value)) {
      seed = value;
      drawn = true;
      ++i;
    } else if (std::strcmp(word, "--die") == 0 && number(argv[i + 1], 0, 65535, value)) {
      die_rank = static_cast<long>(value);
      if (!number(argv[i + 2], 0, 100000000, value)) break;
      die_iteration = static_cast<long>(value);
      i += 2;
    } else {
      std::fprintf(stderr, "heat: '%s' is not understood\n%s", word, kUsage);
      return false;
    }
  }
  if ((die_rank < 0) == (die_iteration < 0)) return true;
  std::fprintf(stderr, "heat: --die wants a rank and an iteration\n%s", kUsage);
  return false;
}

}  // namespace heat
