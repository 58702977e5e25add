#include "spawn/caller.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace causeway {
namespace {

// The ranks start there all the same, but nothing that is named from there will be found.
void look_at_directory() {
  std::error_code failed;
  const std::filesystem::path here = std::filesystem::current_path(failed);
  if (here.empty())
    say_as("run", fmt::format("warning: the current directory cannot be read ({}); was it removed?",
                              failed.message()));
}

void flush_everything() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

}  // namespace

void say_as(const char* who, const std::string& line) {
  const std::string text = fmt::format("causeway {}: {}\n", who, line);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void open_standard_descriptors(bool takes_output) {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == 1 && !takes_output ? O_RDONLY : O_RDWR);
}

void prepare_to_fork() {
  open_standard_descriptors();
  look_at_directory();
  flush_everything();
}

}  // namespace causeway
