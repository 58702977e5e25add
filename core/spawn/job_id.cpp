#include "spawn/job_id.h"

#include <fmt/core.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "base/error.h"

namespace causeway {
namespace {

std::string random_text() {
  uint32_t bits = 0;
  if (::getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    bits = static_cast<uint32_t>(t.tv_nsec) ^ static_cast<uint32_t>(t.tv_sec << 7);
  }
  return fmt::format("{:08x}", bits);
}

}  // namespace

std::string job_id_prefix() {
  return fmt::format("causeway-{}-", ::getuid());
}

std::string new_job_id() {
  return fmt::format("{}{}-{}", job_id_prefix(), ::getpid(), random_text());
}

std::string new_secret() {
  std::string key(16, '\0');
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    throw Error(CWY_ERR_NOMEM, "the system gives no random numbers: {}", std::strerror(errno));
  return key;
}

}  // namespace causeway
