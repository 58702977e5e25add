// causeway: the command beside the library.
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
    return app.exit(e) == 0 ? kOk : kUsage;
  }
  return status;
}
