// Keeper: what runs below a front (launch.cpp): the job's decisions, or a relay.
#pragma once

namespace causeway::launch {

class Keeper {
 public:
  virtual ~Keeper() = default;
  // Forks. Before any other thread exists. Throws Error.
  virtual void spawn() = 0;
  // To the end; the status. Throws Error.
  virtual int supervise() = 0;
};

}  // namespace causeway::launch
