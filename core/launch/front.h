// Front: the process that the user sees. It starts the keeper, or finds it started, passes signals
// on to it, takes its status, and cleans up in its place when it is killed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>

#include "base/unique_fd.h"
#include "launch/keeper.h"
#include "launch/session_dir.h"
#include "launch/workforce.h"
#include "spawn/signal_block.h"

namespace causeway::launch {

// Makes what runs below the front, in the keeper's process.
using MakeKeeper = std::function<std::unique_ptr<Keeper>(const SessionDir&, UniqueFd front,
                                                         const sigset_t& caller_mask)>;

// The keeper's whole life. `who`: the subcommand, for messages. The status is that of its process.
[[noreturn]] void keep(const char* who, SessionDir& session,
                       const std::function<std::unique_ptr<Keeper>()>& make);

class Front {
 public:
  Front(const char* who, double kill_grace_s, SessionDir session);

  // The keeper ends the job at its time limit; it is killed when it has not ended by then.
  void set_last_moment(double at) { last_moment_ = at; }

  // Runs in the front once the keeper has been forked: for what only the keeper should have.
  void after_fork(std::function<void()> action) { after_fork_ = std::move(action); }

  // Forks the keeper; the job's status.
  int run(const MakeKeeper& make_keeper);

  // The same with a keeper that was forked before this process executed its program.
  int watch(pid_t keeper, int to_keeper);

 private:
  void pass_on(int signal, int to_keeper);

  const char* who_;
  double kill_grace_s_;
  double last_moment_ = kNever;
  std::function<void()> after_fork_;
  SignalBlock signals_;
  UniqueFd signal_fd_;
  SessionDir session_;
  std::set<pid_t> earlier_children_;
};

}  // namespace causeway::launch
