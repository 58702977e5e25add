#include "spawn/job_words.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"

namespace causeway {

std::optional<uint32_t> number_of_job(const std::string& job, const std::string& name) {
  const size_t at = ("," + job).find("," + name + "=");
  if (at == std::string::npos) return std::nullopt;
  return static_cast<uint32_t>(std::strtoul(job.c_str() + at + name.size() + 1, nullptr, 10));
}

bool speaks_for_host() {
  static const bool speaks = [] {
    const char* const session = ::secure_getenv("CAUSEWAY_SESSION_DIR");
    if (session == nullptr) return true;
    const UniqueFd made(::open((std::string(session) + "/spoken").c_str(),
                               O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    return made || errno != EEXIST;
  }();
  return speaks;
}

}  // namespace causeway
