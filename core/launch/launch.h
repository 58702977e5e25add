// Launch: a small launcher for one host, or several, on the PMIx server library. Used by the
// command `causeway` alone, which a process started with CAUSEWAY_RANKS=N executes when it has
// forked its ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/affinity.h"

namespace causeway {

// Several hosts: core/launch/hosts.md.
struct HostsOptions {
  std::vector<std::string> places;  // host of every rank, then of every spare; empty: this host
  std::string agent;                // command that starts relays; empty: ssh
  std::string address;              // numeric, of this machine for the relays; empty: all it has
  bool encrypt = false;             // what is said to the relays, and by them
  std::string program;              // path of `causeway` on the hosts
  std::string directory;            // where the ranks start; empty: where the agent leads
};

struct LaunchOptions {
  uint32_t ranks = 1;
  uint32_t spares = 0;    // further processes, that wait for a rank to fail
  bool survives = false;  // a rank that fails does not end the job
  bool forgives = true;   // nor gives it its status, where a spare has taken its place
  HostsOptions hosts;
  std::string first_host_program;  // instead of the program on the first host

  std::vector<Program> programs;                                 // none: the ranks are there
  std::vector<Program> programs_on(uint32_t host) const;         // with that of the first host
  std::vector<std::pair<std::string, std::string>> environment;  // added to every rank
  bool tag_output = false;                                       // prefix "[rank] " to every line
  std::string output_dir;  // a file there for each rank and stream; empty: our own streams
  launch::Binding binding;
  bool panes = false;                      // gdb for every rank, on this host (panes.h)
  std::optional<double> timeout_s;         // whole job; ends with status 124
  std::optional<uint32_t> stdin_rank = 0;  // nullopt: nobody reads stdin
  double exit_grace_s = 5.0;               // timeouts.exit
  double kill_grace_s = 1.0;               // timeouts.kill
  double start_s = 60.0;                   // timeouts.start
  double peer_s = 30.0;                    // timeouts.peer
};

// Runs the job to its end and returns its status: 128+signal of the first abnormal death, else
// the first non-zero status, else 0; 124 after the time limit; 127 when the program cannot be
// executed. Leaves no process, file or shared-memory object, also when it is itself killed.
int launch_job(const LaunchOptions& options);

// The program that the agent starts on a host: the relay of `causeway run --host-file`. Its
// invitation comes over standard input. To the end of the job; the process's status.
int run_relay();

// `causeway launcher` and `causeway keeper`, which no user types: the processes that a program
// which has forked its own ranks makes of itself. nullopt: the words are for something else. To be
// asked before anything is opened. The process's status.
std::optional<int> run_forked(int argc, char** argv);

}  // namespace causeway
