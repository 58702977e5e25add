// causeway run: starts a program with N ranks, on this host or on several. causeway relay: its
// counterpart on each of several hosts.
#include <iostream>
#include <memory>

#include "commands.h"
#include "run_options.h"

namespace causeway::command {

void add_relay(CLI::App& app, int& status) {
  app.add_subcommand("relay", "")->group("")->callback([&status] { status = run_relay(); });
}

void add_run(CLI::App& app, int& status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run = app.add_subcommand("run", "Start a program with N ranks, here or on hosts");
  add_run_options(*run, *options);
  run->callback([options, &status] {
    try {
      status = launch_job(to_launch(*options));
    } catch (const CLI::Error&) {
      throw;  // of the command line: main() says it
    } catch (const std::exception& e) {
      std::cerr << "causeway run: " << e.what() << std::endl;
      status = kFailed;
    }
  });
}

}  // namespace causeway::command
