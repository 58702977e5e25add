// Fleet: the processes of a job on several hosts, reached through one relay on each.
//
// The launcher listens on a port of its own; agents start the relays and give each its invitation
// (handshake.h). When all have joined, all get the order to start. From then on a relay tells what
// happens to its processes and carries out what it is told; this side puts together what several
// hosts have to decide: fences, questions for another host's data, output, input. Either side that
// hears nothing for timeouts.peer takes the other for lost: here its processes count as failed,
// there they are killed.
#pragma once

#include <signal.h>

#include <map>
#include <string>
#include <vector>

#include "launch/agent.h"
#include "launch/feed.h"
#include "launch/handshake.h"
#include "launch/launch.h"
#include "launch/layout.h"
#include "launch/start_order.h"
#include "launch/watch.h"
#include "launch/wire.h"
#include "launch/workforce.h"

namespace causeway::launch {

class Fleet final : public Workforce {
 public:
  Fleet(const LaunchOptions& options, const JobLayout& layout, const sigset_t& caller_mask,
        WorkforceEvents& events, int epoll);

  void spawn() override;
  void start(Output& output) override;
  void dispatch(uint64_t tag) override;
  void on_children() override;
  double deadline() const override;
  void on_timers(double now) override;
  void signal(uint32_t process, int signal) override;
  void announce(const Announcement& what) override;
  void retag(uint32_t process, const std::string& tag) override;
  void give_up(double since) override;
  bool quiet() const override;
  void dismiss() override;

 private:
  enum class State { invited, joined, done, lost };
  struct Host {
    AgentProcess agent;
    bool agent_runs = false;
    State state = State::invited;
    Channel channel;
    bool began = false;     // it has started a process
    size_t running = 0;     // its processes that have not ended
    double told_at = 0.0;   // of an end, or when our reader took output
    bool given_up = false;  // its processes should have ended by now
    size_t late = 0;        // bytes that came when they had, or should have
    uint32_t remarks = 0;
  };
  // A fence that not every host has joined yet.
  struct Gathering {
    std::map<uint32_t, std::string> parts;  // by host
    bool asked = false;                     // all parts are there and the job decides
  };
  struct Question {
    uint32_t asker;     // host
    uint64_t of_asker;  // its own number for it
    uint32_t process;
    double until;
  };

  void listen();
  StartOrder order_for(uint32_t host) const;
  void make_outputs(Output& output);
  void start_stdin();
  void on_listener();
  void on_guest(uint32_t index);
  void join(uint32_t host, UniqueFd socket);
  void on_link(uint32_t host);
  void take(uint32_t host, const Frame& frame);
  void take_state(uint32_t host, Word word, Unpacker& in);
  void take_output(uint32_t host, Unpacker& in);
  void take_report(uint32_t host, Unpacker& in);
  void take_fence(uint32_t host, Unpacker& in);
  void take_question(uint32_t host, Unpacker& in);
  void take_answer(uint32_t host, Unpacker& in);
  void answer_question(uint64_t number, bool found, std::string_view data);
  std::vector<uint32_t> hosts_of(const std::vector<uint32_t>& participants) const;
  void answer_fence(const std::vector<uint32_t>& participants, bool complete);
  // A process has ended: what waits for it ends too.
  void forget(uint32_t process);
  void pump_feed(uint32_t index);
  void read_stdin();
  void end_stdin();
  void abandon_start();
  void lose(uint32_t host, const std::string& how);
  void take_done(uint32_t host);
  void end_output(uint32_t host);
  bool reads_stdin(uint32_t host) const;
  bool waits_for_our_reader(uint32_t host) const;
  // Where its processes have ended, and all that came of them has been read.
  double leaves_until(uint32_t host) const;
  bool sends_too_late(uint32_t host, size_t bytes);
  uint32_t checked_process(uint32_t host, uint32_t process) const;
  std::string names_of(State state) const;

  const LaunchOptions& options_;
  const JobLayout layout_;
  const sigset_t caller_mask_;
  WorkforceEvents& events_;
  const int epoll_;
  std::vector<std::string> environment_;
  UniqueFd listener_;
  uint16_t port_ = 0;
  std::vector<Key> secrets_;  // by host
  std::vector<Host> hosts_;
  std::map<uint32_t, Guest> guests_;
  uint32_t next_guest_ = 0;
  double start_until_;
  bool started_ = false, start_failed_ = false;
  std::vector<bool> ended_;  // by process
  std::vector<Feed> feeds_;  // by 2 * process + stream - 1
  std::map<std::vector<uint32_t>, Gathering> gatherings_;
  std::map<uint64_t, Question> questions_;
  uint64_t next_question_ = 1;
  Output* output_ = nullptr;
  UniqueFd stdin_;
  Watch stdin_watch_;
  size_t stdin_room_ = kWindow;
};

}  // namespace causeway::launch
