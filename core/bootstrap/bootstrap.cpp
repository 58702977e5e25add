#include "bootstrap/bootstrap.h"

#include <sys/auxv.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "bootstrap/fork_ranks.h"
#include "bootstrap/own_start.h"
#include "bootstrap/pmix_bootstrap.h"
#include "config/config.h"
#include "config/identity.h"
#include "spawn/job_id.h"
#include "spawn/job_words.h"

namespace causeway {
namespace {

bool pmix_server_named() {
  if (::secure_getenv("PMIX_NAMESPACE") == nullptr || ::secure_getenv("PMIX_RANK") == nullptr)
    return false;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "PMIX_SERVER_URI", 15) == 0) return true;
  return false;
}

// Programs of identity smp have a variable of their own: existing scripts start them with it.
const char* variable_of_ranks() {
  if (::secure_getenv("CAUSEWAY_RANKS") != nullptr) return "CAUSEWAY_RANKS";
  const bool smp = identity() != nullptr && identity()->conduit == "smp";
  return smp && ::secure_getenv("GASNET_PSHM_NODES") != nullptr ? "GASNET_PSHM_NODES" : nullptr;
}

std::optional<uint32_t> ranks_to_fork() {
  const char* variable = variable_of_ranks();
  const char* text = variable == nullptr ? nullptr : ::secure_getenv(variable);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 ||
      value > static_cast<long>(kMostProcesses))
    throw Error(CWY_ERR_INVALID, "{}='{}' is not a number of ranks: expected 1 to {}, or unset it",
                variable, text, kMostProcesses);
  return static_cast<uint32_t>(value);
}

// A launcher that started this process as one of several, recognised by what it sets per task.
struct ForeignLauncher {
  const char* variable;  // present in a task of that launcher
  const char* size;      // where it says how many tasks there are; nullptr: presence is enough
  const char* name;
  const char* advice;
};
constexpr ForeignLauncher kForeign[] = {
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "Slurm's srun",
     "use `srun --mpi=pmix` (see `srun --mpi=list`)"},
    {"SLURM_PROCID", "SLURM_NTASKS", "Slurm's srun",
     "use `srun --mpi=pmix` (see `srun --mpi=list`)"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun",
     "use an mpirun that is built with PMIx (Open MPI 4 or newer)"},
    {"PMI_RANK", "PMI_SIZE", "a PMI-1 launcher (MPICH's hydra, Intel MPI)",
     "use `causeway run`, `mpirun` of Open MPI or `prterun`"},
    {"ALPS_APP_PE", nullptr, "ALPS's aprun", "use a launcher that offers PMIx"},
    {"PALS_RANKID", nullptr, "PALS's mpiexec", "use `mpiexec --pmi=pmix`"},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "Flux", "use `flux run -o pmi=pmix`"},
    {"PMIX_RANK", nullptr, "a PMIx launcher whose server's address is missing",
     "start the program again through that launcher, or unset the PMIX_ variables"},
};

// A step of one task is as good as no launcher: `srun -n1 prog`, or a batch script's shell.
bool several_tasks(const ForeignLauncher& launcher) {
  if (::secure_getenv(launcher.variable) == nullptr) return false;
  if (launcher.size == nullptr) return true;
  const char* size = ::secure_getenv(launcher.size);
  if (size == nullptr) return false;
  return std::strtol(size, nullptr, 10) != 1;
}

// In a Slurm batch script SLURM_NTASKS counts the allocation, and this process is the only one.
bool in_batch_script(const ForeignLauncher& launcher) {
  const char* step = ::secure_getenv("SLURM_STEP_ID");
  return std::strcmp(launcher.variable, "SLURM_PROCID") == 0 &&
         (step == nullptr || std::strcmp(step, "4294967291") == 0);
}

void refuse_foreign_launcher() {
  for (const ForeignLauncher& launcher : kForeign) {
    if (!several_tasks(launcher) || in_batch_script(launcher)) continue;
    throw Error(CWY_ERR_UNREACHABLE,
                "this process was started by {} ({}={}), but without a PMIx server: {}",
                launcher.name, launcher.variable, ::secure_getenv(launcher.variable),
                launcher.advice);
  }
}

// A set-id program believes no variable. As one rank of several it would be a job of its own, and
// compute something else without a word.
void refuse_set_id() {
  if (::getauxval(AT_SECURE) == 0) return;
  for (const char* variable : {"PMIX_NAMESPACE", "CAUSEWAY_RANKS"})
    if (std::getenv(variable) != nullptr)
      throw Error(
          CWY_ERR_INVALID,
          "this program is set-id, so it believes no variable, but {} makes it one of several "
          "ranks: start a copy without the bit, or one rank",
          variable);
}

// A program started without any launcher is a job of one rank.
class SingletonBootstrap final : public Bootstrap {
 public:
  uint32_t rank() const override { return 0; }
  uint32_t size() const override { return 1; }
  const std::string& job_id() const override { return job_id_; }
  const std::string& session_dir() const override { return no_directory_; }
  bool own_launcher() const override { return false; }
  std::vector<uint32_t> local_ranks() const override { return {0}; }
  std::string job_key(uint64_t) override { return new_secret(); }
  CardTable exchange(const std::string& card, uint64_t) override { return CardTable({card}); }
  void fence(uint64_t, Among) override {}
  void on_death(std::function<void(uint32_t, const std::string&)>) override {}
  // There is no launcher to ask: the caller ends itself.
  void abort(int status, const std::string& line) override {
    write_log_line(LogLevel::error,
                   line.empty() ? fmt::format("aborted with status {}", status) : line);
  }
  void finalize(std::optional<int>) override {}

 private:
  const std::string job_id_ = new_job_id();
  const std::string no_directory_;
};

// Returns in each of the ranks.
std::unique_ptr<Bootstrap> forked(uint32_t ranks, uint64_t timeout_ns) {
  // A mistake in the configuration is reported here once, and not by every rank.
  const Timeouts timeouts = load_config(ConfigSources::from_environment()).timeouts;
  fork_ranks(ranks, static_cast<double>(timeouts.exit_ns) * 1e-9,
             static_cast<double>(timeouts.kill_ns) * 1e-9);
  return std::make_unique<PmixBootstrap>(timeout_ns);
}

}  // namespace

std::future<std::optional<Bootstrap::Goodbye>> Bootstrap::goodbye_of(uint32_t) {
  std::promise<std::optional<Goodbye>> nobody;
  nobody.set_value(std::nullopt);
  return nobody.get_future();
}

std::string Bootstrap::card_of(uint32_t rank, uint64_t) {
  throw Error(CWY_ERR_UNSUPPORTED, "rank {}: this launcher has no cards of single ranks", rank);
}

std::future<std::optional<std::string>> Bootstrap::told(uint32_t rank, const std::string&,
                                                        uint64_t) {
  throw Error(CWY_ERR_UNSUPPORTED, "rank {}: this launcher has no texts of single ranks", rank);
}

std::unique_ptr<Bootstrap> make_bootstrap(uint64_t timeout_ns) {
  if (pmix_server_named()) return std::make_unique<PmixBootstrap>(timeout_ns);
  if (const std::optional<uint32_t> ranks = ranks_to_fork()) return forked(*ranks, timeout_ns);
  refuse_set_id();
  refuse_foreign_launcher();
  if (const std::optional<uint32_t> ranks = ranks_of_arguments()) {
    if (own_start_is_elsewhere() || !may_fork_ranks()) become_launcher(*ranks);
    std::unique_ptr<Bootstrap> rank = forked(*ranks, timeout_ns);
    drop_number_of_ranks();
    return rank;
  }
  return std::make_unique<SingletonBootstrap>();
}

}  // namespace causeway
