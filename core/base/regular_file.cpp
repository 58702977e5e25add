#include "base/regular_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/unique_fd.h"

namespace causeway {

std::optional<std::string> read_regular_file(const std::string& path, size_t most,
                                             std::string& why) {
  const auto refuse = [&why](std::string reason) {
    why = std::move(reason);
    return std::nullopt;
  };
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return refuse(std::strerror(errno));
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return refuse(std::strerror(errno));
  if (!S_ISREG(about.st_mode) && path != "/dev/null") return refuse("not a regular file");
  std::string text;
  char buffer[16384];
  while (text.size() <= most) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(std::strerror(errno));
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
  return refuse(fmt::format("larger than {} bytes", most));
}

std::string first_line_of(const std::string& path) {
  std::string line;
  std::ifstream in(path);
  std::getline(in, line);
  return line;
}

}  // namespace causeway
