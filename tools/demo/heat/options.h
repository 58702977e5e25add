// The options of a run of heat.
#pragma once

#include <cstddef>

namespace heat {

struct Options {
  size_t size = 96;
  unsigned iterations = 400;
  unsigned every = 20;    // iterations between checkpoints
  unsigned pause_us = 0;  // after each iteration: time for somebody to kill a process
  bool shrink = false;
  // A process that kills itself: so the first one of this rank, at this iteration; or both drawn
  // with a seed.
  long die_rank = -1, die_iteration = -1;
  bool drawn = false;
  unsigned long seed = 0;

  // False after a line about what is wrong.
  bool parse(int argc, char** argv);
};

}  // namespace heat
