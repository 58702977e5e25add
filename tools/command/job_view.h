// The jobs of this user on this host, as their ranks show them (base/status_page.h) and the kernel
// tells of their processes. Shared by `ps` and `top`.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status_page.h"

namespace causeway::command {

template <typename T>
struct Traffic {
  std::array<T, StatusPage::counts> of{};
  T operations() const { return of[StatusPage::sent] + of[StatusPage::received]; }
  T bytes() const { return of[StatusPage::sent_bytes] + of[StatusPage::received_bytes]; }
};

struct RankView {
  std::string job, program;
  pid_t pid = 0, launcher = 0;
  bool outside = false;  // it shows nothing: it has not called the library, or left it by exec
  uint32_t rank = 0, ranks = 0, ranks_here = 0, epoch = 0, phase = 0;
  uint32_t spares = 0;  // in a job's first: its processes here that wait for a place
  uint64_t began_ns = 0, looked_ns = 0;  // of now_ns()
  char process_state = '?';              // as /proc has it
  uint64_t resident = 0, shared = 0, processor_ns = 0;
  std::vector<WaitEntry::Told> waits;      // the longest first
  uint64_t taken_ns = 0;                   // when it counted; 0: it has not
  uint64_t connections = 0, handlers = 0;  // `handlers`: threads that ran one when it counted
  Traffic<uint64_t> total;
  std::map<uint32_t, Traffic<uint64_t>> peers;
  // Since the look before; nothing where it has not counted since.
  double processor = 0, seconds = 0;
  Traffic<double> per_s;
  std::map<uint32_t, Traffic<double>> peers_per_s;

  void compare(const RankView& before);
  bool stopped() const { return process_state == 'T' || process_state == 't'; }
  // "starts", "waits", "runs a handler", "computes", "ends", "stopped" or "outside the library".
  const char* state() const;
  double waited_s() const;  // in a call or in its start; 0: it waits for nothing that has lasted
  double age_s() const;
};
using Jobs = std::map<std::string, std::vector<RankView>>;  // by id and rank

class JobViewer {
 public:
  // The jobs that `wanted` names by their id, their launcher's process or that of a rank;
  // "": all. Ranks that do not count within the patience show what they counted before. A process
  // with a page of another version is not read, and a line on stderr says so, once.
  Jobs look(const std::string& wanted, uint64_t patience_ns);

 private:
  struct Unmap {
    size_t bytes;
    void operator()(void* at) const;
  };
  struct Page {
    std::unique_ptr<StatusPage, Unmap> at;  // NULL: the process is outside the library
    uint32_t peers = 0;
    uint64_t started = 0, stack = 0;  // of its process, as ProcessStat has them
    RankView mark, last;  // `mark`: of a process outside the library, by the launcher's words
  };
  void find_pages();
  // `thread`: one of the process that lives.
  bool look_for_page(pid_t pid, pid_t thread);
  bool take_page(pid_t pid, int fd);
  void read_page(RankView& view);

  std::map<pid_t, Page> pages_;
  std::map<std::string, uint32_t> spares_;  // that wait, of each job
  std::set<pid_t> refused_;
};

// Seconds.
double since(uint64_t then_ns, uint64_t now_ns);
// "waits 12.3 s in gex_Event_Wait() for a put to rank 3"
std::string state_text(const RankView& rank);
// The states of all its ranks here.
std::string state_text(const std::vector<RankView>& ranks);
// "gex_Coll_BarrierNB(), number 3 on a team of 4, id 0: not waited for, nor a later one, by ranks
// 1, 2: not there yet, or past it": of each team of all the job's ranks the oldest collective that
// some wait for.
std::vector<std::string> absent_texts(const std::vector<RankView>& ranks);
std::string duration_text(double seconds);
// "1.2M", of operations or bytes.
std::string amount_text(double n);
// An array of jobs.
std::string json_of(const Jobs& jobs);
// Says that there is no such job, and returns the status for it.
int say_unknown(const char* command, const std::string& job);

}  // namespace causeway::command
