// The measuring half of `causeway tune`: one collective at several sizes, by the algorithm that the
// configuration of this launch names, and which algorithm that was.
#include <causeway/report.h>
#include <fmt/format.h>
#include <gasnet_coll.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "measure.h"
#include "session.h"

namespace causeway::bench {
namespace {

// Runs of each algorithm of one operation in this process so far.
std::map<std::string, uint64_t> counts(const std::string& operation) {
  std::string text;
  cwy_report_v1(
      [](void* out, const char* line) {
        if (strncmp(line, "collectives: ", 13) == 0) *static_cast<std::string*>(out) = line + 13;
      },
      &text);
  std::map<std::string, uint64_t> found;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(", ", at), text.size());
    char op[32], name[128];
    unsigned long long n = 0;
    if (sscanf(text.substr(at, end - at).c_str(), "%31s %127s %llu", op, name, &n) == 3 &&
        operation == op)
      found[name] = n;
    at = end + 2;
  }
  return found;
}

// The root changes from call to call: with one root for all, calls would overlap, and what passes
// bytes on slowly but keeps the root free would look fast.
void run_once(Job& job, const std::string& operation, size_t bytes, uint64_t turn) {
  auto* const own = job.owner_address(job.rank());
  auto* const src = reinterpret_cast<double*>(own);
  auto* const dst = reinterpret_cast<double*>(own + job.segment_bytes() / 2);
  const auto root = static_cast<gex_Rank_t>(turn % job.size());
  gex_Event_t event;
  if (operation == "barrier") {
    event = gex_Coll_BarrierNB(job.tm(), 0);
  } else if (operation == "broadcast") {
    event = gex_Coll_BroadcastNB(job.tm(), root, dst, src, bytes, 0);
  } else if (operation == "reduce_one") {
    event = gex_Coll_ReduceToOneNB(job.tm(), root, dst, src, GEX_DT_DBL, 8, bytes / 8, GEX_OP_ADD,
                                   nullptr, nullptr, 0);
  } else {
    event = start_sum(job, dst, src, bytes / sizeof(double));
  }
  gex_Event_Wait(event);
}

// A call by all ranks together: the slowest rank's time.
double timed(Job& job, const std::string& operation, size_t bytes, uint64_t turns) {
  job.sync();
  const double own = elapsed_ns([&] {
    for (uint64_t i = 0; i < turns; ++i) run_once(job, operation, bytes, i);
  });
  uint64_t slowest = 0;
  for (const uint64_t one : job.gather(static_cast<uint64_t>(own)))
    slowest = std::max(slowest, one);
  return static_cast<double>(job.from_root(slowest)) / static_cast<double>(turns);
}

void measure(Job& job, const std::string& operation, size_t bytes, double row_ns) {
  auto before = counts(operation);
  timed(job, operation, bytes, 1);
  const uint64_t turns =
      turns_for(std::min(200e3, row_ns / 10), timed(job, operation, bytes, 2), 1 << 12);
  const double begun = now_ns();
  double fastest = timed(job, operation, bytes, turns);
  while (job.from_root(now_ns() - begun < row_ns) != 0)
    fastest = std::min(fastest, timed(job, operation, bytes, turns));
  if (!job.is_first()) return;
  // The one that ran most: waits and sums of this program's own are barriers and messages.
  std::string most = "-";
  uint64_t runs = 0;
  for (const auto& [name, n] : counts(operation)) {
    if (n - before[name] <= runs) continue;
    runs = n - before[name];
    most = name;
  }
  fmt::print("tuned {} {} {} {:.0f}\n", operation, bytes, most, fastest);
  fflush(stdout);
}

const char* locality(const Job& job) {
  gex_Rank_t neighbors = 0, here = 0;
  gex_System_QueryNbrhdInfo(nullptr, &neighbors, nullptr);
  gex_System_QueryHostInfo(nullptr, &here, nullptr);
  return neighbors == job.size() ? "nbrhd" : here == job.size() ? "host" : "remote";
}

}  // namespace

int run_tune(Job& job, const std::string& operation, const std::vector<size_t>& sizes,
             double row_ns) {
  if (job.is_first()) fmt::print("locality {}\n", locality(job));
  memset(job.owner_address(job.rank()), 0, job.segment_bytes());
  for (const size_t bytes : sizes)
    if (bytes <= job.segment_bytes() / 2) measure(job, operation, bytes, row_ns);
  return 0;
}

}  // namespace causeway::bench
