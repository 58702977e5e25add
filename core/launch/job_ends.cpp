// What it means for a job that a rank leaves, fails or is lost: who is told, who takes its place,
// and whether the job goes on.
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "launch/job.h"

namespace causeway::launch {
namespace {

// A rank that fails because its peer died must not be blamed in the peer's place.
constexpr double kBlameDelay = 0.02;
// How long a rank's message that it has started may be under way: the rank has PMIx's answer before
// the launcher has the message.
constexpr double kStartWordTravels = 0.25;
// How long nobody may have connected before the ranks count as those of a program without the
// library.
constexpr double kSlowStart = 2.0;
constexpr const char* kBeforeStart = " before all ranks had started";
// Ranks that leave together with a status, as in a collective exit, are given this long.
constexpr double kTogether = 0.25;
// A rank that returned from main without saying goodbye may be one of a program that ends. Or its
// goodbye is still on its way: the client library waits two seconds for the answer to it, and the
// server, one thread for all ranks, may need longer on crowded cores.
double early_exit_grace(size_t processes) {
  return 1.0 + 0.02 * static_cast<double>(processes);
}

}  // namespace

// A rank has failed, by a signal or else with a status.
void Job::note_failure(int signal, int status) {
  failed_at_ = std::min(failed_at_, now_s());
  if (layout_.survives) return verdict_.saw_failure(signal, status);
  if (signal != 0) return verdict_.saw_signal(signal);
  verdict_.saw_status(status);
}

// Decides what a rank's end means for the job.
void Job::judge(Member& member) {
  const std::string how = describe_end(member.wait_status);
  const bool signalled = WIFSIGNALED(member.wait_status);
  const int status = signalled ? 0 : WEXITSTATUS(member.wait_status);
  if (!signalled && status == 0) {
    note_started(member);  // its word may have been lost with it
    member.ended_at = now_s();
    return check_early_exits();
  }
  // The others wait for a replacement that never started.
  const bool replaces_in_vain = member.epoch > 1 && !member.started;
  if (!signalled && member.said_goodbye() && !replaces_in_vain) return note_status(member, status);
  if (left_first_ && left_first_->first == member.process) left_first_.reset();
  const std::string line = fmt::format("rank {} {}", name_of(member), how);
  note_failure(signalled ? WTERMSIG(member.wait_status) : 0, status);
  if (layout_.survives) return go_on_without(member, how, line);
  announce_death(member, how);
  if (signalled) return begin_end(line);
  if (blame_.empty()) {
    blame_ = line;
    blame_at_ = now_s() + kBlameDelay;
  }
}

// A rank has come to its end: with gasnet_exit(code), or alone, when its main returned 0. It still
// answers those who are not as far. Its code counts from here on, also where a rank that it has
// told of it ends before it does.
void Job::note_leaving(Member& member, int code) {
  member.leaving = true;
  member.left_at = now_s();
  // A spare that waits leaves nothing.
  if (code > 0 && member.rank) {
    if (!ending_) verdict_.saw_status(code);
    // Others leave by its word and may end before it.
    if (!left_first_) left_first_ = {member.process, code};
  }
  // Counted from the last that left: many ranks on few cores leave one by one. Where failures are
  // survived, so is the leave of a rank: the others end when they want to.
  if (code == 0 && left_status_ == 0 && !layout_.survives) {
    leave_at_ = member.left_at + options_.exit_grace_s;
    left_last_ = member.process;
  }
  // Where failures are survived nobody is ended here: clients that miss the rank end by themselves.
  if (member.rank && (code == PmixReport::kAlone || layout_.survives)) {
    untold_.push_back(*member.rank);
    tell_departed_at_ = std::min(tell_departed_at_,
                                 member.left_at + (code == 0 ? options_.exit_grace_s : kTogether));
  }
  tell_if_all_leave();
}

// Others may stand still for want of it, and hear of it in no other way: over shared memory, or
// where they never had a connection. Not at once, and many in one word: mostly all leave.
void Job::tell_of_departed() {
  tell_departed_at_ = kNever;
  Announcement departed{};
  departed.kind = Announcement::Kind::departed;
  departed.how = fmt::format("{}", fmt::join(std::exchange(untold_, {}), ","));
  if (!all_leave_told_) workforce_->announce(departed);
}

// Nobody needs anybody any more: who waits for the others may go.
void Job::tell_if_all_leave() {
  if (all_leave_told_ || !any_rank_running()) return;
  if (std::ranges::any_of(members_, [](const Member& member) {
        return member.rank && member.running && !member.leaving;
      }))
    return;
  all_leave_told_ = true;
  Announcement all_leave{};
  all_leave.kind = Announcement::Kind::all_leave;
  workforce_->announce(all_leave);
}

// A rank that had said goodbye has ended with a status.
void Job::note_status(Member& member, int status) {
  verdict_.saw_status(status);
  failed_at_ = std::min(failed_at_, now_s());
  if (left_status_ != 0) return;
  std::tie(left_last_, left_status_) = left_first_.value_or(std::pair(member.process, status));
  if (!layout_.survives) leave_at_ = now_s() + kTogether;
}

void Job::note_started(Member& member) {
  member.started = true;
  look_who_started();
  if (all_met_ && !undecided_.empty()) decide();
}

// The message of a dead rank that it has started may be lost with it. Where all others have
// started, the dead rank had, too.
void Job::look_who_started() {
  all_met_ = all_met_ || std::ranges::all_of(members_, [](const Member& m) {
               return !m.rank || m.started || !m.running;
             });
}

// A rank that failed before all had started left the others waiting in a start that cannot be
// completed, since the server knows a replacement under another number.
void Job::end_unmet() {
  verdict_.forgive_nothing();  // a spare may have taken the place in vain
  if (!ending_) begin_end(unmet_ + kBeforeStart);
}

// Says what was lost where the job goes on. False: it has been ended.
bool Job::others_go_on(const std::string& line) {
  if (!all_met_) {
    // Before any rank has joined PMIx it is not known whether the program uses PMIx at all.
    const size_t name = any_connected_ ? line.npos : line.find(" (pid ");  // was said
    if (unmet_.empty()) unmet_ = name == line.npos ? line : line.substr(0, name) + " ended";
    if (any_connected_) {
      end_unmet();
      return false;
    }
  }
  output_->say(
      fmt::format("causeway run: {}{}", line, any_rank_running() ? "; the others go on" : ""));
  return true;
}

void Job::go_on_without(Member& member, const std::string& how, const std::string& line) {
  member.accounted = true;
  if (!all_met_) {
    if (undecided_.empty())
      decide_at_ = now_s() + (any_connected_ ? kStartWordTravels : kSlowStart);
    undecided_.push_back({&member, how, line});
    return;
  }
  go_on_or_end(member, how, line);
}

// Decides about failures that looked as if they came before all ranks had started.
void Job::decide() {
  decide_at_ = kNever;
  look_who_started();
  // A status may be another rank's death, which is heard of behind it.
  std::stable_partition(undecided_.begin(), undecided_.end(), [](const Undecided& failure) {
    return WIFSIGNALED(failure.member->wait_status);
  });
  for (const Undecided& failure : std::exchange(undecided_, {}))
    go_on_or_end(*failure.member, failure.how, failure.line);
}

void Job::go_on_or_end(Member& member, const std::string& how, const std::string& line) {
  if (ending_ || !others_go_on(line)) return;
  announce_death(member, how);
  replace(member);
}

void Job::announce_death(Member& member, const std::string& how) {
  announce(Announcement::Kind::death, member, how);
}

void Job::announce(Announcement::Kind what, const Member& member, const std::string& how) {
  if (member.rank) workforce_->announce({what, *member.rank, member.process, member.epoch, how});
}

// The first spare that waits takes the rank. Its death was announced before, so whoever hears of
// the replacement knows.
void Job::replace(Member& dead) {
  if (!any_rank_running()) return;
  const auto spare = std::ranges::find_if(members_, [](const Member& member) {
    return !member.rank && member.running && !member.finalized;
  });
  if (spare == members_.end()) return;
  verdict_.made_good();
  spare->rank = dead.rank;
  spare->epoch = dead.epoch + 1;
  if (spare->stopped) on_stopped(spare->process, true);
  workforce_->retag(spare->process, std::to_string(*spare->rank));
  announce(Announcement::Kind::replacement, *spare, "");
  output_->say(fmt::format("causeway run: spare {} is rank {} now", spare->process - layout_.ranks,
                           name_of(*spare)));
}

void Job::on_host_lost(uint32_t host, const std::string& how) {
  std::vector<Member*> lost;
  std::vector<uint32_t> ranks;
  for (Member& member : members_) {
    if (layout_.host_of[member.process] != host || !member.running) continue;
    member.running = false;
    member.accounted = true;
    member.wait_status = SIGKILL;
    lost.push_back(&member);
    if (member.rank) ranks.push_back(*member.rank);
  }
  if (lost.empty() || ending_) return;
  std::string line = fmt::format("host {} is lost: {}", layout_.hosts[host], how);
  if (!ranks.empty()) line += fmt::format("; {} failed with it", ranks_text(ranks));
  for (size_t i = 0; i < ranks.size(); ++i) note_failure(SIGKILL, 0);
  for (Member* member : lost)
    announce_death(*member, fmt::format("was lost with host {}", layout_.hosts[host]));
  if (!layout_.survives) return begin_end(line);
  if (!others_go_on(line)) return;
  for (Member* member : lost)
    if (member->rank) replace(*member);
}

// A program that uses PMIx and whose rank ended with status 0, but without goodbye.
void Job::check_early_exits() {
  early_at_ = kNever;
  if (!any_connected_) return;
  for (const Member& member : members_)
    if (member.left_early())
      early_at_ = std::min(early_at_, member.ended_at + early_exit_grace(members_.size()));
}

void Job::judge_early_exits(double now) {
  early_at_ = kNever;
  const double then = now - early_exit_grace(members_.size());
  // Otherwise the goodbye came after the end; or nobody goes on.
  for (Member* early; (early = early_member(then)) != nullptr && !staying_ranks().empty();) {
    note_failure(0, 1);
    const std::string line = early_exit_line(*early);
    if (!layout_.survives) {
      announce_death(*early, "exited early");
      const std::vector<uint32_t> staying = staying_ranks();
      return begin_end(fmt::format("{} while {} go{} on; ending the job", line, ranks_text(staying),
                                   staying.size() == 1 ? "es" : ""));
    }
    go_on_without(*early, "exited early", line);
    if (ending_) return;
  }
  if (!staying_ranks().empty()) check_early_exits();
}

Job::Member* Job::early_member(double then) {
  if (!any_connected_) return nullptr;
  const auto early = std::ranges::find_if(members_, [then](const Member& member) {
    return member.left_early() && member.ended_at <= then;
  });
  return early == members_.end() ? nullptr : &*early;
}

// For want of a rank that left without a word before `then` others may have failed. Named once.
std::string Job::early_cause(double then) {
  Member* const early = early_member(then);
  if (early == nullptr) return "";
  early->accounted = true;
  return early_exit_line(*early);
}

std::string Job::with_early_cause(const std::string& line) {
  const std::string early = failed_at_ == kNever ? "" : early_cause(failed_at_);
  return early + (early.empty() || line.empty() ? "" : "; ") + line;
}

std::string Job::early_exit_line(const Member& early) const {
  return fmt::format("rank {} exited early (status 0, not by gasnet_exit() or gaspi_proc_term())",
                     name_of(early));
}

}  // namespace causeway::launch
