// PmixServer: the PMIx server library for the processes of one job on this host.
//
// PMIx calls back from its own thread; what happens is queued and handed to the supervision loop
// through an eventfd, so that every decision about the job is taken by one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "launch/layout.h"
#include "launch/workforce.h"

namespace causeway::launch {

class PmixServer {
 public:
  // Starts the server with its files in `directory` and registers the job and the processes of
  // `host`. One per process; the process must be single-threaded until then where it still has to
  // fork. Throws Error.
  PmixServer(const std::string& directory, const JobLayout& layout, uint32_t host);
  ~PmixServer();
  PmixServer(const PmixServer&) = delete;

  // "NAME=value" strings that make the process with them the PMIx client of that number.
  std::vector<std::string> client_environment(uint32_t process) const;

  int event_fd() const { return event_.get(); }
  std::vector<PmixReport> take_reports();

  // Tells every connected process, and those that connect later.
  void announce(const Announcement& what);

  // What `process` of this host has published, as soon as it has: a report of kind modex_data that
  // carries `question`. There may be none.
  void ask_data(uint32_t process, uint64_t question);

 private:
  friend struct PmixUpcalls;
  void report(PmixReport what);

  std::string namespace_;
  uint32_t processes_;
  UniqueFd event_;
  std::mutex mutex_;
  std::deque<PmixReport> reports_;
};

}  // namespace causeway::launch
