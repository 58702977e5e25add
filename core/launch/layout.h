// JobLayout: which process of a job runs where. The same on every host of the job.
//
// A process is numbered from 0 to processes() - 1, which is also its PMIx rank: first the ranks of
// the start, then the spares. A spare that takes the place of a failed rank keeps its number.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace causeway::launch {

struct JobLayout {
  std::string job_id;
  std::string job_key;
  uint32_t ranks = 1;
  uint32_t spares = 0;
  bool survives = false;           // --on-failure=continue
  std::vector<std::string> hosts;  // empty: all processes are on this host, nameless
  std::vector<uint32_t> host_of;   // by process: index into hosts

  uint32_t processes() const { return ranks + spares; }

  // As spawn/job_words.h has it.
  std::string words() const {
    return fmt::format("ranks={},spares={},on_failure={},hosts={}", ranks, spares,
                       survives ? "continue" : "abort", std::max<size_t>(hosts.size(), 1));
  }

  std::vector<uint32_t> on_host(uint32_t host) const {
    std::vector<uint32_t> list;
    for (uint32_t process = 0; process < processes(); ++process)
      if (hosts.empty() || host_of[process] == host) list.push_back(process);
    return list;
  }
};

}  // namespace causeway::launch
