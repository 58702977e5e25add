#include "bootstrap/singleton_bootstrap.h"

#include <fmt/core.h>
#include <unistd.h>

#include <ctime>

#include "base/log.h"

namespace causeway {

SingletonBootstrap::SingletonBootstrap() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  job_id_ = fmt::format("causeway-{}-{}-{:08x}", ::getuid(), ::getpid(),
                        static_cast<uint32_t>(t.tv_nsec ^ (t.tv_sec << 30)));
}

void SingletonBootstrap::abort(int status, const std::string& line) {
  if (line.empty()) {
    write_log_line(LogLevel::error, fmt::format("aborted with status {}", status));
  } else {
    write_log_line(LogLevel::error, line);
  }
}

}  // namespace causeway
