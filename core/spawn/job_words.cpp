#include "spawn/job_words.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"

namespace causeway {

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
