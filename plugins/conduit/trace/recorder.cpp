#include "recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace causeway::trace {
namespace {

uint64_t wall_clock() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

std::unique_ptr<Recorder> Recorder::open(const std::string& path, uint64_t bytes,
                                         const cwy_services& services, const char* over,
                                         std::string& why) {
  std::unique_ptr<Recorder> r(new Recorder);
  r->fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (r->fd_ < 0) {
    why = path + " cannot be created (option 'file'): " + std::strerror(errno);
    return nullptr;
  }
  r->capacity_ = std::max<uint64_t>(bytes / sizeof(cwyt_record), 1024);
  r->length_ = CWYT_HEADER_BYTES + r->capacity_ * sizeof(cwyt_record);
  // The space is taken now: a full disk is an error here and not a signal in the middle of a run.
  const int error = posix_fallocate(r->fd_, 0, static_cast<off_t>(r->length_));
  void* base = MAP_FAILED;
  if (error == 0) base = mmap(nullptr, r->length_, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd_, 0);
  if (base == MAP_FAILED) {
    why = path + " cannot be given " + std::to_string(r->length_) +
          " bytes (option 'size'): " + std::strerror(error != 0 ? error : errno);
    r->length_ = 0;
    struct stat info {};
    if (fstat(r->fd_, &info) == 0 && S_ISREG(info.st_mode)) (void)unlink(path.c_str());  // is empty
    return nullptr;
  }
  r->header_ = static_cast<cwyt_header*>(base);
  r->records_ = reinterpret_cast<cwyt_record*>(static_cast<char*>(base) + CWYT_HEADER_BYTES);
  r->now_ = services.now;
  r->begin_ = services.now();
  cwyt_header& h = *r->header_;
  const cwy_job& job = *services.job;
  h.record_bytes = sizeof(cwyt_record);
  h.process = static_cast<uint32_t>(::getpid());
  h.rank = job.rank;
  h.size = job.size;
  h.epoch = job.epoch;
  h.capacity = r->capacity_;
  h.begin_ns = r->begin_;
  h.wall_ns = wall_clock();
  std::snprintf(h.job, sizeof h.job, "%s", job.job_id != nullptr ? job.job_id : "");
  std::snprintf(h.over, sizeof h.over, "%s", over);
  gethostname(h.host, sizeof h.host - 1);
  h.magic = CWYT_MAGIC;
  return r;
}

Recorder::~Recorder() {
  if (header_ != nullptr) {
    const uint64_t used = std::min(header_->count, capacity_);
    header_->closed = 1;
    munmap(header_, length_);
    // Failing leaves zeroes behind the last record, which readers take for none.
    const off_t end = static_cast<off_t>(CWYT_HEADER_BYTES + used * sizeof(cwyt_record));
    [[maybe_unused]] const int ignored = ftruncate(fd_, end);
  }
  if (fd_ >= 0) close(fd_);
}

}  // namespace causeway::trace
