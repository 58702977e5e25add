// Job: what the keeper does. Forks the ranks, hosts the PMIx server, forwards input and output,
// and brings the job to its end by the rules in README.md. One thread decides; PMIx's thread, the
// sinks' writers and the stdin reader only feed it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "launch/launch.h"
#include "launch/output.h"
#include "launch/pmix_server.h"
#include "launch/rank_process.h"
#include "launch/session_dir.h"
#include "launch/verdict.h"

namespace causeway::launch {

class Job {
 public:
  // `front_fd`: bytes from the front are signal numbers; its end of file is the front's death.
  Job(const LaunchOptions& options, const SessionDir& session, UniqueFd front_fd,
      const sigset_t& caller_mask);
  ~Job();

  // Returns true in a rank, in fork mode only. Before any other thread exists. Throws Error.
  bool spawn();

  // Until no rank, no descendant and no unwritten output is left; the job's status.
  int supervise();

 private:
  void mute_library();
  void start_server();
  void start_stdin();
  void watch(int fd, uint64_t tag);
  void dispatch(uint64_t tag);
  void on_front();
  void on_child();
  void on_server();
  void on_control(uint32_t rank);
  void on_rank_end(RankProcess& rank, int wait_status);
  void judge(RankProcess& rank);
  void on_report(PmixReport& report);
  void on_timers(double now);
  void answer_fences(double now);
  double next_deadline() const;
  void check_stdout();
  void check_early_exits(double now);
  // The first rank that ended with status 0 but without goodbye; nullptr when none did.
  const RankProcess* early_rank() const;
  std::string early_exit_line() const;
  void begin_end(const std::string& line, const RankProcess* spared = nullptr);
  void kill_all();
  bool any_running() const;
  std::vector<uint32_t> running_ranks() const;
  std::string name_of(const RankProcess& rank) const;

  const LaunchOptions& options_;
  const SessionDir& session_;
  UniqueFd real_stderr_;  // while the PMIx library's remarks go nowhere
  UniqueFd front_, epoll_, child_signals_, sink_wake_;
  SpawnPlan plan_;
  std::vector<RankProcess> ranks_;
  std::unique_ptr<PmixServer> server_;
  std::unique_ptr<Output> output_;
  Verdict verdict_;

  struct Fence {
    double due;
    std::function<void(bool)> answer;
  };
  std::vector<Fence> fences_;

  bool ending_ = false;
  bool front_gone_ = false;
  bool any_connected_ = false;
  // Deadlines; infinity when not armed.
  double time_limit_, kill_at_, blame_at_, leave_at_, early_at_;
  std::string blame_;        // what is said when blame_at_ comes
  uint32_t left_first_ = 0;  // the rank whose orderly exit armed leave_at_
  int left_status_ = 0;
};

}  // namespace causeway::launch
