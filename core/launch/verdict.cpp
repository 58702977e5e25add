#include "launch/verdict.h"

#include <fmt/core.h>
#include <string.h>
#include <sys/wait.h>

namespace causeway::launch {

std::string describe_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const char* text = ::sigdescr_np(signal);
    return fmt::format("was killed by signal {} ({})", signal, text != nullptr ? text : "unnamed");
  }
  return fmt::format("exited with status {}", WEXITSTATUS(wait_status));
}

std::string ranks_text(const std::vector<uint32_t>& ranks) {
  if (ranks.empty()) return "";
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += fmt::format("{}", ranks[i]);
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? ',' : '-', ranks[last]);
    i = last + 1;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

}  // namespace causeway::launch
