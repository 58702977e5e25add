// Relay: the keeper on a host of a job that `causeway run --host-file` starts on several. It has
// the processes of its host as a job on one host has them, and does what the launcher decides.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launch/crew.h"
#include "launch/feed.h"
#include "launch/keeper.h"
#include "launch/session_dir.h"
#include "launch/start_order.h"
#include "launch/watch.h"
#include "launch/wire.h"
#include "launch/workforce.h"

namespace causeway::launch {

struct Joined {
  StartOrder order;
  Channel link;
};

// Reads the invitation from `invitation_fd`, reaches the launcher, proves to be the invited relay
// and waits for the order to start. Every wait is bounded. Throws Error.
Joined join_launcher(int invitation_fd);

// Name of the session directory: the job's with the host's number, because two hosts of a job may
// share a file system, or be one machine.
std::string relay_session(const StartOrder& order);

class Relay final : public Keeper, private WorkforceEvents {
 public:
  // `link`: to the launcher, which has sent `order` over it. `front_fd` as for Job.
  Relay(const StartOrder& order, const SessionDir& session, Channel link, UniqueFd front_fd,
        const sigset_t& caller_mask);

  void spawn() override;
  // Until the launcher takes its leave or is gone, and nothing is left here.
  int supervise() override;

 private:
  // Output of a process, on its way to the launcher.
  struct Source {
    uint32_t process;
    uint32_t stream;
    UniqueFd fd;
    Watch watch;
    size_t room = kWindow;
  };

  void on_started(uint32_t process, pid_t pid) override;
  void on_exec_failure(uint32_t process, int failure) override;
  void on_ended(uint32_t process, int wait_status) override;
  void on_stopped(uint32_t process, bool stopped) override;
  void on_report(PmixReport& report) override;
  void on_host_lost(uint32_t, const std::string&) override {}
  void on_start_failure(const std::string&) override {}
  void on_remark(const std::string& line) override;

  void start_processes();
  void dispatch(uint64_t tag);
  void on_front();
  void on_link();
  void take(const Frame& frame);
  void take_announcement(Unpacker& in);
  void on_source(uint32_t index);
  void watch_source(uint32_t index);
  void feed_stdin_process();
  void on_timers(double now);
  double next_deadline() const;
  void give_up(const std::string& why);
  void kill_all();
  bool drained() const;

  const StartOrder& order_;
  const SessionDir& session_;
  UniqueFd front_, epoll_, child_signals_;
  MutedStderr muted_;
  Channel link_;
  std::unique_ptr<Crew> crew_;
  std::vector<Source> sources_;
  Feed stdin_;
  bool stdin_broken_told_ = false;
  struct Fence {
    std::vector<uint32_t> participants;
    std::function<void(bool, const std::string*)> answer;
  };
  std::vector<Fence> fences_;
  std::map<uint64_t, std::function<void(const std::optional<std::string>&)>> questions_;
  uint64_t next_question_ = 1;
  bool over_ = false;  // the launcher said so, or is gone
  int status_ = 0;
};

}  // namespace causeway::launch
