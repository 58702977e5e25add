// How a job ends, and what its launcher has to say then: a pure function of the seed, which the
// ranks follow and the driver expects.
#pragma once

#include <cstdint>
#include <string>

#include "options.h"

namespace storm {

enum class End : uint8_t {
  exit,      // every rank by gasnet_exit(0), some later than others
  back,      // every rank by returning 0 from main
  both,      // some so, some so
  code,      // one rank by another code, while the others still compute and poll
  returned,  // one rank returns a code from main
  killed,    // one rank by a signal
};

struct EndPlan {
  End end = End::exit;
  uint32_t rank = 0;  // the one that differs
  int status = 0;     // of the job
  int signal = 0;     // of `killed`
  // Whether a thread that is not the first calls gasnet_exit() or takes the signal, while the first
  // goes on with what it does.
  bool from_thread = false;
  // All write last words and come to their own end; otherwise `rank` alone does.
  bool orderly() const { return end == End::exit || end == End::back || end == End::both; }
};

// Without the family `ends`: always End::exit, and nobody asks for words.
EndPlan end_of(const Options& options, uint32_t ranks);
std::string describe(const EndPlan& plan);
std::string words_of(uint32_t rank);  // a line, without its end

}  // namespace storm
