// causeway trace: reads the files that the conduit `trace` writes, one per rank, and prints what
// happened: sums per operation, every record, or pictures of all ranks together.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "commands.h"
#include "text.h"
#include "trace_file.h"
#include "trace_pictures.h"

namespace causeway::command {
namespace {

struct TraceArguments {
  std::vector<std::string> files;
  bool lines = false, json = false;
  std::string perfetto, svg;  // files to be written
};

struct Sum {
  uint64_t posted = 0, bytes = 0, retries = 0, failed = 0;  // posted: accepted
  uint64_t completed = 0, duration = 0, longest = 0;        // of those reported later
  void add(const cwyt_record& r) {
    if (r.phase == CWYT_DONE) {
      ++completed;
      duration += r.duration_ns;
      longest = std::max(longest, r.duration_ns);
      failed += r.status != CWY_OK ? 1 : 0;
    } else if (r.status == CWY_RETRY) {
      ++retries;
    } else if (is_error(r.status)) {
      ++failed;
    } else {
      ++posted;
      bytes += r.size;
    }
  }
};

std::string mean_text(const Sum& s) {
  return s.completed == 0 ? ""
                          : fmt::format("{:.2f}", static_cast<double>(s.duration) / 1e3 /
                                                      static_cast<double>(s.completed));
}

std::array<Sum, CWYT_OPERATIONS> sums_of(const Trace& t) {
  std::array<Sum, CWYT_OPERATIONS> sums{};
  for (const cwyt_record& r : t.records) sums[r.operation].add(r);
  return sums;
}

std::string duration_text(const Trace& t) {
  if (t.records.empty()) return "nothing recorded";
  return fmt::format("{:.3f} s", static_cast<double>(t.records.back().time_ns) / 1e9);
}

void print_summary(const Trace& t) {
  const cwyt_header& h = t.header;
  std::set<uint32_t> peers;
  for (const cwyt_record& r : t.records) peers.insert(r.peer);
  fmt::print("{}\n", bold(fmt::format("rank {} of {} on {}, over {}, job {}", h.rank, h.size,
                                      h.host, h.over, h.job)));
  fmt::print("  {} records in {}, {} peers{}{}\n", t.records.size(), duration_text(t), peers.size(),
             t.lost == 0 ? "" : fmt::format("; {} older ones were overwritten", t.lost),
             t.unfinished == 0 ? "" : fmt::format("; {} unfinished", t.unfinished));
  std::vector<std::vector<std::string>> rows{{"operation", "accepted", "bytes", "retry", "failed",
                                              "completed later", "mean us", "longest us"}};
  const auto sums = sums_of(t);
  for (size_t i = 0; i < sums.size(); ++i) {
    const Sum& s = sums[i];
    if (s.posted + s.retries + s.failed + s.completed == 0) continue;
    rows.push_back(
        {kOperationNames[i], std::to_string(s.posted), std::to_string(s.bytes),
         std::to_string(s.retries), std::to_string(s.failed), std::to_string(s.completed),
         mean_text(s),
         s.completed == 0 ? "" : fmt::format("{:.2f}", static_cast<double>(s.longest) / 1e3)});
  }
  if (rows.size() > 1) print_columns(rows);
}

void print_lines(const Trace& t) {
  for (const cwyt_record& r : t.records) {
    fmt::print("{:.9f} {} {} {} {} {} {} {}\n", static_cast<double>(r.time_ns) / 1e9, t.header.rank,
               r.peer, kOperationNames[r.operation], r.phase == CWYT_DONE ? "done" : "posted",
               r.size, status_name(r.status), r.duration_ns);
  }
}

std::string json_of(const std::string& file, const Trace& t) {
  std::vector<std::string> parts;
  const auto sums = sums_of(t);
  for (size_t i = 0; i < sums.size(); ++i) {
    const Sum& s = sums[i];
    if (s.posted + s.retries + s.failed + s.completed == 0) continue;
    parts.push_back(fmt::format(
        R"({{"operation":"{}","accepted":{},"bytes":{},"retries":{},"failed":{},"completed":{},)"
        R"("duration_ns":{},"longest_ns":{}}})",
        kOperationNames[i], s.posted, s.bytes, s.retries, s.failed, s.completed, s.duration,
        s.longest));
  }
  const cwyt_header& h = t.header;
  return fmt::format(
      R"({{"file":{},"rank":{},"size":{},"host":{},"over":{},"job":{},"recorded":{},"kept":{},)"
      R"("operations":{}}})",
      json_text(file), h.rank, h.size, json_text(h.host), json_text(h.over), json_text(h.job),
      h.count, t.records.size(), json_array(parts));
}

// A trace is named once, and what is written is none of those that are read.
void check_files(const TraceArguments& arguments) {
  std::set<std::pair<dev_t, ino_t>> seen;
  struct stat info {};
  for (const std::string& file : arguments.files)
    if (::stat(file.c_str(), &info) == 0 && !seen.emplace(info.st_dev, info.st_ino).second)
      refuse_trace(file, "is named twice; name each file once");
  // A place that cannot be looked at is for the writing to complain of.
  const auto place = [](const std::string& file) {
    std::error_code failed;
    return std::filesystem::absolute(file, failed).lexically_normal();
  };
  if (!arguments.svg.empty() && !arguments.perfetto.empty() &&
      place(arguments.svg) == place(arguments.perfetto))
    throw Error(CWY_ERR_INVALID, "--svg and --perfetto write into one file, {}; name two",
                arguments.svg);
  for (const std::string& file : {arguments.perfetto, arguments.svg})
    if (::stat(file.c_str(), &info) == 0 && seen.count({info.st_dev, info.st_ino}) != 0)
      refuse_trace(file, "is a trace that is read; write into another file");
}

// Everything that was asked for of all files together.
void write_pictures(const TraceArguments& arguments, const std::vector<Trace>& traces) {
  for (const Trace& t : traces)
    if (std::strcmp(t.header.job, traces.front().header.job) != 0)
      throw Error(CWY_ERR_INVALID, "the files are of two jobs, {} and {}; name those of one",
                  traces.front().header.job, t.header.job);
  std::string about;
  if (!arguments.perfetto.empty()) {
    write_file(arguments.perfetto, trace_timeline(traces, about));
    fmt::print(stderr, "causeway trace: {}\n", about);
  }
  if (!arguments.svg.empty()) write_file(arguments.svg, trace_traffic(traces));
}

int trace(const TraceArguments& arguments) {
  std::vector<Trace> traces;
  check_files(arguments);
  for (const std::string& file : arguments.files) {
    traces.push_back(read_trace(file));
    if (traces.back().cut != 0)
      fmt::print(stderr, "{}: the file was cut: {} of its records are missing\n", file,
                 traces.back().cut);
  }
  if (!arguments.perfetto.empty() || !arguments.svg.empty()) {
    write_pictures(arguments, traces);
    return kOk;
  }
  std::vector<std::string> objects;
  for (size_t i = 0; i < traces.size(); ++i)
    if (arguments.json)
      objects.push_back(json_of(arguments.files[i], traces[i]));
    else
      arguments.lines ? print_lines(traces[i]) : print_summary(traces[i]);
  if (arguments.json) fmt::print("{}\n", json_array(objects));
  return kOk;
}

}  // namespace

void add_trace(Options& app, int& status) {
  auto arguments = std::make_shared<TraceArguments>();
  Options& command =
      app.subcommand("trace", "Print what the conduit trace recorded, one file per rank",
                     [arguments, &status] { status = trace(*arguments); });
  command.option("FILE", arguments->files, "trace files").required();
  const auto lines =
      command.flag("--lines", arguments->lines,
                   "every record: seconds, rank, peer, operation, phase, bytes, status, ns");
  command.flag("--json", arguments->json, "print JSON").excludes(lines);
  command
      .option("--perfetto", arguments->perfetto,
              "write time lines of all ranks, with an arrow from each message to its handler, into "
              "FILE, for ui.perfetto.dev; ranks of several hosts get one clock by their messages")
      .named("FILE")
      .not_empty("file")
      .excludes(lines);
  command.option("--svg", arguments->svg, "write a picture of who sends how much to whom into FILE")
      .named("FILE")
      .not_empty("file")
      .excludes(lines);
}

}  // namespace causeway::command
