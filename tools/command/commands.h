// The subcommands of `causeway`: one function per file <name>.cpp, each adding itself to the
// application. A subcommand's callback returns its exit status through `status`.
#pragma once

namespace CLI {
class App;
}

namespace causeway::command {

// Exit codes shared by all subcommands.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,  // the thing asked about is bad, or the operation failed
  kUsage = 2    // the command line could not be understood
};

void add_run(CLI::App& app, int& status);
void add_relay(CLI::App& app, int& status);  // in run.cpp
void add_info(CLI::App& app, int& status);
void add_explain(CLI::App& app, int& status);
void add_map(CLI::App& app, int& status);
void add_check_config(CLI::App& app, int& status);
void add_check_plugin(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);
void add_trace(CLI::App& app, int& status);
void add_tune(CLI::App& app, int& status);

}  // namespace causeway::command
