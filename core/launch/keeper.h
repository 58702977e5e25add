// Keeper: what runs below a front (launch.cpp): the job's decisions, or a relay.
#pragma once

namespace causeway::launch {

class Keeper {
 public:
  virtual ~Keeper() = default;
  // Forks. True in a rank, in fork mode only. Before any other thread exists. Throws Error.
  virtual bool spawn() = 0;
  // To the end; the status. Throws Error.
  virtual int supervise() = 0;
};

}  // namespace causeway::launch
