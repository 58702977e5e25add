#include "tune_launch.h"

#include <fmt/ranges.h>

#include "capture.h"

namespace causeway::bench {

TuneResult launch_tune(const TunedJob& job, const std::string& rules, const std::string& operation,
                       const std::vector<uint64_t>& sizes, double row_ns, double patience_s) {
  std::vector<std::string> words{job.tool,  "run",  "-n",        std::to_string(job.ranks),
                                 "--stdin", "none", "--timeout", fmt::format("{:.0f}", patience_s)};
  if (!job.config.empty()) words.insert(words.end(), {"--config", job.config});
  for (const std::string& set : job.sets) words.insert(words.end(), {"--set", set});
  if (!rules.empty()) words.insert(words.end(), {"--set", "collectives.rules=" + rules});
  words.insert(words.end(), {"--", job.program, "--launch", "tune", "--operation", operation,
                             "--sizes", fmt::format("{}", fmt::join(sizes, ",")), "--row-ns",
                             fmt::format("{:.0f}", row_ns)});
  const Captured captured = run_captured(words);
  TuneResult result;
  result.status = captured.status;
  for (const std::string& line : captured.lines) {
    char measured[32], algorithm[128], word[32];
    unsigned long long bytes = 0;
    double ns = 0;
    if (sscanf(line.c_str(), "locality %31s", word) == 1) result.locality = word;
    if (sscanf(line.c_str(), "tuned %31s %llu %127s %lf", measured, &bytes, algorithm, &ns) == 4)
      result.timings.push_back({measured, bytes, "", algorithm, ns});
  }
  return result;
}

}  // namespace causeway::bench
