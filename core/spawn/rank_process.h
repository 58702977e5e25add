// RankProcess: one process of the job on this host, from fork to reaping.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "spawn/limits.h"

namespace causeway {

struct RankProcess {
  uint32_t process = 0;  // its number in the job (layout.h)
  pid_t pid = -1;
  UniqueFd control;   // carries the environment down, and the errno of a failed exec up
  UniqueFd out, err;  // read ends
  UniqueFd in;        // write end, for the rank that reads stdin
  bool running = false;

  // To the rank's process group, so that a shell script's children hear it too.
  void send_signal(int signal) const {
    if (running) ::kill(-pid, signal);
  }
};

// A program of a job, for so many ranks.
struct Program {
  uint32_t ranks = 0;
  std::vector<std::string> command;      // and its arguments
  std::string directory;                 // to start in; empty: the launcher's
  std::vector<std::string> environment;  // "NAME=value", over that of all
};

// The program of a process: the ranks of each follow those of the one before, and
// spares run the last.
const Program& program_of(const std::vector<Program>& programs, uint32_t process);

// Shared by all ranks of a job at their start.
struct SpawnPlan {
  std::vector<Program> programs;  // none: the child returns instead of executing something
  std::optional<uint32_t> stdin_process;
  bool traced = false;        // by a process that is no ancestor
  sigset_t signal_mask{};     // the caller's before the launcher blocked signals
  rlimit descriptor_limit{};  // the caller's before the launcher raised it
};

// Forks those processes of the job. Each waits for its environment before it does anything. Returns
// true in a rank, and there only when the plan has no program; the environment is then set, and the
// launcher's descriptors close as its objects are destroyed on the way out. Raises the limit on
// open files, and leaves `low` reserved. Throws Error.
bool spawn_ranks(std::vector<RankProcess>& ranks, const std::vector<uint32_t>& processes,
                 SpawnPlan& plan, LowDescriptors& low);

// Lets the rank go. False when it is gone already.
bool send_environment(const RankProcess& rank, const std::vector<std::string>& environment);

// The errno of a failed exec, if that is how the rank ended; negative where it could not go to the
// program's directory. Does not block.
std::optional<int> exec_failure(const RankProcess& rank);

}  // namespace causeway
