#include "spawn/job_id.h"

#include <fmt/core.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "base/error.h"

namespace causeway {

std::string job_id_prefix() {
  return fmt::format("causeway-{}-", ::getuid());
}

std::string new_job_id() {
  return fmt::format("{}{}-{:08x}", job_id_prefix(), ::getpid(), std::random_device{}());
}

std::string new_secret() {
  std::string key(16, '\0');
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    throw Error(CWY_ERR_NOMEM, "the system gives no random numbers: {}", std::strerror(errno));
  return key;
}

}  // namespace causeway
