#include "run_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/own_path.h"
#include "config/config.h"
#include "config/set_text.h"
#include "launch/cipher.h"
#include "launch/find_program.h"
#include "launch/host_file.h"
#include "launch/panes.h"
#include "loader/check_options.h"
#include "loader/search.h"
#include "spawn/job_words.h"

namespace causeway::command {
namespace {

std::string joined_sets(const std::vector<std::string>& sets) {
  const char* outer = std::getenv("CAUSEWAY_SET");
  std::string text = outer == nullptr ? "" : outer;
  for (const std::string& set : sets) {
    if (!text.empty()) text += ',';
    text += escape_set(set);
  }
  return text;
}

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::error_code failed;
  const std::filesystem::path here = std::filesystem::current_path(failed);
  if (failed) throw Error(CWY_ERR_INVALID, "the current directory is gone");
  return path.empty() ? here.string() : (here / path).string();
}

// Plugins that are not here, or cannot be read, are for the ranks to judge.
void check_plugin_options(const Config& config) {
  std::vector<std::string> directories = config.plugin_path;
  directories.push_back(own_plugin_directory());
  Problems problems;
  for (const ConduitSpec& spec : config.conduits) {
    const auto files = files_named(directories, PluginKind::conduit, spec.plugin);
    if (spec.options.empty() || files.empty() || !config.uses_conduit(spec.name)) continue;
    try {
      check_options(read_manifest(files.front()), spec.options, spec.option_origins, problems);
    } catch (const Error&) {
    }
  }
  if (!problems.empty()) throw Error(CWY_ERR_INVALID, "{}", problems.text(kMostProblemsSaid));
}

// The ranks' configuration is checked here, so that a mistake is reported once and before anything
// has started; the launcher's own times come from it.
void apply_config(const RunOptions& run, LaunchOptions& launch) {
  ConfigSources sources = ConfigSources::from_environment();
  std::string files;
  if (!run.configs.empty()) sources.files = run.configs;
  for (std::string& file : sources.files) {
    file = absolute(file);  // ranks may start elsewhere
    files += (files.empty() ? "" : ":") + file;
    if (file.find(':') != std::string::npos)
      throw UsageError("--config",
                       "'" + file + "' has a ':', which stands between files for the ranks");
  }
  std::vector<std::string> sets = run.sets;
  // Whoever looks at a rank takes time.
  if (launch.panes)
    sets.insert(sets.begin(), {"timeouts.start=24h", "timeouts.exit=24h", "timeouts.peer=24h"});
  sources.flags = sets;
  sources.launches = true;
  for (const Program& program : launch.programs)
    for (const std::string& entry : program.environment)
      sources.variables.push_back(entry.substr(0, entry.find('=')));
  for (const auto& [name, value] : launch.environment) sources.variables.push_back(name);
  const Config config = load_config(sources);
  check_plugin_options(config);
  const Timeouts& timeouts = config.timeouts;
  launch.exit_grace_s = static_cast<double>(timeouts.exit_ns) * 1e-9;
  launch.kill_grace_s = static_cast<double>(timeouts.kill_ns) * 1e-9;
  // The last of ranks that die together has its backtraces, too.
  if (run.debug == "death") launch.kill_grace_s = std::max(launch.kill_grace_s, 10.0);
  launch.start_s = static_cast<double>(timeouts.start_ns) * 1e-9;
  launch.peer_s = static_cast<double>(timeouts.peer_ns) * 1e-9;
  if (!files.empty()) launch.environment.emplace_back("CAUSEWAY_CONFIG", files);
  if (!sets.empty()) launch.environment.emplace_back("CAUSEWAY_SET", joined_sets(sets));
}

std::string own_program() {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "causeway" : path.string();
}

bool has(const std::vector<std::string>& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Ranks that are dealt out by the parts of a host are bound to them, if nothing else is said.
launch::Binding binding_of(const RunOptions& run) {
  const bool core = has(run.map, "core"), numa = has(run.map, "numa");
  if (core && numa) throw UsageError("--map", "is core or numa within a host, not both");
  std::string to = run.bind.empty() && (core || numa) ? (core ? "core" : "numa") : run.bind;
  if (to == "none") to.clear();
  return {to, run.display, numa};
}

void apply_debug(const RunOptions& run, LaunchOptions& launch) {
  const bool here = launch.hosts.places.empty();
  launch.panes = run.debug == "tmux";
  const std::string& first = launch.programs[0].command[0];
  if (!run.debug.empty() && (first == "tmux" || first == "death"))
    throw UsageError("--debug", "has its value behind '=': --debug=" + first);
  if (launch.panes && !here)
    throw UsageError("--debug=tmux", "is for one host; with several, --debug=death");
  for (const char* program : {"gdb", "tmux"}) {
    const bool needed = launch.panes || (run.debug == "death" && here && *program == 'g');
    if (needed && !launch::find_program(program))
      throw Error(CWY_ERR_UNSUPPORTED,
                  "--debug={} needs {}, which is not installed: none in the PATH", run.debug,
                  program);
  }
  if (run.debug != "death") return;
  launch.environment.emplace_back(kDeathVariable, "gdb");
  launch.tag_output = launch.output_dir.empty();
}

// Where the number of ranks is missing: nothing, or that `command` has it among its arguments.
std::string how_ranks_are_given(const std::vector<std::string>& command) {
  for (size_t at = 1; at < command.size(); ++at)
    for (const std::string_view option : {"-n", "-np", "--ranks"})
      if (command[at] == option)
        return fmt::format("is needed before the program; behind it {} is an argument of '{}'",
                           option, command[0]);
  return "";
}

// Ranks and their hosts, from the host file, the list of hosts, or this host alone.
void apply_hosts(const RunOptions& run, LaunchOptions& launch) {
  using causeway::launch::parse_host_list, causeway::launch::place;
  using causeway::launch::Placement, causeway::launch::read_host_file, causeway::launch::spread;
  uint32_t ranks = 0;  // not given
  for (const Program& program : launch.programs) ranks += program.ranks;
  launch.ranks = ranks;
  launch.spares = run.spares;
  if (run.host_file.empty() && run.hosts.empty()) {
    const auto refuse = [](bool given, const char* option) {
      if (given) throw UsageError(option, "is for several hosts: give --host-file or --hosts");
    };
    refuse(!run.agent.empty(), "--agent");
    refuse(!run.address.empty(), "--address");
    refuse(!run.relay.empty(), "--relay");
    refuse(run.per_host != 0, "--per-host");
    refuse(run.encrypt, "--encrypt");
    if (ranks == 0) throw UsageError("--ranks", how_ranks_are_given(launch.programs[0].command));
    return;
  }
  Placement how;
  if (ranks != 0) how.ranks = ranks;
  if (run.per_host != 0) how.per_host = run.per_host;
  how.spares = run.spares;
  how.in_turn = has(run.map, "host");
  const bool file = !run.host_file.empty();
  bool counted = false;
  const std::vector<std::string> slots =
      file ? read_host_file(run.host_file) : parse_host_list(run.hosts, &counted);
  if (!file && !counted && ranks != 0 && run.per_host == 0)
    launch.hosts.places = spread(slots, ranks, run.spares, how.in_turn);
  else
    launch.hosts.places =
        place(slots, how, file ? "the host file '" + run.host_file + "'" : "--hosts");
  launch.ranks = static_cast<uint32_t>(launch.hosts.places.size()) - run.spares;
  if (launch.ranks == 0) throw Error(CWY_ERR_INVALID, "the hosts have no slot for a rank");
  launch.hosts.agent = run.agent;
  launch.hosts.address = run.address;
  launch.hosts.encrypt = run.encrypt;
  if (run.encrypt && !causeway::launch::Cipher::is_built_in())
    throw Error(CWY_ERR_UNSUPPORTED,
                "--encrypt needs OpenSSL, without which this `causeway` was built");
  launch.hosts.program = run.relay.empty() ? own_program() : run.relay;
  launch.hosts.directory = run.directory.empty() ? absolute("") : run.directory;
}

std::string check_stdin(const std::string& text) {
  const bool digits =
      !text.empty() && text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos;
  return text == "none" || digits ? "" : "'" + text + "' is neither a rank nor 'none'";
}

std::string check_set(const std::string& text) {
  const size_t equals = text.find('=');
  return equals != std::string::npos && equals > 0 ? ""
                                                   : "'" + text + "' is not of the form path=value";
}

// Variables that stand for an option, which the launcher itself has to see.
constexpr std::pair<std::string_view, const char*> kOptionOf[] = {
    {"CAUSEWAY_CONFIG", "--config"}, {"CAUSEWAY_SET", "--set"}, {"CAUSEWAY_RANKS", "-n"}};

std::string check_variable(const std::string& text) {
  const std::string name = text.substr(0, text.find('='));
  if (name.empty()) return "'" + text + "' names no variable";
  if (name.size() < text.size())
    for (const auto& [ours, option] : kOptionOf)
      if (name == ours) return fmt::format("for {}, give {}", name, option);
  return name.size() < text.size() || std::getenv(name.c_str()) != nullptr
             ? ""
             : "'" + name + "' is not set here: give NAME=VALUE";
}

// "NAME=VALUE" of what -x names.
std::string exported(const std::string& entry) {
  if (entry.find('=') != std::string::npos) return entry;
  return entry + "=" + std::getenv(entry.c_str());
}

void add_export(Options& run, std::vector<std::string>& exports) {
  run.option(
         "-x,--export", exports,
         "Variable of the ranks: NAME=VALUE, or NAME as it is here, for other hosts too; may be "
         "repeated")
      .check(check_variable)
      .one_at_a_time();
}

// A further program, from the words between its ':' and its name.
Program further_program(const std::string& base, const std::vector<std::string>& words) {
  Program program;
  std::vector<std::string> exports;
  std::string directory;
  Options part("");
  part.option("-n,--ranks", program.ranks, "").required().in_range(1u, kMostProcesses);
  part.option("--directory", directory, "");
  add_export(part, exports);
  try {
    part.parse_part(words);
  } catch (const UsageError& e) {
    throw UsageError("':'", std::string(e.what()) +
                                "; a program behind ':' has -n, and may have -x and --directory; "
                                "for a ':' among arguments put '--' before the program");
  }
  for (const std::string& entry : exports) program.environment.push_back(exported(entry));
  program.directory = (std::filesystem::path(base) / directory).string();
  return program;
}

std::vector<Program> programs_of(const RunOptions& run) {
  const bool here = run.host_file.empty() && run.hosts.empty();
  const std::string base = here ? run.directory : "";  // relays go there themselves
  std::vector<Program> programs{{run.ranks, {}, base, {}}};
  auto at = run.command.begin();
  const auto next = [&] {
    const auto from = at;
    at = std::find(at, run.command.end(), kNextProgram);
    return std::vector(from, at == run.command.end() ? at : at++);
  };
  programs[0].command = next();
  while (at != run.command.end()) {
    programs.push_back(further_program(base, next()));
    programs.back().command = next();
  }
  for (const Program& program : programs)
    if (program.command.empty()) throw UsageError("':'", "there is no program before or behind it");
  if (programs.size() == 1) return programs;
  if (run.ranks == 0) throw UsageError("-n", "is needed for each of several programs");
  if (run.spares > 0) throw UsageError("--spares", "could run any of several programs: give one");
  if (!run.first_host_program.empty())
    throw UsageError("--first-host-program", "is for one program: give each its own part");
  return programs;
}

void add_host_options(Options& run, RunOptions& options) {
  const char* group = "Several hosts";
  const Option file = run.option("--host-file", options.host_file,
                                 "Hosts, one a line: NAME [slots=N]; or one line per rank")
                          .in_group(group)
                          .existing_file();
  run.option(
         "--hosts", options.hosts,
         "Hosts, separated by commas: ranks are spread evenly, or without -n one for each name; "
         "or as HOST:SLOTS says")
      .in_group(group)
      .not_empty("host")
      .excludes(file);
  run.option("--per-host", options.per_host, "Ranks on every host, whatever its slots")
      .in_group(group)
      .in_range(1u, kMostProcesses);
  run.option("--agent", options.agent,
             "Command that starts something on a host: %h in it is the host's name, which "
             "otherwise follows it; then comes what is to be started. Default: ssh")
      .in_group(group);
  run.option("--address", options.address,
             "Numeric address of this machine for the other hosts; default: all it has")
      .in_group(group);
  run.option("--relay", options.relay, "Path of `causeway` on the hosts; default: that of this one")
      .in_group(group);
  run.flag("--encrypt", options.encrypt,
           "Encrypt what goes between this command and the hosts (input, output, the ranks' "
           "exchanges at the start), by TLS; what the ranks send each other is not")
      .in_group(group);
  run.option("--first-host-program", options.first_host_program,
             "Program on the first host, with the same arguments")
      .in_group(group);
}

void add_place_options(Options& run, RunOptions& options) {
  run.option("--bind", options.bind,
             "Bind each rank of a host to its share of the cores, to a NUMA node, or nowhere "
             "(default)")
      .one_of({"core", "numa", "none"});
  run.option("--map", options.map,
             "Deal ranks out: host by host (default) or, with host, one to each host in turn; "
             "within, core by core, or with numa one to each NUMA node in turn. Also host,numa")
      .named("HOW")
      .one_of({"core", "numa", "host"})
      .commas()
      .one_at_a_time();
  run.flag("--display", options.display, "Say where the ranks may run before they start");
  run.option("--directory", options.directory, "Where the ranks start; default: here");
  run.option(
         "--debug", options.debug,
         "A rank that dies by the signal of an error has gdb print the backtraces of all its "
         "threads (death, if nothing else is said; not where a thread but the first has used up "
         "its stack, nor where the program handles the signal itself or does not use the "
         "library); or gdb runs every rank in a pane of tmux")
      .named("[HOW]")
      .one_of({"death", "tmux"})
      .may_be_bare("death");
}

// Where in `words`, from `at` on, the program begins, or the "--" before it. Spells -np, -np4 and
// -np=4 before it as -n and -n4.
size_t first_of_program(const Options& run, std::vector<std::string>& words, size_t at) {
  for (; at < words.size(); ++at) {
    std::string& word = words[at];
    if (word == "-np" || word == "--np") word = "-n";  // as mpirun spells it
    for (const std::string_view start : {"-np=", "--np=", "-n=", "-np"})
      if (word.starts_with(start) && std::isdigit(static_cast<unsigned char>(word[start.size()])))
        word.replace(0, start.size(), "-n");
    // "-npernode" is another launcher's, and no number of ranks.
    if (word.starts_with("-n") && std::isalpha(static_cast<unsigned char>(word[2])))
      word.insert(0, 1, '-');
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') break;
    const bool is_long = word[1] == '-';
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    // An option that is none is left to be complained of.
    if (word == name && run.takes_value(name)) ++at;
  }
  return std::min(at, words.size());
}

}  // namespace

void take_program(Options& run, std::vector<std::string>& words) {
  const size_t first = first_of_program(run, words, 1);
  std::vector<std::string> taken;
  for (size_t at = first; at < words.size(); ++at) {
    if (words[at] == "--" && (taken.empty() || taken.back() == kNextProgram)) {
      taken.insert(taken.end(), words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
      break;
    }
    if (words[at] != ":") {
      taken.push_back(words[at]);
      continue;
    }
    taken.push_back(kNextProgram);
    const size_t program = first_of_program(run, words, at + 1);
    while (at + 1 < program) taken.push_back(words[++at]);
    taken.push_back(kNextProgram);
  }
  run.give("program", std::move(taken));
  words.resize(first);
}

void add_run_options(Options& run, RunOptions& options) {
  run.option("-n,--ranks", options.ranks,
             "Number of ranks (also -np); default with --host-file: one per slot")
      .in_range(1u, kMostProcesses);
  add_host_options(run, options);
  run.option("--on-failure", options.on_failure,
             "What a failed rank is to the job: abort (default), or continue without it")
      .one_of({"abort", "continue"});
  run.option("--spares", options.spares,
             "Further processes, which wait to take the place of a failed rank")
      .in_range(0u, kMostProcesses);
  run.flag("--fail-recovered", options.fail_recovered,
           "End with the status of a failure also where spares took the place of all that failed");
  run.option("--config", options.configs,
             "Configuration file of the ranks; may be repeated, a later file over those before")
      .existing_file()
      .one_at_a_time();
  run.option("--set", options.sets, "Override one configuration value: path=value")
      .check(check_set)
      .one_at_a_time();
  add_export(run, options.exports);
  const Option tags =
      run.flag("--tag-output", options.tag_output, "Put \"[rank] \" before every line");
  run.option("--output-dir", options.output_dir,
             "Directory for a file per rank: rank.N.out and rank.N.err")
      .not_empty("directory")
      .excludes(tags);
  add_place_options(run, options);
  run.option("--timeout", options.timeout_s, "End the job after this many seconds").positive();
  run.option("--stdin", options.stdin_rank, "Rank that reads stdin, or none")
      .check(check_stdin)
      .shows_default();
  run.option("program", options.command, "Program and its arguments")
      .required()
      .one_at_a_time()
      .shown_as("[--] PROG ARGS...");
  run.footer(
      "Behind ':' stands a further program, whose ranks follow those before: PROG : -n N PROG.\n"
      "It may have -x and --directory over those of all; a relative one begins at the first.\n"
      "Behind '--' a ':' is an argument.\n"
      "Status: the first abnormal death's 128+signal, else the first non-zero status; failures of\n"
      "ranks whose places spares took do not count, when all were taken;\n"
      "124 after --timeout, 126 or 127 when the program cannot be started.");
}

LaunchOptions to_launch(const RunOptions& run) {
  LaunchOptions launch;
  launch.programs = programs_of(run);
  apply_hosts(run, launch);
  launch.survives = run.on_failure == "continue" || (run.on_failure.empty() && run.spares > 0);
  launch.forgives = !run.fail_recovered;
  if (run.spares > 0 && !launch.survives)
    throw UsageError("--spares", "needs --on-failure=continue");
  if (!run.first_host_program.empty() && launch.hosts.places.empty())
    throw UsageError("--first-host-program", "needs --hosts or --host-file");
  if (launch.ranks + run.spares > kMostProcesses)
    throw UsageError("--ranks", fmt::format("{} ranks and spares: at most {}",
                                            launch.ranks + run.spares, kMostProcesses));
  launch.first_host_program = run.first_host_program;
  launch.tag_output = run.tag_output;
  if (!run.output_dir.empty()) {
    launch.output_dir = absolute(run.output_dir);
    std::error_code failed;
    if (!std::filesystem::create_directories(launch.output_dir, failed) && failed)
      throw Error(CWY_ERR_INVALID, "--output-dir {}: cannot be made: {}", run.output_dir,
                  failed.message());
  }
  launch.binding = binding_of(run);
  apply_debug(run, launch);
  for (const std::string& entry : run.exports) {
    const std::string text = exported(entry);
    const size_t equals = text.find('=');
    launch.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  if (run.timeout_s > 0.0) launch.timeout_s = run.timeout_s;
  if (run.stdin_rank == "none") {
    launch.stdin_rank.reset();
  } else {
    launch.stdin_rank = static_cast<uint32_t>(std::stoul(run.stdin_rank));
    if (*launch.stdin_rank >= launch.ranks)
      throw UsageError("--stdin " + run.stdin_rank,
                       fmt::format("the job has ranks 0 to {} only", launch.ranks - 1));
  }
  apply_config(run, launch);
  return launch;
}

}  // namespace causeway::command
