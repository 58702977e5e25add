// causeway ps: the jobs of this user on this host, and what each rank does.
#include <algorithm>
#include <memory>

#include "commands.h"
#include "job_view.h"
#include "text.h"

namespace causeway::command {
namespace {

struct PsArguments {
  std::string job;
  bool ranks = false, json = false;
};

constexpr uint64_t kPatienceNs = 1'000'000'000;
using Rows = std::vector<std::vector<std::string>>;

void print_jobs(const Jobs& jobs) {
  Rows rows{{"job", "launcher", "program", "ranks", "age", "state"}};
  for (const auto& [id, ranks] : jobs) {
    const RankView& first = ranks[0];
    rows.push_back({id, std::to_string(first.launcher), first.program,
                    fmt::format("{}/{}", ranks.size(), first.ranks), duration_text(first.age_s()),
                    state_text(ranks)});
  }
  print_columns(rows, "");
}

void print_ranks(const std::vector<RankView>& ranks) {
  Rows rows{{"rank", "pid", "conns", "ops", "bytes", "retries", "memory", "state"}};
  for (const RankView& r : ranks) {
    const auto number = [&](uint64_t n) {
      return r.taken_ns != 0 ? amount_text(static_cast<double>(n)) : "-";
    };
    rows.push_back({std::to_string(r.rank), std::to_string(r.pid), number(r.connections),
                    number(r.total.operations()), number(r.total.bytes()),
                    number(r.total.of[StatusPage::retries]),
                    amount_text(static_cast<double>(r.resident)), state_text(r)});
  }
  print_columns(rows, "");
}

int ps(const PsArguments& args) {
  const Jobs jobs = JobViewer().look(args.job, kPatienceNs);
  if (jobs.empty() && !args.job.empty()) return say_unknown("ps", args.job);
  if (args.json) {
    fmt::print("{}\n", json_of(jobs));
    return kOk;
  }
  print_jobs(jobs);
  const bool ranks = !jobs.empty() && (args.ranks || !args.job.empty());
  for (const auto& [id, of_job] : jobs) {
    if (!ranks) break;
    fmt::print("\n{}\n", bold(id));
    print_ranks(of_job);
    for (const std::string& line : absent_texts(of_job)) print_folded(line, "");
  }
  if (ranks)
    fmt::print(
        "\nPuts and gets to mapped memory are the program's own, uncounted; so are collectives "
        "there.\n");
  const auto outside = [](const RankView& rank) { return rank.outside; };
  if (std::ranges::any_of(
          jobs, [&](const auto& job) { return std::ranges::any_of(job.second, outside); }))
    fmt::print(
        "\nOutside the library: the rank has not called it yet, has left it by exec, or runs a "
        "program\nthat does not use it.\n");
  return kOk;
}

}  // namespace

void add_ps(Options& app, int& status) {
  auto args = std::make_shared<PsArguments>();
  Options& sub =
      app.subcommand("ps", "List this user's jobs on this host, and what their ranks wait for",
                     [args, &status] { status = ps(*args); });
  sub.option("job", args->job,
             "Show this job's ranks: its id, or the process id of its launcher or of a rank")
      .not_empty("job");
  sub.flag("--ranks", args->ranks, "Show the ranks of every job");
  sub.flag("--json", args->json, "Print JSON");
}

}  // namespace causeway::command
