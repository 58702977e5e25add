// Agent: the command that carries the start of a relay to another host, ssh as a rule.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace causeway::launch {

struct AgentProcess {
  pid_t pid = -1;
  UniqueFd in;        // write end
  UniqueFd out, err;  // read ends
};

// The words of the command that starts `relay` (its words) on `host`. `agent` is split at blanks;
// every "%h" in it becomes the host's name, which otherwise follows it; "%%" is a percent sign.
// Without an agent: ssh, or the relay itself where `host` is this machine.
std::vector<std::string> agent_words(const std::string& agent, const std::string& host,
                                     const std::vector<std::string>& relay);

// Forks. The agent dies with this process's main thread. Throws Error.
AgentProcess spawn_agent(const std::vector<std::string>& words, const sigset_t& signal_mask);

}  // namespace causeway::launch
