// The cost of a rank: the time until it can communicate, and the memory it then holds.
#include <causeway/report.h>
#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "measure.h"
#include "session.h"

namespace causeway::bench {
namespace {

struct Close {
  void operator()(FILE* file) const { fclose(file); }
};

struct Range {
  uintptr_t begin, end;
};

// Where the segments, this rank's and its neighbours', are mapped in this process.
std::vector<Range> segment_ranges(const Job& job) {
  std::vector<Range> ranges;
  for (uint32_t rank = 0; rank < job.size(); ++rank) {
    const auto begin = reinterpret_cast<uintptr_t>(rank == job.rank() ? job.owner_address(rank)
                                                                      : job.mapped_address(rank));
    if (begin != 0) ranges.push_back({begin, begin + job.segment_bytes()});
  }
  return ranges;
}

// Proportional set size in KiB of everything, or of the mappings that lie in `ranges`.
// A mapping that is only partly a segment counts as ours: nothing is hidden.
std::optional<uint64_t> pss_kib(const char* path, const std::vector<Range>* ranges) {
  const std::unique_ptr<FILE, Close> file(fopen(path, "r"));
  if (!file) return std::nullopt;
  uint64_t total = 0;
  bool counts = true;
  char line[512];
  while (fgets(line, sizeof line, file.get()) != nullptr) {
    uint64_t begin, end, kib;
    if (sscanf(line, "Pss: %" SCNu64 " kB", &kib) == 1) {
      if (counts) total += kib;
    } else if (ranges != nullptr && sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &begin, &end) == 2) {
      counts = std::any_of(ranges->begin(), ranges->end(), [&](const Range& range) {
        return begin >= range.begin && end <= range.end;
      });
    }
  }
  return total;
}

}  // namespace

void measure_startup(Session& session) {
  Job& job = session.job();
  const std::vector<uint64_t> all = job.gather(static_cast<uint64_t>(job.init_attach_ns()));
  if (!job.is_first()) return;
  const uint64_t slowest = *std::ranges::max_element(all);
  session.report({"startup.4", static_cast<double>(slowest) / 1e6, std::nullopt, "", ""});
}

// "memory: N bytes of each rank never contacted; connections: shm 3 of M bytes and K shared, ...".
void report_peers(Session& session) {
  std::string text;
  cwy_report_v1(
      [](void* arg, const char* line) {
        if (strncmp(line, "memory: ", 8) == 0) *static_cast<std::string*>(arg) = line;
      },
      &text);
  uint64_t uncontacted = 0;
  if (sscanf(text.c_str(), "memory: %" SCNu64, &uncontacted) != 1) return;
  session.report({"memory.uncontacted", static_cast<double>(uncontacted), std::nullopt, "", ""});
  // The dearest of the conduits.
  uint64_t most = 0;
  for (size_t at = text.find(" of ", text.find("connections:")); at != std::string::npos;
       at = text.find(" of ", at + 1))
    most = std::max<uint64_t>(most, strtoull(&text[at + 4], nullptr, 10));
  const std::string who = text.substr(text.find("connections:"));
  session.report({"memory.connection", static_cast<double>(most), std::nullopt, "", who});
}

void measure_memory(Session& session) {
  Job& job = session.job();
  const std::vector<Range> ranges = segment_ranges(job);
  job.sync();
  const std::optional<uint64_t> all = pss_kib("/proc/self/smaps_rollup", nullptr);
  const std::optional<uint64_t> segments = pss_kib("/proc/self/smaps", &ranges);
  job.sync();  // no rank may leave, or have its share grow, while another one looks
  const bool known = all && segments && *all >= *segments;
  const std::vector<uint64_t> kib = job.gather(known ? *all - *segments : UINT64_MAX);
  if (!job.is_first()) return;
  std::vector<double> megabytes;
  for (const uint64_t one : kib)
    if (one != UINT64_MAX) megabytes.push_back(static_cast<double>(one) * 1024 / 1e6);
  if (megabytes.size() != kib.size()) {
    fmt::print(stderr, "causeway-bench: /proc/self/smaps cannot be read on {} of {} ranks\n",
               kib.size() - megabytes.size(), kib.size());
    return;
  }
  report_peers(session);
  const std::string note = fmt::format("{} ranks", job.size());
  session.report({"memory.median", median(megabytes), std::nullopt, "", note});
  session.report({"memory.max", *std::ranges::max_element(megabytes), std::nullopt, "", note});
}

}  // namespace causeway::bench
