// The program's signal handlers, while its process executes another program.
#pragma once

#include <signal.h>

#include <utility>
#include <vector>

namespace causeway {

// Signals that the program handles are ignored from now on: their default action, which execve(2)
// gives them back, would end the launcher where it had run a handler. The program's timers so do no
// harm. The signals that the launcher blocks and reads (SignalBlock), and those of faults, keep
// their actions. The destructor restores the handlers of a process that goes on.
class HandlersAside {
 public:
  HandlersAside();
  ~HandlersAside();
  HandlersAside(const HandlersAside&) = delete;
  HandlersAside& operator=(const HandlersAside&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace causeway
