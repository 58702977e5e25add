// Job: what the keeper does. Starts the processes through a workforce, forwards input and output,
// and brings the job to its end by the rules in ends.md. One thread decides; PMIx's thread, the
// sinks' writers and the stdin reader only feed it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/crew.h"
#include "launch/keeper.h"
#include "launch/launch.h"
#include "launch/output.h"
#include "launch/session_dir.h"
#include "launch/verdict.h"
#include "launch/workforce.h"

namespace causeway::launch {

class Job final : public Keeper, private WorkforceEvents {
 public:
  // `front_fd`: bytes from the front are signal numbers; its end of file is the front's death.
  // `forked`: the ranks, where the program has forked them.
  Job(const LaunchOptions& options, const SessionDir& session, UniqueFd front_fd,
      const sigset_t& caller_mask, std::vector<RankProcess> forked = {});

  // Before any other thread exists. Throws Error.
  void spawn() override;

  // Until no rank, no descendant and no unwritten output is left; the job's status.
  int supervise() override;

 private:
  // A process of the job, wherever it runs.
  struct Member {
    uint32_t process = 0;
    std::optional<uint32_t> rank;  // nothing: a spare that waits
    uint32_t epoch = 1;
    pid_t pid = -1;
    bool running = false;
    bool started = false;    // waits for nobody to start; told where failures are survived
    bool leaving = false;    // it has come to its end, and said so
    bool finalized = false;  // it has said goodbye, and its process ends
    bool stopped = false;
    double tell_stop_at = 0.0;  // when it has been stopped for so long that people are told
    double left_at = 0.0;
    double ended_at = 0.0;  // with status 0, or when the first rank joined PMIx after that
    int wait_status = 0;
    bool said_goodbye() const { return leaving || finalized; }
    bool left_early() const {
      return rank && pid > 0 && !running && !said_goodbye() && !accounted && wait_status == 0;
    }
    bool accounted = false;  // its death has been judged: its host was lost, or the job goes on
  };

  void on_started(uint32_t process, pid_t pid) override;
  void on_exec_failure(uint32_t process, int failure) override;
  void on_ended(uint32_t process, int wait_status) override;
  void on_stopped(uint32_t process, bool stopped) override;
  void on_report(PmixReport& report) override;
  void on_host_lost(uint32_t host, const std::string& how) override;
  void on_start_failure(const std::string& line) override;
  void on_remark(const std::string& line) override;

  void dispatch(uint64_t tag);
  void on_front();
  void judge(Member& member);
  void note_leaving(Member& member, int code);
  void tell_if_all_leave();
  void tell_of_departed();
  void note_status(Member& member, int status);
  void note_failure(int signal, int status);
  void go_on_without(Member& member, const std::string& how, const std::string& line);
  void go_on_or_end(Member& member, const std::string& how, const std::string& line);
  void decide();
  void note_started(Member& member);
  void let_go_on(uint32_t rank);
  void look_who_started();
  void end_unmet();
  bool others_go_on(const std::string& line);
  void announce_death(Member& member, const std::string& how);
  void announce(Announcement::Kind what, const Member& member, const std::string& how);
  void replace(Member& dead);
  void on_timers(double now);
  void answer_fences(double now);
  double next_deadline() const;
  void check_stdout();
  void tell_lost_output();    // after the end, where it was not found out before
  std::string lost_output();  // the line that tells of it; empty for a closed pipe
  void check_early_exits();
  void judge_early_exits(double now);
  // The first rank that ended by `then` with status 0 but without goodbye; nullptr when none did.
  Member* early_member(double then = kNever);
  std::string early_exit_line(const Member& early) const;
  std::string early_cause(double then);
  std::string with_early_cause(const std::string& line);
  void end_leftovers(double now);
  void look_for_stopped(double now);
  void tell_of_stopped(double now);
  void begin_end(const std::string& line, const Member* spared = nullptr);
  void end_spares();
  void kill_all();
  bool any_running() const;
  bool any_rank_running() const;
  // `staying`: those that have not come to their end, or are stopped on the way.
  std::vector<uint32_t> running_ranks(bool staying = false) const;
  std::vector<uint32_t> staying_ranks() const { return running_ranks(true); }
  std::string name_of(const Member& member) const;

  const LaunchOptions& options_;
  JobLayout layout_;
  UniqueFd front_, epoll_, child_signals_, sink_wake_;
  MutedStderr muted_;
  std::vector<Member> members_;  // by process
  std::unique_ptr<Workforce> workforce_;
  std::unique_ptr<Output> output_;
  Verdict verdict_;

  struct Undecided {
    Member* member;
    std::string how, line;
  };
  std::vector<Undecided> undecided_;

  struct Fence {
    double due;
    std::vector<uint32_t> participants;  // empty: everybody
    std::function<void(bool, const std::string*)> answer;
  };
  std::vector<Fence> fences_;

  bool told_of_lost_output_ = false;
  bool ending_ = false;
  bool front_gone_ = false;
  bool suspended_ = false;  // by the user, the launcher with it
  bool any_connected_ = false;
  bool all_met_ = false;  // every rank has started
  std::string unmet_;     // who failed before that, where failures are survived
  // Deadlines; infinity when not armed.
  double time_limit_, kill_at_ = kNever, give_up_at_ = kNever, blame_at_ = kNever;
  double leave_at_ = kNever, tell_departed_at_ = kNever, early_at_ = kNever, decide_at_ = kNever;
  double stopped_at_ = kNever;  // when those that are left, all stopped, are ended
  double tell_stopped_at_ = kNever;
  std::string blame_;          // what is said when blame_at_ comes
  double failed_at_ = kNever;  // when the first failed that did; no deadline
  uint32_t left_last_ = 0;     // the process whose orderly exit armed leave_at_
  std::optional<std::pair<uint32_t, int>>
      left_first_;  // process and code, of the first that said one
  int left_status_ = 0;
  bool all_leave_told_ = false;
  std::vector<uint32_t> untold_;  // ranks that have left alone, and of which nobody has been told
};

}  // namespace causeway::launch
