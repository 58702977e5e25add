#include "object.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "../../common/plugin_error.h"
#include "../common/descriptor.h"
#include "layout.h"
#include "limits.h"

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 0x0004U
#endif

namespace causeway::shm {
namespace {

// The name begins with the job's, by which our launcher removes at a job's end what a rank that was
// killed could not. It says who owns the object, so that elsewhere a later start can tell whether
// that process lives.
void make_name(const char* job_id, char (&name)[128]) {
  static std::atomic<uint32_t> sequence{0};  // relaxed: only has to differ each time
  const auto pid = static_cast<uint32_t>(getpid());
  std::snprintf(name, sizeof name, "/%.60s.cwy.%" PRIx64 ".%u.%" PRIu64 ".%u", job_id,
                pid_namespace(), pid, process_start_time(pid).value_or(0),
                sequence.fetch_add(1, std::memory_order_relaxed));
  for (char* c = name + 1; *c != '\0'; ++c)
    if (*c == '/') *c = '_';
}

// The failure is this process's own, and says nothing of the object or its owner.
bool lacks_resources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM;
}

// Sets errno and answers -1 like the call itself.
int open_descriptor(uint32_t thread, int fd) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u/fd/%d", thread, fd);
  return open(path, O_RDWR | O_CLOEXEC);
}

int open_peer_descriptor(const ObjectAddress& address) {
  if (address.fd < 0) return shm_open(address.name, O_RDWR | O_CLOEXEC, 0);
  const int fd = open_descriptor(address.pid, address.fd);
  return fd >= 0 || errno != ENOENT ? fd : open_descriptor(living_thread(address.pid), address.fd);
}

// Or another pid namespace's (`unshare --pid` without --mount-proc), where a number means another
// process; or there is none.
bool proc_is_ours() {
  char text[16] = {};
  const ssize_t length = readlink("/proc/self", text, sizeof text - 1);
  return length > 0 && std::strtol(text, nullptr, 10) == getpid();
}

// What /proc says of a process or thread, from the end of its name on. NULL: it says nothing, and
// errno why.
const char* status_of(uint32_t thread, char (&text)[1024]) {
  std::snprintf(text, sizeof text, "/proc/%u/stat", thread);
  const int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  text[n > 0 ? n : 0] = '\0';
  // The name may hold anything, parentheses too.
  return std::strrchr(text, ')');
}

// Ended but not reaped: gone, as far as anybody here is concerned.
bool has_left(const char* status) {
  return status[2] == 'Z' || status[2] == 'X';
}

}  // namespace

uint32_t living_thread(uint32_t pid) {
  char text[1024];
  std::snprintf(text, sizeof text, "/proc/%u/task", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(opendir(text), closedir);
  while (const dirent* entry = threads ? readdir(threads.get()) : nullptr) {
    const auto thread = static_cast<uint32_t>(std::strtoul(entry->d_name, nullptr, 10));
    const char* const status = thread != 0 ? status_of(thread, text) : nullptr;
    if (status != nullptr && !has_left(status)) return thread;
  }
  return 0;
}

std::optional<uint64_t> process_start_time(uint32_t pid) {
  char text[1024];
  if (!proc_is_ours()) return 0;
  errno = 0;
  const char* at = status_of(pid, text);
  if (at == nullptr && lacks_resources(errno)) return std::nullopt;
  if (at != nullptr && has_left(at) && living_thread(pid) == 0) return 0;
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  unsigned long long ticks = 0;
  if (at == nullptr || std::sscanf(at, "%llu", &ticks) != 1) return 0;
  return ticks;
}

bool memfds_serve() {
  const int trial = memfd_create("causeway", MFD_CLOEXEC);
  if (trial < 0 || close(trial) != 0) return false;
  uid_t ruid, euid, suid;
  gid_t rgid, egid, sgid;
  if (getresuid(&ruid, &euid, &suid) != 0 || getresgid(&rgid, &egid, &sgid) != 0) return false;
  return ruid == euid && euid == suid && rgid == egid && egid == sgid &&
         prctl(PR_GET_DUMPABLE) == 1 && access("/proc/self/fd", X_OK) == 0 && proc_is_ours();
}

void sweep_stale_objects() {
  DIR* directory = proc_is_ours() ? opendir(posix_directory) : nullptr;
  if (directory == nullptr) return;
  const uint64_t here = pid_namespace();
  while (const dirent* entry = readdir(directory)) {
    uint64_t space = 0, start = 0;
    uint32_t pid = 0;
    const char* owner = std::strstr(entry->d_name, ".cwy.");
    if (owner == nullptr) continue;
    if (std::sscanf(owner, ".cwy.%" SCNx64 ".%u.%" SCNu64 ".", &space, &pid, &start) != 3) continue;
    // Another namespace's pids say nothing here. Other users' objects refuse to go by themselves.
    // A start of 0 is that of a process which did not see its own.
    if (space == here && start != 0 && process_start_time(pid).value_or(start) != start)
      shm_unlink((std::string("/") + entry->d_name).c_str());
  }
  closedir(directory);
}

Mapping::~Mapping() {
  if (base_ != nullptr) munmap(base_, length_);
}

// ---- own objects ----------------------------------------------------------------------------

Object& Object::operator=(Object&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  huge_ = other.huge_;
  named_ = std::exchange(other.named_, false);
  address_ = other.address_;
  return *this;
}

Object::~Object() {
  close();
}

void Object::close() {
  unlink_name();
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void Object::unlink_name() {
  if (named_) shm_unlink(address_.name);
  named_ = false;
}

cwy_status Object::open_descriptor(const ObjectRequest& request, bool huge, cwy_err* err) {
  if (request.posix) {
    make_name(request.job_id, address_.name);
    fd_ = shm_open(address_.name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    named_ = fd_ >= 0;
  } else {
    fd_ = memfd_create("causeway", MFD_CLOEXEC | (huge ? MFD_HUGETLB : 0));
  }
  if (fd_ >= 0) return CWY_OK;
  return report(
      err, errno == ENOMEM || errno == ENOSPC ? CWY_ERR_NOMEM : CWY_ERR_UNSUPPORTED,
      "%s for %s of %zu bytes cannot be created%s: %s",
      request.posix ? "POSIX shared memory" : "a memfd", request.purpose, request.length,
      request.posix ? " in /dev/shm (let this user write there, or choose memory: memfd)" : "",
      std::strerror(errno));
}

// Lack of memory is to be an error here, not SIGBUS at some later store. Reserving touches every
// page, so it is done where a file system's size is the limit and nothing else would tell (POSIX);
// a memfd is compared with what the machine, the control group and the user's limits leave.
cwy_status Object::give_length(const ObjectRequest& request, cwy_err* err) {
  const size_t length = address_.length;
  const bool compare = request.reserve != Reserve::never && !huge_;
  char why[256];
  if (!file_size_allowed(length, why, sizeof why) ||
      (compare &&
       !memory_suffices(length, request.posix ? posix_directory : nullptr, why, sizeof why)))
    return report(err, CWY_ERR_NOMEM, "no room for %s of %zu bytes: %s", request.purpose, length,
                  why);
  int failure = ftruncate(fd_, static_cast<off_t>(length)) == 0 ? 0 : errno;
  const bool fill = request.reserve == Reserve::always ||
                    (request.reserve == Reserve::automatic && request.posix);
  if (failure == 0 && fill) failure = posix_fallocate(fd_, 0, static_cast<off_t>(length));
  if (failure == 0) return CWY_OK;
  return report(err, CWY_ERR_NOMEM, "%s of %zu bytes cannot be had%s: %s", request.purpose, length,
                request.posix ? " in /dev/shm (enlarge it, or choose memory: memfd)" : "",
                std::strerror(failure));
}

cwy_status Object::create(const ObjectRequest& request, Object& out, bool& huge_missing,
                          cwy_err* err) {
  huge_missing = false;
  const size_t huge_page = request.posix ? 0 : huge_page_bytes();
  const bool want_huge = request.huge_pages != HugePages::never;
  if (want_huge && huge_page != 0) {
    Object object;
    object.huge_ = true;
    object.address_.length = round_up(request.length, huge_page);
    cwy_err ignored{};
    cwy_status status = object.open_descriptor(request, true, &ignored);
    if (status == CWY_OK) status = object.give_length(request, &ignored);
    Mapping probe;  // mapping reserves the pages, or says that there are too few
    if (status == CWY_OK) status = object.map(nullptr, probe, &ignored);
    if (status == CWY_OK) {
      struct stat st {};
      fstat(object.fd_, &st);
      object.address_.pid = static_cast<uint32_t>(getpid());
      object.address_.fd = object.fd_;
      object.address_.inode = st.st_ino;
      object.address_.device = st.st_dev;
      out = std::move(object);
      return CWY_OK;
    }
  }
  if (request.huge_pages == HugePages::require)
    return report(err, CWY_ERR_NOMEM,
                  "%s of %zu bytes cannot be had in huge pages of %zu KiB; raise "
                  "/proc/sys/vm/nr_hugepages or set huge_pages: try",
                  request.purpose, request.length, huge_page >> 10);
  huge_missing = want_huge;

  Object object;
  object.address_.length = round_up(request.length, static_cast<size_t>(getpagesize()));
  cwy_status status = object.open_descriptor(request, false, err);
  if (status == CWY_OK) status = object.give_length(request, err);
  if (status != CWY_OK) return status;
  struct stat st {};
  fstat(object.fd_, &st);
  object.address_.pid = static_cast<uint32_t>(getpid());
  object.address_.fd = request.posix ? -1 : object.fd_;
  object.address_.inode = st.st_ino;
  object.address_.device = st.st_dev;
  out = std::move(object);
  return CWY_OK;
}

cwy_status Object::map(void* wish, Mapping& out, cwy_err* err) const {
  void* base = MAP_FAILED;
  const int access = PROT_READ | PROT_WRITE;
  if (wish != nullptr)
    base = mmap(wish, length(), access, MAP_SHARED | MAP_FIXED_NOREPLACE, fd_, 0);
  if (base == MAP_FAILED) base = mmap(nullptr, length(), access, MAP_SHARED, fd_, 0);
  if (base == MAP_FAILED)
    return report(err, CWY_ERR_NOMEM, "%zu bytes of shared memory cannot be mapped: %s", length(),
                  std::strerror(errno));
  out = Mapping(base, length());
  return CWY_OK;
}

// ---- peers' objects -------------------------------------------------------------------------

namespace {

// No such process, or one at its end: the system takes its descriptors before its entry in /proc.
bool is_gone(uint32_t pid) {
  if (!proc_is_ours()) return false;
  if (process_start_time(pid) == uint64_t{0}) return true;
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%u/fd", living_thread(pid));
  DIR* const open_files = ::opendir(path);
  if (open_files == nullptr) return errno == ENOENT;
  errno = 0;
  // "." and ".." are always there.
  unsigned entries = 0;
  while (entries < 3 && ::readdir(open_files) != nullptr) ++entries;
  const bool none = entries < 3 && (errno == 0 || errno == ENOENT);
  ::closedir(open_files);
  return none;
}

}  // namespace

cwy_status map_peer_object(const ObjectAddress& address, Mapping& out, cwy_err* err) {
  if (address.fd >= 0 && !proc_is_ours())
    return report(err, CWY_ERR_UNREACHABLE,
                  "/proc is not that of this pid namespace; set memory: posix");
  const int fd = open_peer_descriptor(address);
  if (fd < 0) {
    const int why = errno;
    if (is_gone(address.pid))
      return report(err, CWY_ERR_PEER_FAILED, "process %u is gone", address.pid);
    if (lacks_resources(why))
      return report(err, CWY_ERR_NOMEM, "this process cannot open shared memory of process %u: %s",
                    address.pid, std::strerror(why));
    return report(err, CWY_ERR_UNREACHABLE, "shared memory of process %u cannot be opened: %s%s",
                  address.pid, std::strerror(why),
                  address.fd >= 0 ? " (if /proc is restricted here, set memory: posix)" : "");
  }
  struct stat st {};
  const bool same = fstat(fd, &st) == 0 && st.st_ino == address.inode &&
                    st.st_dev == address.device &&
                    static_cast<uint64_t>(st.st_size) == address.length;
  if (!same) {
    close(fd);
    return report(err, CWY_ERR_PEER_FAILED,
                  "process %u is not the one that gave this address; its pid was used again",
                  address.pid);
  }
  void* base = mmap(nullptr, address.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int why = errno;
  close(fd);
  if (base == MAP_FAILED)
    return report(err, CWY_ERR_NOMEM, "%llu bytes of process %u cannot be mapped: %s",
                  static_cast<unsigned long long>(address.length), address.pid, std::strerror(why));
  out = Mapping(base, address.length);
  return CWY_OK;
}

}  // namespace causeway::shm
