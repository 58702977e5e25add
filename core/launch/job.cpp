#include "launch/job.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "diag/error.h"
#include "launch/clock.h"
#include "launch/process_tree.h"
#include "launch/stdin_feed.h"

namespace causeway::launch {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// A rank that fails because its peer died must not be blamed in the peer's place.
constexpr double kBlameDelay = 0.02;
// The server library asks about a fence only when a rank has left it out; from the rank's closed
// socket to its end as a process may take this long.
constexpr double kFenceDelay = 0.005;
// Ranks that leave together with a status, as in a collective exit, are given this long.
constexpr double kTogether = 0.25;
// A rank that returned from main without saying goodbye may be one of a program that ends.
constexpr double kEarlyExitGrace = 1.0;

enum Tag : uint64_t {
  kFront = 1ull << 32,
  kChild = 2ull << 32,
  kServer = 3ull << 32,
  kSinkWake = 4ull << 32,
  kControl = 5ull << 32,
  kOutput = 6ull << 32,
};

// Four descriptors a rank, and PMIx's socket.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace

Job::Job(const LaunchOptions& options, const SessionDir& session, UniqueFd front_fd,
         const sigset_t& caller_mask)
    : options_(options),
      session_(session),
      front_(std::move(front_fd)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      sink_wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      time_limit_(options.timeout_s ? now_s() + *options.timeout_s : kNever),
      kill_at_(kNever),
      blame_at_(kNever),
      leave_at_(kNever),
      early_at_(kNever) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  child_signals_ = UniqueFd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  plan_.command = options.command;
  plan_.stdin_rank = options.stdin_rank;
  plan_.signal_mask = caller_mask;
}

Job::~Job() {
  output_.reset();  // writes to real_stderr_
  if (real_stderr_) ::dup2(real_stderr_.get(), STDERR_FILENO);
}

// The library prints a line of its own for every message to a rank that has just died; what users
// need to know is said once, by the job. PMIX_DEBUG brings the library's lines back.
void Job::mute_library() {
  if (std::getenv("PMIX_DEBUG") != nullptr) return;
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nowhere) return;
  real_stderr_ = UniqueFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  if (real_stderr_) ::dup2(nowhere.get(), STDERR_FILENO);
}

bool Job::spawn() {
  ::getrlimit(RLIMIT_NOFILE, &plan_.descriptor_limit);
  raise_descriptor_limit();
  ranks_.resize(options_.ranks);
  for (uint32_t rank = 0; rank < options_.ranks; ++rank) {
    if (spawn_rank(ranks_[rank], rank, plan_)) return true;
  }
  return false;
}

void Job::watch(int fd, uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void Job::start_server() {
  server_ = std::make_unique<PmixServer>(session_.path(), session_.job_id(), options_.ranks);
  watch(server_->event_fd(), kServer);
  for (RankProcess& rank : ranks_) {
    std::vector<std::string> environment = server_->client_environment(rank.rank);
    for (const auto& [name, value] : options_.environment)
      environment.push_back(name + "=" + value);
    environment.push_back("CAUSEWAY_SESSION_DIR=" + session_.path());
    send_environment(rank, environment);
  }
}

void Job::start_stdin() {
  if (!options_.stdin_rank || *options_.stdin_rank >= ranks_.size()) return;
  feed_stdin(std::move(ranks_[*options_.stdin_rank].in));
}

int Job::supervise() {
  ::signal(SIGPIPE, SIG_IGN);
  mute_library();
  Output::Options how{options_.tag_output, options_.ranks == 1 && !options_.tag_output};
  if (real_stderr_) how.stderr_fd = real_stderr_.get();
  output_ = std::make_unique<Output>(how, epoll_.get(), kOutput, sink_wake_.get());
  watch(front_.get(), kFront);
  watch(child_signals_.get(), kChild);
  watch(sink_wake_.get(), kSinkWake);
  for (RankProcess& rank : ranks_) {
    watch(rank.control.get(), kControl | rank.rank);
    output_->add(rank.rank, STDOUT_FILENO, std::move(rank.out));
    output_->add(rank.rank, STDERR_FILENO, std::move(rank.err));
  }
  start_server();
  start_stdin();
  while (any_running() && !front_gone_) {
    const double wait = next_deadline() - now_s();
    // Rounded up, so that a deadline has passed when the call returns for it.
    const int ms = std::isinf(wait) ? -1 : static_cast<int>(std::clamp(wait, 0.0, 1e5) * 1e3) + 1;
    epoll_event events[64];
    const int count = ::epoll_wait(epoll_.get(), events, 64, ms);
    for (int i = 0; i < count; ++i) dispatch(events[i].data.u64);
    on_timers(now_s());
  }
  if (!kill_descendants({}, 2.0))
    output_->say("causeway run: some processes of the job cannot be killed (see ps -ef)");
  if (!front_gone_) output_->finish();
  return verdict_.status();
}

void Job::dispatch(uint64_t tag) {
  const uint32_t index = static_cast<uint32_t>(tag);
  switch (tag & ~0xffffffffull) {
    case kFront:
      return on_front();
    case kChild:
      return on_child();
    case kServer:
      return on_server();
    case kControl:
      return on_control(index);
    case kOutput:
      return output_->readable(index);
    case kSinkWake: {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = ::read(sink_wake_.get(), &count, sizeof count);
      output_->woken();
      return check_stdout();
    }
  }
}

// SIGTSTP and SIGCONT are passed on; any other signal asks the job to end, and a second one asks
// it to end at once.
void Job::on_front() {
  unsigned char signal = 0;
  const ssize_t n = ::read(front_.get(), &signal, 1);
  if (n < 0) return;
  if (n == 0) {
    front_gone_ = true;
    verdict_.set_final(128 + SIGKILL);
    return;
  }
  if (signal == SIGTSTP || signal == SIGCONT) {
    for (const RankProcess& rank : ranks_) rank.send_signal(signal);
    return;
  }
  verdict_.set_final(128 + signal);
  if (ending_) return kill_all();
  begin_end("");
}

void Job::on_server() {
  for (PmixReport& report : server_->take_reports()) on_report(report);
}

void Job::on_report(PmixReport& report) {
  if (report.kind == PmixReport::Kind::fence) {
    fences_.push_back({now_s() + kFenceDelay, std::move(report.answer)});
    return;
  }
  if (report.rank >= ranks_.size()) return;
  RankProcess& rank = ranks_[report.rank];
  switch (report.kind) {
    case PmixReport::Kind::connected:
      rank.connected = true;
      any_connected_ = true;
      return check_early_exits(now_s());
    case PmixReport::Kind::finalized:
      rank.finalized = true;
      return;
    case PmixReport::Kind::aborted:
      if (ending_) return;
      verdict_.set_final(report.status);
      server_->announce_death(rank.rank, "aborted the job");
      return begin_end(
          fmt::format("rank {} ended the job with status {}{}{}", name_of(rank),
                      report.status & 0xff, report.line.empty() ? "" : ": ", report.line),
          &rank);
    case PmixReport::Kind::fence:
      return;
  }
}

// A fence that every rank has joined finds all of them running and none of them finalized.
void Job::answer_fences(double now) {
  const bool complete = std::all_of(ranks_.begin(), ranks_.end(), [](const RankProcess& rank) {
    return rank.running && !rank.finalized;
  });
  std::vector<Fence> waiting;
  for (Fence& fence : fences_) {
    if (complete && fence.due > now) {
      waiting.push_back(std::move(fence));
    } else {
      fence.answer(complete);
    }
  }
  fences_ = std::move(waiting);
}

void Job::on_control(uint32_t index) {
  RankProcess& rank = ranks_[index];
  const std::optional<int> failure = exec_failure(rank);
  // Either way nothing more comes: a successful exec closed the rank's end.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, rank.control.get(), nullptr);
  rank.control.reset();
  if (!failure || ending_) return;
  verdict_.set_final(*failure == ENOENT ? 127 : 126);
  begin_end(fmt::format("cannot execute '{}': {}", options_.command[0], std::strerror(*failure)));
  kill_all();
}

void Job::on_child() {
  signalfd_siginfo info;
  while (::read(child_signals_.get(), &info, sizeof info) > 0) {
  }
  // What the ranks told the server before they ended comes first.
  on_server();
  int wait_status = 0;
  pid_t pid;
  while ((pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0) {
    for (RankProcess& rank : ranks_) {
      if (rank.pid == pid && rank.running) on_rank_end(rank, wait_status);
    }
  }
}

void Job::on_rank_end(RankProcess& rank, int wait_status) {
  if (rank.control) on_control(rank.rank);
  // The rank's group may have members left; the rank itself is reaped, so its id is free.
  rank.running = false;
  rank.wait_status = wait_status;
  rank.ended_at = now_s();
  if (!ending_) judge(rank);
}

// What one rank's end means for the job.
void Job::judge(RankProcess& rank) {
  const std::string how = describe_end(rank.wait_status);
  const bool signalled = WIFSIGNALED(rank.wait_status);
  const int status = signalled ? 0 : WEXITSTATUS(rank.wait_status);
  if (!signalled && status == 0) {
    if (!rank.finalized) return check_early_exits(now_s());
    if (leave_at_ == kNever) {
      leave_at_ = now_s() + options_.exit_grace_s;
      left_first_ = rank.rank;
    }
    return;
  }
  if (!signalled && rank.finalized) {
    verdict_.saw_status(status);
    if (left_status_ == 0) {
      left_status_ = status;
      left_first_ = rank.rank;
      leave_at_ = now_s() + kTogether;
    }
    return;
  }
  server_->announce_death(rank.rank, how);
  const std::string line = fmt::format("rank {} {}", name_of(rank), how);
  if (signalled) {
    verdict_.saw_signal(WTERMSIG(rank.wait_status));
    return begin_end(line);
  }
  verdict_.saw_status(status);
  if (blame_.empty()) {
    blame_ = line;
    blame_at_ = now_s() + kBlameDelay;
  }
}

// A program that uses PMIx and whose rank ended with status 0, but without goodbye.
void Job::check_early_exits(double now) {
  if (!any_connected_ || early_at_ != kNever) return;
  for (const RankProcess& rank : ranks_) {
    if (rank.pid > 0 && !rank.running && !rank.finalized && rank.wait_status == 0) {
      early_at_ = now + kEarlyExitGrace;
      return;
    }
  }
}

const RankProcess* Job::early_rank() const {
  if (early_at_ == kNever) return nullptr;
  const auto early = std::find_if(ranks_.begin(), ranks_.end(), [](const RankProcess& rank) {
    return !rank.running && !rank.finalized && rank.wait_status == 0;
  });
  return early == ranks_.end() ? nullptr : &*early;
}

std::string Job::early_exit_line() const {
  return fmt::format("rank {} exited early (status 0, without gasnet_exit)",
                     name_of(*early_rank()));
}

double Job::next_deadline() const {
  const double fence = fences_.empty() ? kNever : fences_.front().due;
  if (ending_) return std::min({kill_at_, output_->deadline(), fence});
  return std::min({fence, time_limit_, blame_at_, leave_at_, early_at_, output_->deadline()});
}

void Job::on_timers(double now) {
  if (output_->deadline() <= now) output_->woken();
  if (!fences_.empty()) answer_fences(now);
  if (ending_) {
    if (kill_at_ <= now) kill_all();
    return;
  }
  if (!any_running()) {
    // All have ended by themselves; what is still to be said is who failed.
    // Ranks that left because they missed one that had left without a word did not say so.
    if (blame_at_ == kNever && left_status_ != 0 && early_rank() != nullptr)
      blame_ = early_exit_line() + fmt::format("; the others left with status {}", left_status_);
    if (!blame_.empty()) output_->say("causeway run: " + blame_);
    blame_.clear();
    left_status_ = 0;
    blame_at_ = kNever;
    return;
  }
  if (blame_at_ <= now) return begin_end(blame_);
  if (time_limit_ <= now) {
    verdict_.set_final(124);
    return begin_end(fmt::format("the time limit of {:g} s has passed", *options_.timeout_s));
  }
  if (leave_at_ <= now) {
    const std::string others = rank_list(running_ranks());
    if (left_status_ != 0 && early_rank() != nullptr)
      return begin_end(fmt::format("{}; ending ranks {}", early_exit_line(), others));
    if (left_status_ != 0)
      return begin_end(fmt::format("rank {} left with status {}; ending ranks {}", left_first_,
                                   left_status_, others));
    return begin_end(fmt::format("rank {} left with gasnet_exit(0) {:.1f} s ago; ending ranks {}",
                                 left_first_, now - ranks_[left_first_].ended_at, others));
  }
  if (early_at_ <= now) {
    verdict_.saw_status(1);
    server_->announce_death(early_rank()->rank, "exited early");
    begin_end(fmt::format("{} while ranks {} go on; ending the job", early_exit_line(),
                          rank_list(running_ranks())));
  }
}

void Job::check_stdout() {
  const int failure = output_->stdout_error();
  if (failure == 0 || ending_) return;
  if (failure == EPIPE) {
    verdict_.set_final(128 + SIGPIPE);
    return begin_end("");
  }
  verdict_.set_final(1);
  begin_end(fmt::format("cannot write the ranks' output: {}", std::strerror(failure)));
}

// SIGQUIT now, SIGKILL after the grace time. `spared` is the rank that asked for it and knows.
void Job::begin_end(const std::string& line, const RankProcess* spared) {
  ending_ = true;
  kill_at_ = now_s() + options_.kill_grace_s;
  const bool names_others = line.find("; ending") != std::string::npos;
  if (!line.empty())
    output_->say(fmt::format("causeway run: {}{}", line,
                             any_running() && !names_others ? "; ending the job" : ""));
  for (const RankProcess& rank : ranks_) {
    if (&rank != spared) rank.send_signal(SIGQUIT);
    // A stopped rank hears nothing until it goes on.
    rank.send_signal(SIGCONT);
  }
}

void Job::kill_all() {
  kill_at_ = kNever;
  for (const RankProcess& rank : ranks_) rank.send_signal(SIGKILL);
}

bool Job::any_running() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const RankProcess& rank) { return rank.running; });
}

std::vector<uint32_t> Job::running_ranks() const {
  std::vector<uint32_t> running;
  for (const RankProcess& rank : ranks_) {
    if (rank.running) running.push_back(rank.rank);
  }
  return running;
}

std::string Job::name_of(const RankProcess& rank) const {
  return fmt::format("{} (pid {})", rank.rank, rank.pid);
}

}  // namespace causeway::launch
