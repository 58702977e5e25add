// causeway: the command beside the library.
#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "commands.h"

int main(int argc, char** argv) {
  using namespace causeway::command;
  CLI::App app{"Causeway: run, explain and check programs that use the Causeway library"};
  app.set_version_flag("--version", CAUSEWAY_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  int status = kOk;
#define CAUSEWAY_COMMAND(name) add_##name(app, status);
#include "command_list.inc"
  CAUSEWAY_COMMAND(relay)
#undef CAUSEWAY_COMMAND
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    status = app.exit(e) == 0 ? kOk : kUsage;
  }
  // A full disk is seen here at the latest; a table that is cut off must not look complete.
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.flush();
  if (written) return status;
  fmt::print(stderr, "causeway: cannot write the output: {}\n",
             errno != 0 ? std::strerror(errno) : "an earlier write failed");
  return status == kOk ? kFailed : status;
}
