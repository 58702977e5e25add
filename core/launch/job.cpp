#include "launch/job.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "launch/clock.h"
#include "launch/find_program.h"
#include "launch/fleet.h"
#include "launch/process_tree.h"
#include "launch/watch.h"
#include "spawn/job_id.h"
#include "spawn/signal_block.h"

namespace causeway::launch {
namespace {

// The server library asks about a fence only when a rank has left it out; from the rank's closed
// socket to its end as a process may take this long.
constexpr double kFenceDelay = 0.005;
// From SIGKILL to the end of a process, which the kernel and a relay may need.
double death_patience(size_t processes) {
  return 3.0 + 0.01 * static_cast<double>(processes);
}

JobLayout layout_of(const LaunchOptions& options, const std::string& job_id) {
  JobLayout layout;
  layout.job_id = job_id;
  layout.job_key = new_secret();
  layout.ranks = options.ranks;
  layout.spares = options.spares;
  layout.survives = options.survives;
  for (const std::string& host : options.hosts.places) {
    const auto found = std::ranges::find(layout.hosts, host);
    layout.host_of.push_back(static_cast<uint32_t>(found - layout.hosts.begin()));
    if (found == layout.hosts.end()) layout.hosts.push_back(host);
  }
  return layout;
}

Crew::Plan crew_plan(const LaunchOptions& options, const JobLayout& layout,
                     const SessionDir& session, const sigset_t& caller_mask) {
  Crew::Plan plan;
  plan.spawn.programs = options.programs_on(0);
  plan.spawn.stdin_process = options.stdin_rank;
  plan.spawn.signal_mask = caller_mask;
  plan.spawn.traced = options.panes;
  plan.binding = options.binding;
  plan.layout = layout;
  plan.session_path = session.path();
  for (const auto& [name, value] : options.environment)
    plan.environment.push_back(name + "=" + value);
  return plan;
}

}  // namespace

Job::Job(const LaunchOptions& options, const SessionDir& session, UniqueFd front_fd,
         const sigset_t& caller_mask, std::vector<RankProcess> forked)
    : options_(options),
      layout_(layout_of(options, session.job_id())),
      front_(std::move(front_fd)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      sink_wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      time_limit_(options.timeout_s ? now_s() + *options.timeout_s : kNever) {
  demand_call(static_cast<bool>(epoll_), "epoll_create1");
  demand_call(static_cast<bool>(sink_wake_), "eventfd2");
  if (!options.forgives) verdict_.forgive_nothing();
  child_signals_ = child_signals();
  WorkforceEvents& events = *this;
  if (layout_.hosts.empty()) {
    Crew::Plan plan = crew_plan(options, layout_, session, caller_mask);
    plan.forked = std::move(forked);
    workforce_ = std::make_unique<Crew>(std::move(plan), events, epoll_.get());
  } else {
    workforce_ = std::make_unique<Fleet>(options, layout_, caller_mask, events, epoll_.get());
  }
}

void Job::spawn() {
  members_.resize(layout_.processes());
  for (uint32_t process = 0; process < members_.size(); ++process) {
    members_[process].process = process;
    if (process < layout_.ranks) members_[process].rank = process;
    members_[process].running = true;
  }
  workforce_->spawn();
}

int Job::supervise() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // its output may be a file that has reached ulimit -f
  muted_.mute();
  Output::Options how{options_.tag_output, members_.size() == 1 && !options_.tag_output};
  how.stderr_fd = muted_.real();
  how.directory = options_.output_dir;
  output_ = std::make_unique<Output>(how, epoll_.get(), kOutput, sink_wake_.get());
  watch_readable(epoll_.get(), front_.get(), kFront);
  watch_readable(epoll_.get(), child_signals_.get(), kChild);
  watch_readable(epoll_.get(), sink_wake_.get(), kSinkWake);
  workforce_->start(*output_);
  while ((any_running() || !workforce_->quiet()) && !front_gone_) {
    take_events(epoll_.get(), next_deadline(), [this](uint64_t tag) { dispatch(tag); });
    on_timers(now_s());
  }
  workforce_->dismiss();
  if (!kill_descendants({}, 2.0))
    output_->say(
        "causeway run: some processes of the job have not ended since they were killed (see ps "
        "-ef)");
  if (!front_gone_) {
    output_->finish();
    tell_lost_output();
  }
  // Its writers end when all is written, which nobody would see to any more; keep() ends them.
  if (front_gone_) static_cast<void>(output_.release());
  output_.reset();  // writes to the real stderr
  return verdict_.status();
}

void Job::dispatch(uint64_t tag) {
  switch (tag & kTagMask) {
    case kFront:
      return on_front();
    case kChild:
      discard_input(child_signals_.get());
      return workforce_->on_children();
    case kOutput:
      return output_->readable(static_cast<uint32_t>(tag));
    case kSinkWake:
      discard_input(sink_wake_.get());
      output_->woken();
      return check_stdout();
    default:
      workforce_->dispatch(tag);
  }
}

// A signal that is not only passed on asks the job to end, and a second one asks it to end at once.
void Job::on_front() {
  unsigned char signal = 0;
  const ssize_t n = ::read(front_.get(), &signal, 1);
  if (n < 0) return;
  if (n == 0) {
    front_gone_ = true;
    verdict_.set_final(128 + SIGKILL);
    return;
  }
  if (only_passed_on(signal)) {
    if (signal == SIGTSTP || signal == SIGCONT) suspended_ = signal == SIGTSTP;
    for (const Member& member : members_) workforce_->signal(member.process, signal);
    return;
  }
  verdict_.set_final(128 + signal);
  if (ending_) return kill_all();
  begin_end(fmt::format("told to end by signal {} ({})", signal, ::sigdescr_np(signal)));
}

void Job::on_started(uint32_t process, pid_t pid) {
  members_[process].pid = pid;
}

void Job::on_remark(const std::string& line) {
  output_->say("causeway run: " + line);
}

void Job::on_report(PmixReport& report) {
  if (report.kind == PmixReport::Kind::fence) {
    fences_.push_back(
        {now_s() + kFenceDelay, std::move(report.participants), std::move(report.answer)});
    return;
  }
  // Nobody else could have published it.
  if (report.kind == PmixReport::Kind::modex) return report.supply(std::nullopt);
  if (report.process >= members_.size()) return;
  Member& member = members_[report.process];
  switch (report.kind) {
    case PmixReport::Kind::connected:
      if (!std::exchange(any_connected_, true)) {
        for (Member& each : members_) each.ended_at = now_s();
        if (!undecided_.empty()) return decide();  // of ranks that never connected
      }
      if (!unmet_.empty()) return end_unmet();
      return check_early_exits();
    case PmixReport::Kind::started:
      return note_started(member);
    case PmixReport::Kind::leaving:
      return note_leaving(member, report.status);
    case PmixReport::Kind::let_go_on:
      return let_go_on(static_cast<uint32_t>(report.status));
    case PmixReport::Kind::finalized:
      member.finalized = true;
      return;
    case PmixReport::Kind::aborted:
      if (ending_) return;
      verdict_.set_final(report.status);
      announce_death(member, "aborted the job");
      return begin_end(
          fmt::format("rank {} ended the job with status {}{}{}", name_of(member),
                      report.status & 0xff, report.line.empty() ? "" : ": ", report.line),
          &member);
    default:
      return;
  }
}

// Asked by a rank that wants to end a stopped one (gaspi_proc_kill).
void Job::let_go_on(uint32_t rank) {
  for (const Member& member : members_)
    if (member.rank == rank && member.running) workforce_->signal(member.process, SIGCONT);
}

// A fence that its participants have joined finds all of them running and none of them finalized.
void Job::answer_fences(double now) {
  const auto takes_part = [](const Member& member) { return member.running && !member.finalized; };
  std::vector<Fence> waiting;
  for (Fence& fence : std::exchange(fences_, {})) {
    const bool complete = fence.participants.empty()
                              ? std::ranges::all_of(members_, takes_part)
                              : std::ranges::all_of(fence.participants, [&](uint32_t process) {
                                  return process < members_.size() && takes_part(members_[process]);
                                });
    if (complete && fence.due > now)
      waiting.push_back(std::move(fence));
    else
      fence.answer(complete, nullptr);
  }
  fences_.insert(fences_.end(), std::make_move_iterator(waiting.begin()),
                 std::make_move_iterator(waiting.end()));
}

namespace {

// The hint for a program that execvp(3) does not execute: what is there all the same.
std::string hint_of(int failure, const std::string& name, const std::string& directory) {
  const bool searched = name.find('/') == std::string::npos;
  const std::string here =
      directory.empty() || name.starts_with('/') ? name : directory + "/" + name;
  if (failure == ENOENT && searched && ::access(here.c_str(), X_OK) == 0)
    return fmt::format(" in the PATH; write ./{} for the one in the directory", name);
  const std::string path = searched ? find_program(name).value_or("") : here;
  if (failure == ENOENT && !name.empty() && ::access(path.c_str(), X_OK) == 0)
    return "; the file is there: the interpreter that it asks for is not";
  const bool folder =
      failure == EACCES && !path.empty() && ::access((path + "/.").c_str(), F_OK) == 0;
  return folder ? ": it is a directory" : "";
}

}  // namespace

void Job::on_exec_failure(uint32_t process, int failure) {
  if (ending_) return;
  verdict_.set_final(failure == ENOENT ? 127 : 126);
  const uint32_t host = layout_.hosts.empty() ? 0 : layout_.host_of[process];
  std::string where;
  if (!layout_.hosts.empty()) where = fmt::format(" on host {}", layout_.hosts[host]);
  const std::vector<Program> programs = options_.programs_on(host);
  const Program& program = program_of(programs, process);
  const bool place = failure < 0;
  const std::string& name = place ? program.directory : program.command[0];
  // The PATH that -x gives the ranks is not searched.
  const bool looks = where.empty() && std::ranges::none_of(options_.environment, [](const auto& v) {
                       return v.first == "PATH";
                     });
  std::string hint = looks ? hint_of(failure, name, program.directory) : "";
  if (!where.empty() && failure == ENOENT && !name.empty() && name.find('/') == name.npos)
    hint = fmt::format("; is it in the PATH there? write ./{} for one in the directory", name);
  begin_end(fmt::format("cannot {} '{}'{}: {}{}", place ? "go to the directory" : "execute", name,
                        where, std::strerror(std::abs(failure)), hint));
  kill_all();
}

void Job::on_start_failure(const std::string& line) {
  if (ending_) return;
  verdict_.set_final(1);
  begin_end(line);
  kill_all();
}

void Job::on_ended(uint32_t process, int wait_status) {
  Member& member = members_[process];
  if (!member.running) return;
  member.running = false;
  member.wait_status = wait_status;
  if (member.rank) tell_if_all_leave();
  if (ending_) return;
  // A spare that has not been called owes nobody anything.
  if (member.rank) judge(member);
}

void Job::on_stopped(uint32_t process, bool stopped) {
  // A debugger that attaches stops a process for a moment.
  constexpr double kMoment = 2.0;
  Member& member = members_[process];
  member.stopped = stopped;
  member.tell_stop_at = stopped && member.rank && !suspended_ ? now_s() + kMoment : kNever;
  tell_stopped_at_ = std::min(tell_stopped_at_, member.tell_stop_at);
}

// A stopped rank is not lost, and may go on: nothing else shows why the others wait.
void Job::tell_of_stopped(double now) {
  std::vector<uint32_t> ranks;
  std::string name;  // the last one's
  tell_stopped_at_ = kNever;
  for (Member& member : members_) {
    if (!member.stopped || !member.running) continue;
    if (member.tell_stop_at > now) {
      tell_stopped_at_ = std::min(tell_stopped_at_, member.tell_stop_at);
      continue;
    }
    member.tell_stop_at = kNever;
    ranks.push_back(*member.rank);
    name = fmt::format("rank {} is", name_of(member));
  }
  if (ranks.empty() || suspended_) return;
  std::ranges::sort(ranks);
  output_->say(
      fmt::format("causeway run: {} stopped by a signal; the job waits until SIGCONT lets it go on",
                  ranks.size() > 1 ? ranks_text(ranks) + " are" : name));
}

double Job::next_deadline() const {
  const double fence = fences_.empty() ? kNever : fences_.front().due;
  const double first = std::min({output_->deadline(), fence, workforce_->deadline()});
  if (ending_) return std::min({kill_at_, give_up_at_, first});
  return std::min({first, time_limit_, blame_at_, leave_at_, tell_departed_at_, early_at_,
                   decide_at_, stopped_at_, tell_stopped_at_});
}

void Job::on_timers(double now) {
  if (output_->deadline() <= now) output_->woken();
  workforce_->on_timers(now);
  if (!fences_.empty()) answer_fences(now);
  if (!ending_ && tell_stopped_at_ <= now) tell_of_stopped(now);
  // In any state: ranks may have ended and hosts not.
  if (!ending_ && time_limit_ <= now) {
    verdict_.set_final(124);
    begin_end(fmt::format("the time limit of {:g} s has passed", *options_.timeout_s));
  }
  if (ending_) {
    if (kill_at_ <= now) kill_all();
    if (give_up_at_ <= now) {
      const double patience = death_patience(members_.size());
      give_up_at_ = now + patience;
      workforce_->give_up(now - patience);
    }
    return;
  }
  if (!undecided_.empty() && (decide_at_ <= now || !any_rank_running())) decide();
  if (ending_) return;
  if (!any_rank_running()) {
    // All have ended by themselves; what is still to be said is who failed.
    // Ranks that left because they missed one that had left without a word did not say so.
    if (blame_.empty() && left_status_ != 0) {
      const std::string early = early_cause(kNever);
      blame_ =
          early.empty()
              ? fmt::format("rank {} left with status {}", *members_[left_last_].rank, left_status_)
              : fmt::format("{}; the others left with status {}", early, left_status_);
    } else {
      blame_ = with_early_cause(blame_);
    }
    if (!blame_.empty()) output_->say("causeway run: " + blame_);
    blame_.clear();
    left_status_ = 0;
    blame_at_ = kNever;
    if (any_running()) end_spares();
    return;
  }
  end_leftovers(now);
}

// Where failures are survived ranks end when they want to; a stopped one cannot, and with all
// others gone there is nobody left who would let it go on or end it.
void Job::look_for_stopped(double now) {
  const bool alone = layout_.survives && !suspended_ && running_ranks().size() < layout_.ranks &&
                     std::ranges::all_of(members_, [](const Member& m) {
                       return !m.rank || !m.running || m.stopped;
                     });
  if (!alone) stopped_at_ = kNever;
  if (alone && stopped_at_ == kNever) stopped_at_ = now + options_.exit_grace_s;
}

// Ranks that go on although others have ended.
void Job::end_leftovers(double now) {
  look_for_stopped(now);
  if (blame_at_ <= now) return begin_end(with_early_cause(blame_));
  if (tell_departed_at_ <= now) tell_of_departed();
  if (leave_at_ <= now) {
    leave_at_ = kNever;
    const std::string others = ranks_text(staying_ranks());
    // All have come to their end: they are out in a moment, or kill themselves (exit_limit).
    if (others.empty()) return;
    if (left_status_ != 0 && early_member() != nullptr)
      return begin_end(fmt::format("{}; ending {}", early_exit_line(*early_member()), others));
    if (left_status_ != 0)
      return begin_end(
          fmt::format("rank {} left with status {}; ending {}", left_last_, left_status_, others));
    return begin_end(fmt::format("rank {} left with gasnet_exit(0) {:.1f} s ago; ending {}",
                                 left_last_, now - members_[left_last_].left_at, others));
  }
  if (stopped_at_ <= now) {
    verdict_.saw_status(1);
    return begin_end(fmt::format("only ranks that are stopped are left; ending {}",
                                 ranks_text(running_ranks())));
  }
  if (early_at_ <= now) judge_early_exits(now);
}

void Job::check_stdout() {
  if (output_->stdout_error() != 0 && !ending_) begin_end(lost_output());
}

void Job::tell_lost_output() {
  if (output_->lost_files() || output_->lost_stderr()) verdict_.saw_status(1);
  if (output_->stdout_error() == 0 || told_of_lost_output_) return;
  if (const std::string line = lost_output(); !line.empty()) output_->say("causeway run: " + line);
}

std::string Job::lost_output() {
  const int failure = output_->stdout_error();
  told_of_lost_output_ = true;
  verdict_.set_final(failure == EPIPE ? 128 + SIGPIPE : 1);
  if (failure == EPIPE) return "";
  return fmt::format("cannot write the ranks' output: {}", std::strerror(failure));
}

// SIGQUIT now, SIGKILL after the grace time. `spared` is the rank that asked for it and knows.
void Job::begin_end(const std::string& line, const Member* spared) {
  ending_ = true;
  kill_at_ = now_s() + options_.kill_grace_s;
  const bool names_others = line.find("; ending") != std::string::npos;
  if (!line.empty())
    output_->say(fmt::format("causeway run: {}{}", line,
                             any_rank_running() && !names_others ? "; ending the job" : ""));
  for (const Member& member : members_) {
    // A spare that waits has nothing to put in order, and would write a core file.
    if (!member.rank) workforce_->signal(member.process, SIGKILL);
    // Nor has who is on its way out, and waits for the others.
    if (&member != spared && !member.leaving) workforce_->signal(member.process, SIGQUIT);
    // A stopped rank hears nothing until it goes on.
    workforce_->signal(member.process, SIGCONT);
  }
}

void Job::end_spares() {
  ending_ = true;
  kill_all();
}

void Job::kill_all() {
  kill_at_ = kNever;
  give_up_at_ = now_s() + death_patience(members_.size());
  for (const Member& member : members_) workforce_->signal(member.process, SIGKILL);
}

bool Job::any_running() const {
  return std::ranges::any_of(members_, &Member::running);
}

bool Job::any_rank_running() const {
  return std::ranges::any_of(members_,
                             [](const Member& member) { return member.rank && member.running; });
}

std::vector<uint32_t> Job::running_ranks(bool staying) const {
  std::vector<uint32_t> ranks;
  for (const Member& member : members_) {
    const bool goes = staying && member.leaving && !member.stopped;
    if (member.rank && member.running && !goes) ranks.push_back(*member.rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

std::string Job::name_of(const Member& member) const {
  std::string where;
  if (!layout_.hosts.empty())
    where = fmt::format(", host {}", layout_.hosts[layout_.host_of[member.process]]);
  if (options_.programs.size() > 1)
    where += ", " + program_of(options_.programs, member.process).command[0];
  if (member.epoch > 1) where += fmt::format(", epoch {}", member.epoch);
  const std::string rank =
      member.rank ? std::to_string(*member.rank) : tag_of(layout_, member.process);
  return fmt::format("{} (pid {}{})", rank, member.pid, where);
}

}  // namespace causeway::launch
