// PmixServer: the PMIx server library, hosting one job whose ranks are all on this host.
//
// PMIx calls back from its own thread; what happens is queued and handed to the supervision loop
// through an eventfd, so that every decision about the job is taken by one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "launch/unique_fd.h"

namespace causeway::launch {

struct PmixReport {
  enum class Kind { connected, finalized, aborted, fence } kind;
  uint32_t rank;                              // all but fence
  int status = 0;                             // aborted
  std::string line;                           // aborted
  std::function<void(bool complete)> answer;  // fence: to be called once
};

class PmixServer {
 public:
  // Starts the server with its files in `directory` and registers the job. One per process; the
  // process must be single-threaded until then where it still has to fork. Throws Error.
  PmixServer(const std::string& directory, const std::string& job_id, uint32_t ranks);
  ~PmixServer();
  PmixServer(const PmixServer&) = delete;

  // "NAME=value" strings that make the process with them `rank`'s PMIx client.
  std::vector<std::string> client_environment(uint32_t rank) const;

  int event_fd() const { return event_.get(); }
  std::vector<PmixReport> take_reports();

  // Tells every connected rank, and those that connect later, that `rank` is dead.
  void announce_death(uint32_t rank, const std::string& how);

 private:
  friend struct PmixUpcalls;
  void report(PmixReport what);

  std::string job_id_;
  UniqueFd event_;
  std::mutex mutex_;
  std::deque<PmixReport> reports_;
};

}  // namespace causeway::launch
