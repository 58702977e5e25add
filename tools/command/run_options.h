// RunOptions: what the command line of `causeway run` says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/launch.h"
#include "options/options.h"

namespace causeway::command {

struct RunOptions {
  uint32_t ranks = 0;  // not given
  std::string host_file;
  std::string hosts;
  uint32_t per_host = 0;  // not given
  std::string agent;
  std::string address;
  std::string relay;
  bool encrypt = false;
  std::string directory;
  std::string first_host_program;
  std::string on_failure;
  uint32_t spares = 0;
  bool fail_recovered = false;
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  std::vector<std::string> exports;
  bool tag_output = false;
  std::string output_dir;
  std::string bind;
  std::vector<std::string> map;
  bool display = false;
  std::string debug;
  double timeout_s = 0.0;
  std::string stdin_rank = "0";
  std::vector<std::string> command;  // with further programs behind it, each behind its options
};

// In RunOptions::command before the options of a further program, and before that program: no word
// of a command line is such.
inline const std::string kNextProgram(1, '\0');

void add_run_options(Options& run, RunOptions& options);

// Moves the program and its arguments from `words`, which begin with the subcommand's name, to its
// option "program", and so further programs, which a word ":" begins. To be called before the rest
// is parsed: the parser takes a word such as [a,b] apart, and lets an option that may be repeated
// have what follows its value.
void take_program(Options& run, std::vector<std::string>& words);

// Checks what only the whole shows, and reads the files that are named. Throws Error or UsageError.
LaunchOptions to_launch(const RunOptions& run);

}  // namespace causeway::command
