// causeway: the command beside the library.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "config/config.h"
#include "launch/launch.h"
#include "run_options.h"

namespace {

// A first word that is no subcommand: the parser would only miss one.
bool names_no_subcommand(const causeway::Options& app, const std::vector<std::string>& words) {
  if (words.empty() || words[0].starts_with('-')) return false;
  const std::vector<std::string> names = app.subcommands();
  const std::string& word = words[0];
  if (std::find(names.begin(), names.end(), word) != names.end()) return false;
  const std::optional<std::string> meant = causeway::did_you_mean(word, names);
  fmt::print(stderr,
             "causeway: there is no subcommand '{}'{}\nRun with --help for more information.\n",
             word, meant ? "; did you mean '" + *meant + "'?" : "");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace causeway::command;
  if (const std::optional<int> ended = causeway::run_forked(argc, argv)) return *ended;
  causeway::Options app("Causeway: run, explain and check programs that use the Causeway library");
  app.requires_subcommand(CAUSEWAY_VERSION);
  int status = kOk;
#define CAUSEWAY_COMMAND(name) add_##name(app, status);
#include "command_list.inc"
  CAUSEWAY_COMMAND(relay)
#undef CAUSEWAY_COMMAND
  app.suggests(causeway::did_you_mean);
  std::vector<std::string> words(argv + 1, argv + argc);
  // As other commands spell these.
  if (words == std::vector<std::string>{"version"}) words = {"--version"};
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (names_no_subcommand(app, words)) return kUsage;
  if (!words.empty() && words[0] == "run") take_program(app.subcommand("run"), words);
  if (const std::optional<int> ended = app.parse(argv[0], std::move(words)))
    status = *ended == 0 ? kOk : kUsage;
  // A full disk is seen here at the latest; a table that is cut off must not look complete.
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.flush();
  if (written) return status;
  fmt::print(stderr, "causeway: cannot write the output: {}\n",
             errno != 0 ? std::strerror(errno) : "an earlier write failed");
  return status == kOk ? kFailed : status;
}
