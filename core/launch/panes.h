// Panes: gdb for every rank in a pane of tmux, for `causeway run --debug=tmux`.
#pragma once

#include <string>
#include <vector>

#include "spawn/rank_process.h"

namespace causeway::launch {

class Panes {
 public:
  Panes() = default;
  ~Panes() { close(); }
  Panes(const Panes&) = delete;
  Panes& operator=(const Panes&) = delete;

  // Has gdb attach to the processes, which wait for their environment, and let them go on to the
  // first instruction of their program: not every program shows its main(). Returns when it has
  // them. Throws Error.
  void open(const std::vector<RankProcess>& processes);
  void close();

 private:
  std::vector<std::string> ids_;
};

// Outside of tmux becomes one, with this process's command line in its first pane. Throws Error.
void enter_tmux();

}  // namespace causeway::launch
