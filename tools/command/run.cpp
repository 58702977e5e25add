// causeway run: starts a program with N ranks, on this host or on several. causeway relay: its
// counterpart on each of several hosts.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "commands.h"
#include "launch/panes.h"
#include "run_options.h"

namespace causeway::command {

void add_relay(Options& app, int& status) {
  app.subcommand("relay", "", [&status] { status = run_relay(); });
}

void add_run(Options& app, int& status) {
  auto options = std::make_shared<RunOptions>();
  const auto run = [options, &status] {
    const LaunchOptions launch = to_launch(*options);
    struct stat in {};
    if (::fstat(STDIN_FILENO, &in) == 0 && S_ISDIR(in.st_mode))
      fmt::print(stderr, "causeway run: stdin is a directory: the ranks have nothing to read\n");
    if (launch.panes) launch::enter_tmux();
    status = launch_job(launch);
  };
  add_run_options(app.subcommand("run", "Start a program with N ranks, here or on hosts", run),
                  *options);
}

}  // namespace causeway::command
