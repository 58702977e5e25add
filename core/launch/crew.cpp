#include "launch/crew.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "launch/feed.h"
#include "launch/output.h"
#include "launch/watch.h"
#include "spawn/job_words.h"

namespace causeway::launch {

namespace {

// The PMIx server library keeps more than a quarter MiB on the stack of its caller, and its threads
// get what the caller's limit was when the program started. To be called where no rank is forked
// any more: they keep the caller's limit.
void raise_stack_limit() {
  constexpr rlim_t kNeeded = 1 << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kNeeded) return;
  const rlim_t had = limit.rlim_cur;
  limit.rlim_cur = kNeeded;
  limit.rlim_max = std::max(limit.rlim_max, kNeeded);  // root may
  if (::setrlimit(RLIMIT_STACK, &limit) != 0)
    throw Error(CWY_ERR_NOMEM,
                "the limit on stacks (ulimit -s) is {} KiB, the launcher needs {}; raise it, or "
                "set it in the ranks only: causeway run ... -- sh -c 'ulimit -s {}; exec PROG'",
                had >> 10, kNeeded >> 10, had >> 10);
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return;
  if (::pthread_attr_setstacksize(&attributes, kNeeded) == 0)
    ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

}  // namespace

MutedStderr::~MutedStderr() {
  if (real_) ::dup2(real_.get(), STDERR_FILENO);
}

void MutedStderr::mute() {
  if (std::getenv("PMIX_DEBUG") != nullptr) return;
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nowhere) return;
  real_ = UniqueFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  if (real_) ::dup2(nowhere.get(), STDERR_FILENO);
}

std::string tag_of(const JobLayout& layout, uint32_t process) {
  if (process < layout.ranks) return std::to_string(process);
  return fmt::format("spare {}", process - layout.ranks);
}

Crew::Crew(Plan plan, WorkforceEvents& events, int epoll)
    : plan_(std::move(plan)), events_(events), epoll_(epoll) {}

void Crew::spawn() {
  if (!plan_.forked.empty()) {
    processes_ = std::move(plan_.forked);
    return;
  }
  spawn_ranks(processes_, plan_.layout.on_host(plan_.host), plan_.spawn, low_);
}

RankProcess* Crew::find(uint32_t process) {
  const auto found = std::ranges::find_if(
      processes_, [process](const RankProcess& p) { return p.process == process; });
  return found == processes_.end() ? nullptr : &*found;
}

void Crew::start(Output& output) {
  output_ = &output;
  for (RankProcess& process : processes_) {
    const std::string tag = tag_of(plan_.layout, process.process);
    output.add(tag, STDOUT_FILENO, std::move(process.out));
    output.add(tag, STDERR_FILENO, std::move(process.err));
  }
  start_server();
  for (RankProcess& process : processes_)
    if (process.in) feed_stdin(std::move(process.in));
}

void Crew::start_server() {
  for (RankProcess& process : processes_)
    watch_readable(epoll_, process.control.get(), kControl | process.process);
  raise_stack_limit();
  low_.release();
  bind_all();
  if (plan_.spawn.traced) panes_.open(processes_);
  server_ = std::make_unique<PmixServer>(plan_.session_path, plan_.layout, plan_.host);
  watch_readable(epoll_, server_->event_fd(), kServer);
  for (RankProcess& process : processes_) {
    std::vector<std::string> environment = plan_.environment;
    if (!plan_.spawn.programs.empty())
      for (const std::string& entry : program_of(plan_.spawn.programs, process.process).environment)
        environment.push_back(entry);
    for (std::string& entry : server_->client_environment(process.process))
      environment.push_back(std::move(entry));
    environment.push_back("CAUSEWAY_SESSION_DIR=" + plan_.session_path);
    environment.push_back(fmt::format("{}={}", kJobVariable, plan_.layout.words()));
    send_environment(process, environment);
    events_.on_started(process.process, process.pid);
  }
}

// While they wait for their environment.
void Crew::bind_all() {
  if (plan_.binding.to.empty() && !plan_.binding.display) return;
  const std::vector<std::string> places = bind_processes(processes_, plan_.binding);
  constexpr size_t kInALine = 4;  // a relay may say a hundred lines
  std::string line;
  for (size_t i = 0; plan_.binding.display && i < places.size(); ++i) {
    const uint32_t process = processes_[i].process;
    line += fmt::format("{}rank {}", line.empty() ? "" : "; ", tag_of(plan_.layout, process));
    if (!plan_.layout.hosts.empty()) line += " on " + plan_.layout.hosts[plan_.host];
    if (plan_.spawn.programs.size() > 1)
      line += ", " + program_of(plan_.spawn.programs, process).command[0];
    line += ": processors " + places[i];
    if ((i + 1) % kInALine == 0 || i + 1 == places.size())
      events_.on_remark(std::exchange(line, {}));
  }
}

void Crew::dispatch(uint64_t tag) {
  if ((tag & kTagMask) == kServer) return take_reports();
  RankProcess* process = find(static_cast<uint32_t>(tag));
  if ((tag & kTagMask) == kControl && process != nullptr) on_control(*process);
}

void Crew::take_reports() {
  for (PmixReport& report : server_->take_reports()) events_.on_report(report);
}

void Crew::on_control(RankProcess& process) {
  if (!process.control) return;
  const std::optional<int> failure = exec_failure(process);
  // Either way nothing more comes: a successful exec closed the process's end.
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, process.control.get(), nullptr);
  process.control.reset();
  if (failure) events_.on_exec_failure(process.process, *failure);
}

void Crew::on_children() {
  std::vector<std::pair<uint32_t, int>> ended;
  int wait_status = 0;
  pid_t pid;
  while ((pid = ::waitpid(-1, &wait_status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
    for (RankProcess& process : processes_) {
      if (process.pid != pid || !process.running) continue;
      if (WIFSTOPPED(wait_status) || WIFCONTINUED(wait_status)) {
        events_.on_stopped(process.process, WIFSTOPPED(wait_status));
        continue;
      }
      on_control(process);
      // Its group may have members left; the process itself is reaped, so its id is free.
      process.running = false;
      ended.emplace_back(process.process, wait_status);
    }
  }
  // Reports of the processes to the server come first. They are taken after the last process has
  // been reaped, which has said everything by then.
  if (server_) take_reports();
  for (const auto& [process, status] : ended) events_.on_ended(process, status);
}

void Crew::signal(uint32_t process, int signal) {
  // A process that gdb traces is not reaped before gdb has let go of it.
  if (signal == SIGKILL) panes_.close();
  if (const RankProcess* found = find(process)) found->send_signal(signal);
}

void Crew::announce(const Announcement& what) {
  server_->announce(what);
}

void Crew::retag(uint32_t process, const std::string& tag) {
  if (output_ != nullptr) output_->retag(tag_of(plan_.layout, process), tag);
}

// Only the kernel could end them now.
void Crew::give_up(double) {
  for (RankProcess& process : processes_) {
    if (!std::exchange(process.running, false)) continue;
    events_.on_ended(process.process, SIGKILL);
  }
}

bool Crew::quiet() const {
  return std::ranges::none_of(processes_,
                              [](const RankProcess& process) { return process.running; });
}

}  // namespace causeway::launch
