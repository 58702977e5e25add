#include "shared_object.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace causeway::ucx {
namespace {

// The file that is mapped there; without an inode where none is.
struct stat file_at(const void* address) {
  const auto wanted = reinterpret_cast<uint64_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0, inode = 0;
    unsigned major = 0, minor = 0;
    const int found = std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %*x %x:%x %" SCNu64,
                                  &begin, &end, &major, &minor, &inode);
    if (found != 5 || wanted < begin || wanted >= end) continue;
    struct stat file {};
    file.st_dev = makedev(major, minor);
    file.st_ino = inode;
    return file;
  }
  return {};
}

}  // namespace

SharedObject shared_object_at(const void* address) {
  const struct stat wanted = file_at(address);
  if (wanted.st_ino == 0) return {};
  struct stat file {};
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", failed))
    if (::stat(entry.path().c_str(), &file) == 0 && file.st_ino == wanted.st_ino &&
        file.st_dev == wanted.st_dev)
      return {wanted.st_ino, std::strtoull(entry.path().filename().c_str(), nullptr, 10)};
  return {};
}

bool has_object(uint32_t pid, const SharedObject& object) {
  const std::string descriptors = "/proc/" + std::to_string(pid) + "/fd";
  std::error_code failed;
  if (object.inode == 0) return !std::filesystem::is_empty(descriptors, failed) && !failed;
  struct stat file {};
  const std::string path = descriptors + "/" + std::to_string(object.descriptor);
  return ::stat(path.c_str(), &file) == 0 && file.st_ino == object.inode;
}

}  // namespace causeway::ucx
