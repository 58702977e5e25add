#include "spawn/job_id.h"

#include <fmt/core.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

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

}  // namespace causeway
