// Crew: the processes of the job on this host, as children of this process, and the PMIx server
// that serves them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch/affinity.h"
#include "launch/layout.h"
#include "launch/panes.h"
#include "launch/pmix_server.h"
#include "launch/workforce.h"
#include "spawn/limits.h"
#include "spawn/rank_process.h"

namespace causeway::launch {

// The PMIx library prints a line of its own for every message to a process that has just died;
// what users need to know is said once, by the job. PMIX_DEBUG brings the library's lines back.
class MutedStderr {
 public:
  MutedStderr() = default;
  ~MutedStderr();
  MutedStderr(const MutedStderr&) = delete;
  void mute();
  int real() const { return real_ ? real_.get() : 2; }

 private:
  UniqueFd real_;
};

class Crew final : public Workforce {
 public:
  struct Plan {
    SpawnPlan spawn;
    Binding binding;
    std::vector<RankProcess> forked;  // not empty: these are the processes, forked by the program
    JobLayout layout;
    uint32_t host = 0;
    std::string session_path;
    std::vector<std::string> environment;  // "NAME=value", before what PMIx needs
  };
  Crew(Plan plan, WorkforceEvents& events, int epoll);

  void spawn() override;
  void start(Output& output) override;
  void dispatch(uint64_t tag) override;
  void on_children() override;
  void signal(uint32_t process, int signal) override;
  void announce(const Announcement& what) override;
  void retag(uint32_t process, const std::string& tag) override;
  void give_up(double since) override;
  bool quiet() const override;
  void dismiss() override { panes_.close(); }

  // For a relay, which takes the output elsewhere.
  void start_server();
  std::vector<RankProcess>& processes() { return processes_; }
  RankProcess* find(uint32_t process);
  PmixServer& server() { return *server_; }

 private:
  void bind_all();
  void on_control(RankProcess& process);
  void take_reports();

  Plan plan_;
  WorkforceEvents& events_;
  const int epoll_;
  std::vector<RankProcess> processes_;
  LowDescriptors low_;
  Panes panes_;
  std::unique_ptr<PmixServer> server_;
  Output* output_ = nullptr;
};

// The text in brackets before a process's lines.
std::string tag_of(const JobLayout& layout, uint32_t process);

}  // namespace causeway::launch
