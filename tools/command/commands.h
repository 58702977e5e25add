// The subcommands of `causeway`: one function per file <name>.cpp, each adding itself to the
// application. A subcommand's callback returns its exit status through `status`.
#pragma once

#include "options/options.h"

namespace causeway::command {

// Exit codes shared by all subcommands.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,  // the thing asked about is bad, or the operation failed
  kUsage = 2    // the command line could not be understood
};

void add_run(Options& app, int& status);
void add_relay(Options& app, int& status);  // in run.cpp
void add_ps(Options& app, int& status);
void add_top(Options& app, int& status);
void add_info(Options& app, int& status);
void add_explain(Options& app, int& status);
void add_map(Options& app, int& status);
void add_check_config(Options& app, int& status);
void add_check_plugin(Options& app, int& status);
void add_bench(Options& app, int& status);
void add_trace(Options& app, int& status);
void add_tune(Options& app, int& status);

}  // namespace causeway::command
