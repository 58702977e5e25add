#include "mpi.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "../client/measure.h"
#include "capture.h"
#include "launch/find_program.h"

namespace causeway::bench {
namespace {

namespace fs = std::filesystem;

struct Library {
  const char *name, *compiler, *launcher;
  bool shmem = false;
};
// By the names under which Debian lets several MPI libraries stand beside each other.
constexpr Library kLibraries[] = {{"openmpi", "mpicc.openmpi", "mpirun.openmpi"},
                                  {"mpich", "mpicc.mpich", "mpiexec.mpich"},
                                  {"oshmem", "oshcc", "oshrun", true}};

// How that library's launcher is told; nothing binds ranks, the program does.
std::vector<std::string> launch(const Library& library, const MpiSides::Job& job,
                                const std::string& launcher) {
  std::vector<std::string> words{launcher, "-n", std::to_string(job.ranks)};
  if (std::string_view(library.name) == "mpich") {
    words.insert(words.end(), {"-bind-to", "none"});
    // Debian's MPICH communicates by UCX; without neighbours it uses no shared memory of its own.
    if (job.tcp)
      words.insert(words.end(),
                   {"-genv", "UCX_TLS", "tcp,self", "-genv", "MPIR_CVAR_NOLOCAL", "1"});
    return words;
  }
  words.insert(words.end(), {"--bind-to", "none", "--use-hwthread-cpus"});
  if (geteuid() == 0) words.push_back("--allow-run-as-root");
  if (job.ranks > std::thread::hardware_concurrency()) words.push_back("--oversubscribe");
  if (library.shmem) {
    // It communicates by UCX, and refuses what is not an adapter unless it is told otherwise.
    const std::string tls = job.tcp ? "UCX_TLS=tcp,self" : "UCX_TLS=shm,self";
    words.insert(words.end(), {"-x", tls, "--mca", "opal_common_ucx_tls", "any", "--mca",
                               "opal_common_ucx_devices", "any", "--mca", "spml", "ucx"});
  } else if (job.tcp) {
    words.insert(words.end(), {"--mca", "pml", "ob1", "--mca", "btl", "tcp,self"});
    // Windows of neighbours would be shared memory all the same.
    if (job.one_sided) words.insert(words.end(), {"--mca", "osc", "pt2pt"});
  }
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

MpiSides::MpiSides(const Job& job, const std::string& tool, std::vector<std::string>& notes)
    : one_sided_(job.one_sided) {
  const fs::path source = fs::path(tool).parent_path().parent_path() / CAUSEWAY_DATADIR /
                          "causeway/bench" /
                          (job.sweep       ? "sweep.c"
                           : job.one_sided ? "one_sided.c"
                                           : "mpi_collectives.c");
  std::string made = (fs::temp_directory_path() / "causeway-bench-XXXXXX").string();
  if (mkdtemp(made.data()) == nullptr) {
    notes.push_back(fmt::format("no MPI library is measured: {} cannot be made", made));
    return;
  }
  directory_ = made;
  keep_directory();
  for (const Library& library : kLibraries) {
    if (library.shmem && (!job.one_sided || job.sweep)) continue;
    if (job.tcp && !job.one_sided && std::string_view(library.name) == "mpich") {
      notes.push_back("mpich is left out over tcp");
      continue;
    }
    const auto compiler = launch::find_program(library.compiler),
               launcher = launch::find_program(library.launcher);
    if (!compiler || !launcher) {
      notes.push_back(fmt::format("{} is left out: {} is not installed", library.name,
                                  compiler ? library.launcher : library.compiler));
      continue;
    }
    const std::string program = fmt::format("{}/{}", directory_, library.name);
    std::vector<std::string> compile{*compiler, "-O2", "-w", "-o", program, source.string()};
    if (library.shmem) compile.push_back("-DWITH_SHMEM");
    if (run_captured(compile).status != 0) {
      notes.push_back(fmt::format("{} is left out: {} cannot compile {}", library.name,
                                  library.compiler, source.string()));
      continue;
    }
    // A library that hangs must not keep the others' rows from being printed.
    std::vector<std::string> command = launch(library, job, *launcher);
    command.insert(command.begin(), {"/usr/bin/timeout", "-k", "5", job.sweep ? "300" : "60"});
    MpiSide side{library.name, std::move(command), {}};
    side.command.insert(side.command.end(),
                        {program, job.quick ? "5" : "101", job.quick ? "20000" : "300000", "1"});
    side.command.insert(side.command.end(), job.rows.begin(), job.rows.end());
    sides_.push_back(std::move(side));
  }
}

// A process that removes the directory when this one has gone, whatever ended it.
void MpiSides::keep_directory() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  cleaner_ = fork();
  if (cleaner_ == 0) {
    setsid();  // no signal of a terminal's ends it
    close(ends[1]);
    char none = 0;
    while (read(ends[0], &none, 1) < 0 && errno == EINTR) {
    }
    execl("/bin/rm", "rm", "-rf", "--", directory_.c_str(), nullptr);
    _exit(1);
  }
  close(ends[0]);
  kept_ = ends[1];
}

MpiSides::~MpiSides() {
  if (kept_ >= 0) close(kept_);
  if (cleaner_ > 0) {
    waitpid(cleaner_, nullptr, 0);
    return;
  }
  std::error_code ignored;
  if (!directory_.empty()) fs::remove_all(directory_, ignored);
}

}  // namespace causeway::bench
