#include "mpi.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "../client/measure.h"
#include "capture.h"

namespace causeway::bench {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> in_path(const std::string& program) {
  const char* path = getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const std::string found = fmt::format("{}/{}", rest.substr(0, colon), program);
    if (access(found.c_str(), X_OK) == 0) return found;
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  return std::nullopt;
}

struct Library {
  const char *name, *compiler, *launcher;
};
// By the names under which Debian lets several MPI libraries stand beside each other.
constexpr Library kLibraries[] = {{"openmpi", "mpicc.openmpi", "mpirun.openmpi"},
                                  {"mpich", "mpicc.mpich", "mpiexec.mpich"}};

// How that library's launcher is told; nothing binds ranks, the program does.
std::vector<std::string> launch(const Library& library, const MpiSides::Job& job,
                                const std::string& launcher) {
  std::vector<std::string> words{launcher, "-n", std::to_string(job.ranks)};
  if (std::string_view(library.name) == "mpich") {
    words.insert(words.end(), {"-bind-to", "none"});
    return words;
  }
  words.insert(words.end(), {"--bind-to", "none", "--use-hwthread-cpus"});
  if (geteuid() == 0) words.push_back("--allow-run-as-root");
  if (job.ranks > std::thread::hardware_concurrency()) words.push_back("--oversubscribe");
  if (job.tcp) words.insert(words.end(), {"--mca", "pml", "ob1", "--mca", "btl", "tcp,self"});
  return words;
}

}  // namespace

void Rounds::add(const std::vector<Measured>& rows) {
  for (const Measured& row : rows) rows_[row.name].push_back(row.ours);
}

std::optional<double> Rounds::median_of(const std::string& row) const {
  const auto found = rows_.find(row);
  if (found == rows_.end()) return std::nullopt;
  return median(found->second);
}

MpiSides::MpiSides(const Job& job, const std::string& tool, std::vector<std::string>& notes) {
  const fs::path source = fs::path(tool).parent_path().parent_path() / CAUSEWAY_DATADIR /
                          "causeway/bench/mpi_collectives.c";
  std::string made = (fs::temp_directory_path() / "causeway-bench-XXXXXX").string();
  if (mkdtemp(made.data()) == nullptr) {
    notes.push_back(fmt::format("no MPI library is measured: {} cannot be made", made));
    return;
  }
  directory_ = made;
  for (const Library& library : kLibraries) {
    if (job.tcp && std::string_view(library.name) == "mpich") {
      notes.push_back("mpich is left out over tcp");
      continue;
    }
    const auto compiler = in_path(library.compiler), launcher = in_path(library.launcher);
    if (!compiler || !launcher) {
      notes.push_back(fmt::format("{} is left out: {} is not installed", library.name,
                                  compiler ? library.launcher : library.compiler));
      continue;
    }
    const std::string program = fmt::format("{}/{}", directory_, library.name);
    if (run_captured({*compiler, "-O2", "-o", program, source.string()}).status != 0) {
      notes.push_back(fmt::format("{} is left out: {} cannot compile {}", library.name,
                                  library.compiler, source.string()));
      continue;
    }
    MpiSide side{library.name, launch(library, job, *launcher), {}};
    side.command.insert(side.command.end(),
                        {program, job.quick ? "5" : "101", job.quick ? "20000" : "300000", "1"});
    sides_.push_back(std::move(side));
  }
}

MpiSides::~MpiSides() {
  std::error_code ignored;
  if (!directory_.empty()) fs::remove_all(directory_, ignored);
}

}  // namespace causeway::bench
