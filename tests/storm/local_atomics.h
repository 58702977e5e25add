// Atomics of the tools, on words of this process that all of its threads change: of every type,
// with sums that are known and chains of values as for remote ones.
#pragma once

#include <memory>

#include "script.h"

namespace storm {

class LocalAtomics {
 public:
  LocalAtomics();
  ~LocalAtomics();
  void run(const Step& step, Actor actor);  // any thread
  void replay(const Step& step, Actor actor);
  void audit(const Step& last);

 private:
  struct Words;
  std::unique_ptr<Words> words_;
};

}  // namespace storm
