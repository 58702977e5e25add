// Handover: what a program that starts its own ranks leaves to the command `causeway`, which two of
// its processes execute: the one that the user started becomes the launcher, its child, whose
// children the ranks are, becomes the keeper.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "spawn/rank_process.h"

namespace causeway {

// First words of the command, followed by the descriptor for take_over() and, for those who read a
// list of processes, by the program's own words.
inline constexpr const char* kLauncherRole = "launcher";
inline constexpr const char* kKeeperRole = "keeper";

struct Handover {
  std::string job_id;
  double exit_grace_s = 0.0;       // timeouts.exit
  double kill_grace_s = 0.0;       // timeouts.kill
  UniqueFd partner;                // socket between launcher and keeper
  pid_t keeper = -1;               // for the launcher
  std::vector<RankProcess> ranks;  // for the keeper
};

// A descriptor from which the program that is executed next can take `handover`; it inherits that
// and those within. Throws Error.
UniqueFd hand_over(const Handover& handover);

// Throws Error, also where a library of another version has written it.
Handover take_over(int from);

}  // namespace causeway
