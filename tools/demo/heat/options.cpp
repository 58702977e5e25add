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

// NULL is no number.
template <typename T>
bool number(const char* text, unsigned long least, unsigned long most, T& value) {
  if (text == nullptr || *text < '0' || *text > '9') return false;
  char* end = nullptr;
  errno = 0;
  const unsigned long number = std::strtoul(text, &end, 10);
  const bool good = errno == 0 && *end == '\0' && number >= least && number <= most;
  if (good) value = static_cast<T>(number);
  return good;
}

}  // namespace

bool Options::parse(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* const word = argv[i];
    // Is the word this option, with such a number behind it?
    const auto is = [&](const char* name, unsigned long least, unsigned long most, auto& value) {
      const bool good = std::strcmp(word, name) == 0 && number(argv[i + 1], least, most, value);
      i += good ? 1 : 0;
      return good;
    };
    if (is("--size", 8, 4096, size) || is("--iterations", 1, 100000000, iterations) ||
        is("--every", 1, 1000000, every) || is("--pause", 0, 1000000, pause_us))
      continue;
    if (std::strcmp(word, "--shrink") == 0) {
      shrink = true;
    } else if (is("--seed", 0, ~0ul, seed)) {
      drawn = true;
    } else if (is("--die", 0, 65535, die_rank)) {
      if (!number(argv[++i], 0, 100000000, die_iteration)) break;
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
