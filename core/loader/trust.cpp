#include "loader/trust.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>

#include "base/error.h"
#include "base/own_path.h"

namespace causeway {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel has it

uid_t owner_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_uid : 0;
}

// In a container root may have another number, which then is the owner of "/".
bool is_trusted(uid_t owner) {
  static const uid_t root = owner_of("/"), library = owner_of(own_prefix());
  return owner == 0 || owner == ::geteuid() || owner == root || owner == library;
}

}  // namespace

// Each step that the walk has looked at can be changed by trusted owners alone from then on.
void check_trust(const std::string& path) {
  std::deque<fs::path> left;
  const auto go_on_with = [&left](const fs::path& way) {
    left.insert(left.begin(), way.begin(), way.end());
  };
  go_on_with(fs::absolute(path));
  int links = 0;
  for (fs::path at; !left.empty();) {
    const fs::path here = at / left.front();  // an absolute name begins anew
    left.pop_front();
    struct stat info {};
    if (::lstat(here.c_str(), &info) != 0 || links > kMostLinks)
      throw Error(CWY_ERR_INVALID, "{}: cannot be opened: {}", path,
                  std::strerror(links > kMostLinks ? ELOOP : errno));
    if (!is_trusted(info.st_uid))
      throw Error(CWY_ERR_INVALID,
                  "{}: '{}' belongs to user {}, who could exchange it: expected root, user {}, or "
                  "the owner of this library",
                  path, here.string(), info.st_uid, ::geteuid());
    if (S_ISLNK(info.st_mode)) {
      ++links;
      go_on_with(fs::read_symlink(here));
      continue;
    }
    if ((info.st_mode & S_IWOTH) != 0 && !(S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0))
      throw Error(CWY_ERR_INVALID,
                  "{}: '{}' is world-writable, so anybody could have changed what lies there; use "
                  "chmod o-w",
                  path, here.string());
    at = here;
  }
}

}  // namespace causeway
