// The cost of a rank among many: the start, a barrier, first contact of all with all, memory and
// descriptors before and after it. A line a column, which the driver puts into its table.
#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

#include "measure.h"
#include "session.h"

namespace causeway::bench {
namespace {

// The number of KiB behind "field:" in a file of /proc/self, or 0.
uint64_t field_kib(const char* path, const char* field) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path, "r"), &fclose);
  uint64_t kib = 0;
  char line[512];
  while (file && fgets(line, sizeof line, file.get()) != nullptr)
    if (strncmp(line, field, strlen(field)) == 0) sscanf(line + strlen(field), "%" SCNu64, &kib);
  return kib;
}

uint64_t open_descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), &closedir);
  uint64_t count = 0;
  while (directory && readdir(directory.get()) != nullptr) ++count;
  return count > 3 ? count - 3 : 0;  // ".", ".." and the directory's own
}

struct Holding {
  uint64_t pss, mapped, descriptors;

  // While all ranks are there: their shares of what they have in common count.
  static Holding of_this_rank(const Job& job) {
    job.sync();
    const Holding out{field_kib("/proc/self/smaps_rollup", "Pss:"),
                      field_kib("/proc/self/status", "VmSize:"), open_descriptors()};
    job.sync();
    return out;
  }
};

enum class Of { most, mean };

// Collective.
void tell(const Job& job, const char* column, Of of, uint64_t value, double unit) {
  const std::vector<uint64_t> all = job.gather(value);
  if (!job.is_first()) return;
  double sum = 0;
  for (const uint64_t one : all) sum += static_cast<double>(one);
  const double out = of == Of::most ? static_cast<double>(*std::max_element(all.begin(), all.end()))
                                    : sum / static_cast<double>(all.size());
  fmt::print("scale\t{}\t{:.6g}\n", column, out / unit);
}

void tell(const Job& job, const std::string& when, const Holding& holding) {
  tell(job, ("Pss MB" + when).c_str(), Of::mean, holding.pss, 1e6 / 1024);
  tell(job, ("mapped MB" + when).c_str(), Of::mean, holding.mapped, 1e6 / 1024);
  tell(job, ("files" + when).c_str(), Of::most, holding.descriptors, 1);
}

// A message to every other rank, and one from each.
void meet_all(const Job& job) {
  for (uint32_t i = 1; i < job.size(); ++i)
    gex_AM_RequestShort1(job.tm(), (job.rank() + i) % job.size(), kFlood, 0, 0);
  GASNET_BLOCKUNTIL(counters.floods == job.size() - 1);
}

}  // namespace

void measure_scale(Session& session) {
  const Job& job = session.job();
  const unsigned barriers = session.quick() ? 2 : 20;
  const Holding before = Holding::of_this_rank(job);
  const double barrier_ns = each_ns(barriers, [&] { job.sync(); });
  const double contact_ns = elapsed_ns([&] { meet_all(job); });
  const Holding after = Holding::of_this_rank(job);
  tell(job, "start ms", Of::most, static_cast<uint64_t>(job.init_attach_ns()), 1e6);
  tell(job, "barrier us", Of::most, static_cast<uint64_t>(barrier_ns), 1e3);
  tell(job, "contact ms", Of::most, static_cast<uint64_t>(contact_ns), 1e6);
  tell(job, "", before);
  tell(job, " met", after);
}

}  // namespace causeway::bench
