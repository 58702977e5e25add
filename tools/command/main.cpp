// causeway: the command beside the library.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.h"
#include "config/config.h"
#include "launch/launch.h"
#include "run_options.h"
#include "spawn/caller.h"
#include "text.h"

namespace {

using Words = std::vector<std::string>;

// A first word that is no subcommand: the parser would only miss one.
bool names_no_subcommand(const causeway::Options& app, const Words& words) {
  if (words.empty()) return false;
  const std::string& word = words[0];
  const bool option = word.starts_with('-');
  const Words names = option ? Words{"-h", "--help", "--version"} : app.subcommands();
  if (std::ranges::find(names, word) != names.end()) return false;
  fmt::print(stderr, "causeway: there is no {} '{}'{}\nRun with --help for more information.\n",
             option ? "option" : "subcommand", word,
             word.size() > 2 ? causeway::meant_hint(word, names) : "");
  return true;
}

// An option here, and what other launchers call it.
constexpr std::pair<const char*, std::string_view> kElsewhere[] = {
    {"--bind", " --bind-to --cpu-bind "},
    {"--directory", " --wdir --wd --workdir --cwd --chdir -D "},
    {"--export", " --env --genv "},
    {"--host-file", " --machinefile --rankfile --machine-file -f "},
    {"--hosts", " --host --hostlist --nodelist -H -w "},
    {"--map", " --map-by --rank-by "},
    {"--output-dir", " --output-filename --output "},
    {"--per-host", " --npernode --ppn --perhost --ntasks-per-node -N "},
    {"--ranks", " --ntasks --nprocs "},
    {"--set", " --mca --prtemca "},
    {"--tag-output", " --label --prepend-rank -l "},
};

// Options of other launchers that allow what always is allowed here.
constexpr std::string_view kNeedless = " --oversubscribe --overcommit --allow-run-as-root -O ";

std::optional<std::string> meant_option(const std::string& word, const Words& options) {
  const auto among = [padded = " " + word + " "](std::string_view theirs) {
    return theirs.find(padded) != theirs.npos;
  };
  std::optional<std::string> meant;
  for (const auto& [here, theirs] : kElsewhere)
    if (among(theirs) && std::ranges::find(options, here) != options.end()) meant = here;
  const bool runs = std::ranges::find(options, "--ranks") != options.end();
  if (!meant && runs && among(kNeedless)) return "leave it out: that is always allowed here";
  if (!meant && word.size() > 2) meant = causeway::did_you_mean(word, options);
  if (meant) meant = "did you mean '" + *meant + "'?";
  return meant;
}

// What no subcommand has caught. Returns the error of standard output that it is, or 0.
int tell(const std::string& subcommand, const std::exception& e) {
  const auto* const system = dynamic_cast<const std::system_error*>(&e);
  if (system != nullptr && std::ferror(stdout)) return system->code().value();
  const auto* const file = dynamic_cast<const std::filesystem::filesystem_error*>(&e);
  fmt::print(
      stderr, "causeway {}: {}\n", subcommand,
      file == nullptr ? e.what() : "'" + file->path1().string() + "': " + file->code().message());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace causeway::command;
  if (const std::optional<int> ended = causeway::run_forked(argc, argv)) return *ended;
  causeway::open_standard_descriptors(false);
  causeway::Options app("Causeway: run, explain and check programs that use the Causeway library");
  app.requires_subcommand(CAUSEWAY_VERSION);
  int status = kOk;
#define CAUSEWAY_COMMAND(name) add_##name(app, status);
#include "command_list.inc"
  std::string word;
  app.subcommand("version", "Print the version", [] { fmt::print("{}\n", CAUSEWAY_VERSION); });
  app.subcommand("help", "Show the help of a subcommand", [] {})
      .option("subcommand", word, "The subcommand")
      .one_of(app.subcommands());
  CAUSEWAY_COMMAND(relay)
#undef CAUSEWAY_COMMAND
  app.suggests(meant_option);
  app.lays_out_help(folded_help);
  Words words(argv + 1, argv + argc);
  if (words.size() > 2 && words[0] == "help" && words[2][0] != '-') {
    fmt::print(stderr, "causeway help: one subcommand at a time; '{}' is a second\n", words[2]);
    return kUsage;
  }
  if (!words.empty() && words[0] == "help" && (words.size() == 1 || words[1][0] != '-')) {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (names_no_subcommand(app, words)) return kUsage;
  if (!words.empty() && words[0] == "run") take_program(app.subcommand("run"), words);
  int failure = 0;  // of standard output
  try {
    status = app.parse(argv[0], words).value_or(status);
  } catch (const std::exception& e) {
    status = kFailed;
    failure = tell(words[0], e);
  }
  // A full disk is seen here at the latest; a table that is cut off must not look complete.
  errno = failure;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
  fmt::print(stderr, "causeway: cannot write the output: {}\n",
             errno != 0 ? std::strerror(errno) : "an earlier write failed");
  return status == kOk ? kFailed : status;
}
