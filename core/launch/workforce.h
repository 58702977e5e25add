// Workforce: the processes of a job as its decisions see them, whether they are children of this
// process (Crew) or of relays on other hosts (Fleet).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/clock.h"

namespace causeway::launch {

class Output;

// A question or a report of a process, or of PMIx on its behalf.
struct PmixReport {
  enum class Kind {
    connected,
    started,
    leaving,
    let_go_on,
    finalized,
    aborted,
    fence,
    modex,
    modex_data
  };
  explicit PmixReport(Kind what) : kind(what) {}

  Kind kind;
  uint32_t process = 0;  // all but fence; modex: whose data is wanted
  int status = 0;        // aborted; leaving: with gasnet_exit, or kAlone; let_go_on: the rank
  std::string line;      // aborted
  static constexpr int kAlone = -1;

  // fence: who takes part (empty: everybody), what this side has collected, and the answer, to be
  // given once. Without `data` the answer is what this side has collected.
  std::vector<uint32_t> participants;
  std::string data;  // also modex_data
  std::function<void(bool complete, const std::string* data)> answer;

  // modex: to be answered once, with nullopt when there is no such data; modex_data: whose
  // question this answers, and whether there is data.
  std::function<void(const std::optional<std::string>& data)> supply;
  double limit_s = 0.0;
  uint64_t question = 0;
  bool found = false;
};

// News for the processes of a job.
struct Announcement {
  enum class Kind : uint8_t { death, replacement, departed, all_leave } kind;
  uint32_t rank = 0;     // of the job
  uint32_t process = 0;  // that died, or that takes the place
  uint32_t epoch = 0;    // replacement
  std::string how;       // death; departed: the ranks of the job, "1,3,4"
};

class WorkforceEvents {
 public:
  virtual ~WorkforceEvents() = default;
  virtual void on_started(uint32_t process, pid_t pid) = 0;
  virtual void on_exec_failure(uint32_t process, int failure) = 0;
  virtual void on_ended(uint32_t process, int wait_status) = 0;
  // By a signal; it runs no more until one lets it go on.
  virtual void on_stopped(uint32_t process, bool stopped) = 0;
  virtual void on_report(PmixReport& report) = 0;
  // Every process of that host ends with it.
  virtual void on_host_lost(uint32_t host, const std::string& how) = 0;
  // The job cannot start: `line` says why.
  virtual void on_start_failure(const std::string& line) = 0;
  virtual void on_remark(const std::string& line) = 0;  // to be said
};

class Workforce {
 public:
  virtual ~Workforce() = default;

  // Forks, while this process has one thread. Throws Error.
  virtual void spawn() = 0;
  // Lets the processes go; their output goes to `output`. Throws Error.
  virtual void start(Output& output) = 0;

  virtual void dispatch(uint64_t tag) = 0;  // of an epoll event
  virtual void on_children() = 0;           // SIGCHLD has come: reaps
  virtual double deadline() const { return kNever; }
  virtual void on_timers(double) {}

  virtual void signal(uint32_t process, int signal) = 0;
  virtual void announce(const Announcement& what) = 0;
  // A replacement's output is tagged with its rank from now on.
  virtual void retag(uint32_t process, const std::string& tag) = 0;

  // All have been killed: those of whom nothing has been heard since then are waited for no more.
  virtual void give_up(double since) = 0;
  // Nothing more will be reported or written by the processes.
  virtual bool quiet() const = 0;
  // The job is over: takes leave of what is not this process's child. Bounded.
  virtual void dismiss() {}
};

// Tags of epoll events: what an event is for, with an index in the lower half.
enum Tag : uint64_t {
  kFront = 1ull << 32,
  kChild = 2ull << 32,
  kServer = 3ull << 32,
  kSinkWake = 4ull << 32,
  kControl = 5ull << 32,
  kOutput = 6ull << 32,
  kListener = 7ull << 32,
  kGuest = 8ull << 32,  // a connection that has not said who it is
  kLink = 9ull << 32,   // the connection of a relay
  kFeed = 10ull << 32,  // a pipe that takes bytes again
  kStdin = 11ull << 32,
  kSource = 12ull << 32,  // a relay's process has written
};

inline constexpr uint64_t kTagMask = ~0xffffffffull;

}  // namespace causeway::launch
