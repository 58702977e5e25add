#include "spawn/rank_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "spawn/pipes.h"

namespace causeway {
namespace {

[[noreturn]] void throw_errno(const char* what) {
  throw Error(CWY_ERR_NOMEM, "cannot {}: {}", what, shortage(errno));
}

bool read_fully(int fd, void* to, size_t size) {
  char* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::recv(fd, at, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// The variables stay in the block: between fork and exec, every page that is written first is
// copied.
bool take_environment(int control) {
  uint32_t size = 0;
  if (!read_fully(control, &size, sizeof size)) return false;
  char* const block = static_cast<char*>(std::malloc(size));
  if (block == nullptr || !read_fully(control, block, size)) return false;
  drop_outer_pmix_variables();
  ::unsetenv("CAUSEWAY_RANKS");
  for (char* entry = block; entry < block + size; entry += std::strlen(entry) + 1) ::putenv(entry);
  return true;
}

void reset_signals(const sigset_t& mask) {
  // A shell starts background jobs with these ignored; a rank has to hear the launcher. Handlers
  // that a forking program has installed stay.
  for (const int signal : {SIGINT, SIGQUIT}) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_IGN) ::signal(signal, SIG_DFL);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

[[noreturn]] void execute(const Program& program, int control) {
  const std::vector<char*> argv = pointers_to(program.command);
  int failure = 0;
  if (!program.directory.empty() && ::chdir(program.directory.c_str()) != 0) failure = -errno;
  if (failure == 0) {
    ::execvp(argv[0], argv.data());
    failure = errno;
  }
  write_fully(control, &failure, sizeof failure);
  ::_exit(failure == ENOENT ? 127 : 126);
}

// The keeper's own: standard streams, epoll sets, signals, sinks, a relay's connection.
constexpr size_t kOwnDescriptors = 32;
// Those of them that a keeper which is executed opens behind the reserve of the one that forked.
constexpr size_t kOpenedLater = 16;

struct ChildEnds {
  UniqueFd in, out, err, control;
};

void become_rank(ChildEnds ends, pid_t launcher, uint32_t process, const SpawnPlan& plan) {
  // The launcher may have died between fork and here: then nobody would send the signal.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(1);
  if (plan.traced) ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  ::setpgid(0, 0);
  ::dup2(ends.in.get(), STDIN_FILENO);
  ::dup2(ends.out.get(), STDOUT_FILENO);
  ::dup2(ends.err.get(), STDERR_FILENO);
  ends.in.reset();
  ends.out.reset();
  ends.err.reset();
  const bool go = take_environment(ends.control.get());
  if (!go) ::_exit(1);
  ::setrlimit(RLIMIT_NOFILE, &plan.descriptor_limit);
  reset_signals(plan.signal_mask);
  if (!plan.programs.empty()) execute(program_of(plan.programs, process), ends.control.get());
}

// True in the rank.
bool spawn_rank(RankProcess& self, uint32_t process, const SpawnPlan& plan) {
  SocketPair control = make_sockets();
  self.process = process;
  self.control = std::move(control.mine);
  ChildEnds ends;
  ends.control = std::move(control.theirs);
  Pipe out = make_pipe(), err = make_pipe();
  self.out = std::move(out.read_end);
  self.err = std::move(err.read_end);
  ends.out = std::move(out.write_end);
  ends.err = std::move(err.write_end);
  if (plan.stdin_process == process) {
    Pipe in = make_pipe();
    self.in = std::move(in.write_end);
    ends.in = std::move(in.read_end);
  } else {
    ends.in = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!ends.in) throw_errno("open /dev/null");
  }
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("start a process");
  if (pid == 0) {
    self.control.reset();
    self.out.reset();
    self.err.reset();
    self.in.reset();
    become_rank(std::move(ends), launcher, process, plan);
    return true;
  }
  self.pid = pid;
  self.running = true;
  ::setpgid(pid, pid);  // as in the child: whoever comes first
  return false;
}

}  // namespace

const Program& program_of(const std::vector<Program>& programs, uint32_t process) {
  size_t i = 0;
  for (; i + 1 < programs.size() && process >= programs[i].ranks; ++i) process -= programs[i].ranks;
  return programs[i];
}

bool spawn_ranks(std::vector<RankProcess>& ranks, const std::vector<uint32_t>& processes,
                 SpawnPlan& plan, LowDescriptors& low) {
  ::getrlimit(RLIMIT_NOFILE, &plan.descriptor_limit);
  raise_descriptor_limit();
  demand_descriptors(processes.size(), kOwnDescriptors);
  low.reserve(plan.programs.empty() ? kOpenedLater : 0);
  ranks.resize(processes.size());
  for (size_t i = 0; i < processes.size(); ++i) {
    try {
      if (spawn_rank(ranks[i], processes[i], plan)) return true;
    } catch (const Error& e) {
      throw Error(e.status(), "process {} of {} on this host: {}", i + 1, processes.size(),
                  e.text());
    }
  }
  return false;
}

bool send_environment(const RankProcess& rank, const std::vector<std::string>& environment) {
  std::string block;
  for (const std::string& entry : environment) block.append(entry.c_str(), entry.size() + 1);
  const uint32_t size = static_cast<uint32_t>(block.size());
  return write_fully(rank.control.get(), &size, sizeof size) &&
         write_fully(rank.control.get(), block.data(), block.size());
}

std::optional<int> exec_failure(const RankProcess& rank) {
  int failure = 0;
  const ssize_t n = ::recv(rank.control.get(), &failure, sizeof failure, MSG_DONTWAIT);
  if (n == static_cast<ssize_t>(sizeof failure)) return failure;
  return std::nullopt;
}

}  // namespace causeway
