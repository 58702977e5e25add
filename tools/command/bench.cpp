// causeway bench: measures the library beside raw loops on the same memory and prints the table.
#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/driver/capture.h"
#include "bench/driver/plan.h"
#include "bench/driver/report.h"
#include "bench/driver/scale.h"
#include "bench/driver/sweep.h"
#include "bench/driver/table.h"
#include "commands.h"
#include "text.h"

namespace causeway::command {
namespace {

struct BenchOptions {
  bench::Request request;
  bool list = false;
  std::string compare;
  std::string sizes;       // of sweeps; empty: the usual
  std::string report;      // directory
  std::string json, plot;  // files; "-": JSON to standard output in place of the table
  bool strict = false;
};

int run_scale(const BenchOptions& options, const std::string& tool, const std::string& program,
              bench::Report& report) {
  std::vector<std::string> problems;
  const auto& steps = report.steps = bench::measure_scale(options.request, tool, program, problems);
  const std::string json = bench::scale_json(steps, problems);
  if (options.json != "-") print_columns(bench::scale_rows(steps), "");
  write_file(options.json, json);
  write_file(options.plot, bench::scale_plot(steps));
  if (!options.report.empty()) write_file(options.report + "/scale.json", json);
  for (const std::string& problem : problems) fmt::print(stderr, "causeway bench: {}\n", problem);
  return problems.empty() ? kOk : kFailed;
}

int run_figures(const BenchOptions& options, const std::string& tool, const std::string& program,
                bench::Report& report) {
  const bench::Earlier& earlier = report.earlier =
      options.compare.empty() ? bench::Earlier{} : bench::read_earlier(options.compare);
  const bench::Outcome& outcome = report.outcome = bench::carry_out(options.request, tool, program);
  const std::string json = bench::json_text(outcome, earlier);
  write_file(options.json, json);
  if (!options.report.empty()) write_file(options.report + "/sweep.json", json);
  if (options.json != "-" && !options.request.sweep.empty())
    bench::print_sweep(outcome, earlier);
  else if (options.json != "-")
    fmt::print("{}", bench::table_text(outcome, earlier, isatty(STDOUT_FILENO) == 1));
  const auto is_new = [&](const auto& measured) { return earlier.count(measured.name) == 0; };
  if (options.json != "-" && !earlier.empty() && std::ranges::any_of(outcome.measured, is_new))
    fmt::print("'-' in the column 'before': {} does not have the figure\n", options.compare);
  for (const std::string& note : outcome.notes) fmt::print(stderr, "causeway bench: {}\n", note);
  for (const std::string& problem : outcome.problems)
    fmt::print(stderr, "causeway bench: {}\n", problem);
  if (!outcome.problems.empty()) return kFailed;
  return options.strict && bench::count_over(outcome) > 0 ? kFailed : kOk;
}

void make_directory(const std::string& name) {
  std::error_code failure;
  if (!name.empty() && !std::filesystem::create_directories(name, failure) && failure)
    throw Error(CWY_ERR_INVALID, "{} cannot be made: {}", name, failure.message());
}

// What the parser's own relations between options do not say.
void check_together(BenchOptions& options) {
  bench::Request& request = options.request;
  const bool scales = !request.scale.empty(), reports = !options.report.empty();
  const bool sweeps = !request.sweep.empty() || (reports && !scales);
  if (!options.sizes.empty() && !sweeps)
    throw UsageError("--sizes", "requires --sweep or --report");
  for (const auto& [name, given] : {std::pair{"--only", !request.only.empty()},
                                    {"--collectives", !request.collectives.empty()},
                                    {"--memkinds", !request.memkind.empty()},
                                    {"--one-sided", !request.one_sided.empty()}})
    if (given && (sweeps || scales))
      throw UsageError(name, "excludes --sweep, --scale and --report");
  if (scales && sweeps && !options.json.empty())
    throw UsageError("--json", "holds --sweep or --scale; --report writes both");
  if (!options.sizes.empty()) request.sizes = options.sizes;
  if (sweeps && request.sweep.empty()) request.sweep = bench::kAllSweeps;
}

int run_bench(BenchOptions& options) {
  check_together(options);
  if (options.list) {
    if (options.json.empty())
      print_columns(bench::list_rows(), "");
    else
      fmt::print("{}", bench::list_json());
    return kOk;
  }
  const std::string tool = bench::executable_path();
  // A library that libfabric links would write a report into this directory if a rank crashed.
  if (!options.request.network.empty()) setenv("IPATH_NO_BACKTRACE", "1", 0);
  const std::string program = bench::measuring_program(tool);
  const bool scales = !options.request.scale.empty(), sweeps = !options.request.sweep.empty();
  make_directory(options.report);
  bench::Report report;
  int status = scales ? run_scale(options, tool, program, report) : kOk;
  if (!scales || sweeps) status = std::max(status, run_figures(options, tool, program, report));
  if (!options.report.empty()) {
    const std::string page = options.report + "/index.html";
    write_file(page, bench::report_page(options.request, report));
    fmt::print(stderr, "causeway bench: {} is written\n", page);
  }
  return status;
}

std::string check_figure(const std::string& name) {
  if (bench::find_figure(name) != nullptr) return {};
  return fmt::format("no figure is called '{}'; `causeway bench --list` names them", name);
}

std::string check_network(const std::string& name) {
  if (bench::network_name(name)) return {};
  return fmt::format(
      "'{}' is not a network that can be measured; there are eth[/DEVICE], ofi/PROVIDER, "
      "ucx/TRANSPORTS and verbs[/DEVICE]",
      name);
}

// The complaint of a reader of an option's value.
template <auto Read>
std::string check_by(const std::string& text) {
  try {
    Read(text);
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

// An option with one of these values, or without any, which means the first.
void add_choice(Options& sub, const char* name, std::string& value,
                const std::vector<std::string>& choices, const char* about) {
  sub.option(name, value, about)
      .one_of(choices)
      .may_be_bare(choices.front())
      .named(fmt::format("[{}]", fmt::join(choices, "|")));
}

// Adds the options that measure something else than the library over shared memory.
void add_subjects(Options& sub, BenchOptions& options) {
  bench::Request& request = options.request;
  sub.option("--network", request.network,
             "Measure a network conduit beside loops on its own library: eth (beside bare "
             "sockets), ofi/tcp, 'ofi/tcp;ofi_rxm', ofi/shm, ucx/tcp, ucx/shm, verbs")
      .check(check_network)
      .named("CONDUIT[/TRANSPORT]");
  sub.option("--launches", request.launches,
             "Launches whose middle one is reported, of a pair of ranks, a network or a sweep (1; "
             "the table of --network has 5, or 1 with --quick); they differ by more than "
             "repetitions: for --compare ask for six or more")
      .in_range(1u, 1000u);
  sub.option("--sweep", request.sweep,
             "Measure these over powers of two of bytes: latency one at a time and bandwidth with "
             "many under way, beside raw loops and the MPI libraries that are installed; with "
             "--network over that network. Of put, get, am, allreduce (all)")
      .check(check_by<bench::sweep_operations>)
      .may_be_bare(bench::kAllSweeps)
      .named(fmt::format("[LIST]:{{{}}}", bench::kAllSweeps));
  sub.option("--sizes", options.sizes, "Sizes of sweeps (8-4MiB), each twice the one before")
      .check(check_by<bench::sweep_sizes>)
      .named("FROM-TO");
  add_choice(sub, "--collectives", request.collectives, {"shm", "tcp"},
             "Measure collectives of 4 ranks (or -n) beside the MPI libraries that are "
             "installed and beside the bounds of the memory: over shm, or over tcp");
  sub.option("--scale", request.scale,
             "Measure what a rank of one host costs among so many: start, barrier, first contact "
             "of all with all, memory, open files, and the power of the ranks that each grows with "
             "(2,4,8 to 1024)")
      .check(check_by<bench::steps_of>)
      .may_be_bare("2,4,8,16,32,64,128,256,512,1024")
      .named("[RANKS,...]");
  add_choice(sub, "--memkinds", request.memkind, {"cuda", "hip", "ze"},
             "Measure transfers with a device's memory beside the driver's own copies: cuda "
             "(when nothing is named), hip or ze; skipped with the reason without a device");
  add_choice(sub, "--one-sided", request.one_sided, {"shm", "tcp"},
             "Measure puts, gets and fetch-adds of 2 ranks beside the MPI and OpenSHMEM "
             "libraries that are installed: over shm, or over tcp");
}

}  // namespace

void add_bench(Options& app, int& status) {
  auto options = std::make_shared<BenchOptions>();
  bench::Request& request = options->request;
  Options& sub = app.subcommand(
      "bench", "Measure the library beside raw loops on the same memory, in the same run",
      [options, &status] { status = run_bench(*options); });
  sub.flag("--list", options->list, "Name the figures, their targets and what they measure");
  sub.option("--only", request.only, "Only these figures")
      .commas()
      .one_at_a_time()
      .check(check_figure)
      .named("NAME,...");
  sub.flag("--quick", request.quick, "Few and short repetitions: does everything run?");
  sub.option("--json", options->json, "Print JSON, or write it into FILE beside the table")
      .may_be_bare("-")
      .named("[FILE]");
  sub.option(
         "--compare", options->compare,
         "Show beside each figure what it was in an earlier run, out of the FILE that its --json "
         "wrote: the figure, the change, and what its ratio to the raw loop was; 'same' where the "
         "95 % bounds of both medians (order statistics of the runs) overlap")
      .existing_file()
      .named("FILE");
  sub.flag("--strict", options->strict, "End with status 1 when a figure is over its target");
  sub.flag("--instructions", request.instructions,
           "Also count instructions under valgrind, where that is installed");
  sub.option("--config", request.config, "Configuration file of the measured jobs")
      .existing_file()
      .named("FILE");
  sub.option("--set", request.sets, "path=value over the configuration; may be repeated")
      .one_at_a_time()
      .named("PATH=VALUE");
  add_subjects(sub, *options);
  sub.option("--plot", options->plot,
             "With --scale: write a plot of all figures, an SVG, into FILE")
      .needs("--scale")
      .named("FILE");
  sub.option("--report", options->report,
             "Write DIR/index.html, a page of plots and tables of --sweep and --scale (of all "
             "sweeps where neither is asked for) that needs no network, and the JSON beside it")
      .not_empty("directory")
      .named("DIR");
  sub.option(
         "--hosts", request.hosts,
         "With --scale: spread the ranks over so many network namespaces of this machine (root)")
      .needs("--scale")
      .in_range(2u, 64u);
  sub.option("-n", request.ranks, "Ranks of the job in which ranks 0 and 1 are measured")
      .in_range(2u, 4096u)
      .shows_default();
}

}  // namespace causeway::command
