#include "launch/session_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "launch/process_tree.h"
#include "spawn/job_id.h"

namespace causeway::launch {
namespace {

namespace fs = std::filesystem;

std::string base_directory() {
  for (const char* variable : {"GASNET_TMPDIR", "TMPDIR"}) {
    const char* tmp = ::secure_getenv(variable);
    if (tmp != nullptr && tmp[0] == '/' && ::access(tmp, W_OK | X_OK) == 0) return tmp;
  }
  return "/tmp";
}

UniqueFd lock_directory(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

bool ours(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::getuid();
}

// Objects that others may have put there under such a name refuse to go, or are left.
void remove_shared_memory(const std::string& job_id) {
  // A relay's name has the number of its host behind a point, and is not to begin another one's.
  const std::string head = job_id.find('.') == std::string::npos ? job_id : job_id + ".";
  std::error_code ignored;
  for (fs::directory_iterator it("/dev/shm", ignored), end; it != end; it.increment(ignored)) {
    if (ignored) break;
    if (it->path().filename().string().rfind(head, 0) != 0) continue;
    if (ours(it->path()))
      fs::remove_all(it->path(), ignored);
    else
      fs::remove(it->path(), ignored);
  }
}

void remove_job(const std::string& path, const std::string& job_id) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
  remove_shared_memory(job_id);
}

// Removes what dead jobs whose names begin so have left. A live job's keeper holds a lock on its
// directory, which, unlike a process id, cannot be mistaken across pid namespaces or after reuse.
void sweep_stale(const std::string& base, const std::string& prefix, bool with_processes) {
  std::error_code ignored;
  for (fs::directory_iterator it(base, ignored), end; it != end; it.increment(ignored)) {
    if (ignored) break;
    const std::string name = it->path().filename().string();
    if (name.rfind(prefix, 0) != 0 || !ours(it->path())) continue;
    const UniqueFd lock = lock_directory(it->path());
    if (!lock) continue;
    if (with_processes) kill_marked("CAUSEWAY_SESSION_DIR=" + it->path().string());
    remove_job(it->path(), name);
  }
}

}  // namespace

SessionDir::SessionDir(const std::string& name)
    : base_(base_directory()),
      job_id_(name.empty() ? new_job_id() : name),
      path_(base_ + "/" + job_id_) {}

void SessionDir::make() {
  sweep_stale(base_, job_id_prefix(), true);
  const auto fail = [this] {
    const int failure = errno;
    const mode_t mask = ::umask(077);
    ::umask(mask);
    throw Error(CWY_ERR_INVALID, "cannot create the job's private directory in {}: {}; {}", base_,
                std::strerror(failure),
                (mask & 0700) != 0 ? "the umask takes rights from its owner (umask 077)"
                                   : "set TMPDIR to a writable directory");
  };
  // Locked before it gets a name that a sweeper looks at.
  const std::string hidden = base_ + "/." + job_id_;
  if (::mkdir(hidden.c_str(), 0700) != 0) fail();
  lock_ = lock_directory(hidden);
  if (lock_ && ::rename(hidden.c_str(), path_.c_str()) == 0) return;
  const int failure = errno;
  ::rmdir(hidden.c_str());
  errno = failure;
  fail();
}

void SessionDir::sweep() const {
  remove_job(path_, job_id_);
  sweep_stale(base_, job_id_ + ".", false);
}

}  // namespace causeway::launch
