// causeway trace: reads the files that the conduit `trace` writes, one per rank, and prints what
// happened: sums per operation, or every record.
#include <causeway/operations.h>
#include <plugins/conduit/trace/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "commands.h"
#include "text.h"

namespace causeway::command {
namespace {

struct Arguments {
  std::vector<std::string> files;
  bool lines = false, json = false;
};

// NULL where nothing has that number.
constexpr auto kNames = [] {
  static_assert(operation_count <= CWYT_EVENTS);
  std::array<const char*, CWYT_OPERATIONS> names{};
  size_t next = 0;
  for_each_operation([&](const auto& operation) { names[next++] = operation.name; });
  names[CWYT_CONNECT] = "connect";
  names[CWYT_DISCONNECT] = "disconnect";
  names[CWYT_PURGE] = "purge";
  names[CWYT_RECEIVED_SHORT] = "received_short";
  names[CWYT_RECEIVED_MEDIUM] = "received_medium";
  names[CWYT_RECEIVED_LONG] = "received_long";
  return names;
}();

bool is_known(uint8_t operation) {
  return operation < kNames.size() && kNames[operation] != nullptr;
}

struct Trace {
  cwyt_header header{};
  std::vector<cwyt_record> records;  // the oldest first
  uint64_t unfinished = 0;           // places whose writer did not finish
};

struct Sum {
  uint64_t posted = 0, bytes = 0, retries = 0, failed = 0;  // posted: accepted
  uint64_t completed = 0, duration = 0, longest = 0;        // of those reported later
  void add(const cwyt_record& r) {
    if (r.phase == CWYT_DONE) {
      ++completed;
      duration += r.duration_ns;
      longest = std::max(longest, r.duration_ns);
      failed += r.status < 0 ? 1 : 0;
    } else if (r.status == CWY_RETRY) {
      ++retries;
    } else if (r.status < 0) {
      ++failed;
    } else {
      ++posted;
      bytes += r.size;
    }
  }
};

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw Error(CWY_ERR_INVALID, "{}: {}", file, why);
}

// Nothing in the file is believed: it may be anything, or end anywhere.
Trace read_trace(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse(file, std::strerror(errno));
  Trace t;
  in.read(reinterpret_cast<char*>(&t.header), sizeof t.header);
  const cwyt_header& h = t.header;
  if (!in || h.magic != CWYT_MAGIC || h.record_bytes != sizeof(cwyt_record) || h.capacity == 0) {
    refuse(file, "is not a trace that this version reads");
  }
  t.header.job[sizeof h.job - 1] = t.header.over[sizeof h.over - 1] = '\0';
  t.header.host[sizeof h.host - 1] = '\0';
  in.seekg(0, std::ios::end);
  const auto bytes = static_cast<uint64_t>(std::max<std::streamoff>(in.tellg(), CWYT_HEADER_BYTES));
  const uint64_t there =
      std::min((bytes - CWYT_HEADER_BYTES) / sizeof(cwyt_record), std::min(h.count, h.capacity));
  in.seekg(CWYT_HEADER_BYTES);
  std::vector<cwyt_record> ring(there);
  in.read(reinterpret_cast<char*>(ring.data()),
          static_cast<std::streamsize>(there * sizeof(cwyt_record)));
  if (!in && there != 0) refuse(file, "cannot be read to its end");
  const uint64_t first = h.count > there ? h.count - there : 0;
  t.records.reserve(there);
  for (uint64_t n = first; n < h.count; ++n) {
    const uint64_t place = n % h.capacity;
    if (place >= there) continue;
    const cwyt_record& r = ring[place];
    if (r.generation == cwyt_generation(n, h.capacity) && is_known(r.operation)) {
      t.records.push_back(r);
    } else {
      ++t.unfinished;
    }
  }
  return t;
}

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
  const uint64_t lost = h.count > h.capacity ? h.count - h.capacity : 0;
  fmt::print("  {} records in {}, {} peers{}{}\n", t.records.size(), duration_text(t), peers.size(),
             lost == 0 ? "" : fmt::format("; {} older ones were overwritten", lost),
             t.unfinished == 0 ? "" : fmt::format("; {} unfinished", t.unfinished));
  std::vector<std::vector<std::string>> rows{{"operation", "accepted", "bytes", "retry", "failed",
                                              "completed later", "mean us", "longest us"}};
  const auto sums = sums_of(t);
  for (size_t i = 0; i < sums.size(); ++i) {
    const Sum& s = sums[i];
    if (s.posted + s.retries + s.failed + s.completed == 0) continue;
    rows.push_back(
        {kNames[i], std::to_string(s.posted), std::to_string(s.bytes), std::to_string(s.retries),
         std::to_string(s.failed), std::to_string(s.completed), mean_text(s),
         s.completed == 0 ? "" : fmt::format("{:.2f}", static_cast<double>(s.longest) / 1e3)});
  }
  if (rows.size() > 1) print_columns(rows);
}

void print_lines(const Trace& t) {
  for (const cwyt_record& r : t.records) {
    fmt::print("{:.9f} {} {} {} {} {} {} {}\n", static_cast<double>(r.time_ns) / 1e9, t.header.rank,
               r.peer, kNames[r.operation], r.phase == CWYT_DONE ? "done" : "posted", r.size,
               status_name(r.status), r.duration_ns);
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
        kNames[i], s.posted, s.bytes, s.retries, s.failed, s.completed, s.duration, s.longest));
  }
  const cwyt_header& h = t.header;
  return fmt::format(
      R"({{"file":{},"rank":{},"size":{},"host":{},"over":{},"job":{},"recorded":{},"kept":{},)"
      R"("operations":{}}})",
      json_text(file), h.rank, h.size, json_text(h.host), json_text(h.over), json_text(h.job),
      h.count, t.records.size(), json_array(parts));
}

int trace(const Arguments& arguments) {
  try {
    std::vector<std::string> objects;
    for (const std::string& file : arguments.files) {
      const Trace t = read_trace(file);
      if (arguments.json) {
        objects.push_back(json_of(file, t));
      } else if (arguments.lines) {
        print_lines(t);
      } else {
        print_summary(t);
      }
    }
    if (arguments.json) fmt::print("{}\n", json_array(objects));
    return kOk;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.text());
    return kFailed;
  }
}

}  // namespace

void add_trace(Options& app, int& status) {
  auto arguments = std::make_shared<Arguments>();
  Options& command =
      app.subcommand("trace", "Print what the conduit trace recorded, one file per rank",
                     [arguments, &status] { status = trace(*arguments); });
  command.option("FILE", arguments->files, "trace files").required();
  command.flag("--lines", arguments->lines,
               "every record: seconds, rank, peer, operation, phase, bytes, status, ns");
  command.flag("--json", arguments->json, "print JSON");
}

}  // namespace causeway::command
