#include "simulated.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace standin {
namespace {

struct Memory {
  size_t length;  // what was asked for
  size_t mapped;  // whole pages
  char* alias;
  int fd;
  int device;
  unsigned imports;  // 0: allocated here
  uint64_t inode;
  bool synchronous = false;
  unsigned handles = 0;  // to be given back
};

struct Copy {
  char* dst;
  const char* src;
  size_t length;
  uint64_t due;
};

std::recursive_mutex g_mutex;  // of everything below
std::map<uint64_t, Memory> g_memory;
std::map<uint64_t, size_t> g_pinned;
uint64_t g_used[64] = {};
std::atomic<pid_t> g_started{0};
std::atomic<int> g_copies{0};
std::atomic<bool> g_lost{false};
Tally g_tally;

const char* text_setting(const char* name) {
  return std::getenv((std::string("STANDIN_") + name).c_str());
}

uint64_t now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

size_t pages(size_t length) {
  constexpr size_t kPage = 4096;
  return (std::max<size_t>(length, 1) + kPage - 1) / kPage * kPage;
}

// The memory with `addr` in it, by where the device sees it.
std::map<uint64_t, Memory>::iterator holding(uint64_t addr) {
  auto at = g_memory.upper_bound(addr);
  if (at == g_memory.begin()) return g_memory.end();
  --at;
  return addr - at->first < at->second.length ? at : g_memory.end();
}

Outcome map_twice(int fd, size_t length, int device, unsigned imports, void** out) {
  const size_t mapped = pages(length);
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return Outcome::invalid;
  void* const seen = ::mmap(nullptr, mapped, PROT_NONE, MAP_SHARED, fd, 0);
  void* const alias = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (seen == MAP_FAILED || alias == MAP_FAILED) {
    if (seen != MAP_FAILED) ::munmap(seen, mapped);
    if (alias != MAP_FAILED) ::munmap(alias, mapped);
    return Outcome::no_memory;
  }
  // A child of fork must not reach the memory either: drivers' memory is the parent's alone.
  ::madvise(alias, mapped, MADV_DONTFORK);
  g_memory[reinterpret_cast<uint64_t>(seen)] = {
      length, mapped,  static_cast<char*>(alias),          fd,
      device, imports, static_cast<uint64_t>(facts.st_ino)};
  *out = seen;
  return Outcome::ok;
}

// Where the bytes are that the host address or the device's names; NULL when it is a device's and
// not all of the range is.
char* bytes_at(const void* addr, size_t length) {
  const auto at = reinterpret_cast<uint64_t>(addr);
  const auto found = holding(at);
  if (found == g_memory.end()) return const_cast<char*>(static_cast<const char*>(addr));
  const uint64_t offset = at - found->first;
  if (length > found->second.length - offset) return nullptr;
  return found->second.alias + offset;
}

// The page-locked range that holds the address; the end of the list where there is none.
std::map<uint64_t, size_t>::iterator pinned_around(uint64_t at) {
  auto next = g_pinned.upper_bound(at);
  if (next == g_pinned.begin()) return g_pinned.end();
  --next;
  return at - next->first < next->second ? next : g_pinned.end();
}

// Is the range page-locked host memory, in one piece?
bool page_locked(const void* addr, size_t length) {
  const auto at = reinterpret_cast<uint64_t>(addr);
  const auto range = pinned_around(at);
  return range != g_pinned.end() && length <= range->second - (at - range->first);
}

bool may_copy(const void* host, size_t length, Ranges ranges) {
  const auto at = reinterpret_cast<uint64_t>(host);
  if (ranges == Ranges::any || holding(at) != g_memory.end()) return true;
  if (pinned_around(at) != g_pinned.end()) return page_locked(host, length);
  const auto next = g_pinned.lower_bound(at);
  return ranges == Ranges::keep_begun || next == g_pinned.end() || next->first >= at + length;
}

// Bytes per nanosecond of a copy.
double speed_of(const void* dst, const void* src, size_t length) {
  const char* const bandwidth = text_setting("BANDWIDTH");
  double speed = bandwidth != nullptr ? std::atof(bandwidth) : 16.0;
  const char* const pageable = text_setting("PAGEABLE");
  if (pageable == nullptr) return std::max(speed, 0.001);
  for (const void* end : {dst, src}) {
    const bool host = holding(reinterpret_cast<uint64_t>(end)) == g_memory.end();
    if (host && !page_locked(end, length)) speed *= std::atof(pageable);
  }
  return std::max(speed, 0.001);
}

void tally(const void* dst, const void* src, size_t length) {
  for (const void* end : {dst, src}) {
    const auto at = reinterpret_cast<uint64_t>(end);
    if (holding(at) != g_memory.end()) continue;
    ++g_tally.copies;
    g_tally.bytes += length;
    g_tally.locked += page_locked(end, length);
    g_tally.low = std::min(g_tally.low, at);
    g_tally.high = std::max(g_tally.high, at + length);
  }
}

// A program that breaks a driver's rule where no answer would show it.
[[noreturn]] void rule_broken(const char* rule) {
  std::fprintf(stderr, "stand-in: %s\n", rule);
  std::abort();
}

// With the process where Level Zero's newer handles have it.
struct HandleFacts {
  int32_t fd;
  int32_t device;
  uint32_t magic;
  uint32_t unused;
  int32_t pid;  // 0: not named
  uint32_t unused_too;
  uint64_t length;
};
constexpr uint32_t kMagic = 0x57a4d114;
static_assert(sizeof(HandleFacts) <= sizeof(Handle));

}  // namespace

struct Queue {
  std::deque<Copy> copies;
  uint64_t enqueued = 0, done = 0;
  uint64_t free_at = 0;  // when the copy engine has ended what it has
};

namespace {

// Performs what is due, or all of it.
void perform(Queue& queue, bool all) {
  const uint64_t time = all ? UINT64_MAX : now();
  while (!queue.copies.empty() && queue.copies.front().due <= time) {
    const Copy& c = queue.copies.front();
    std::memcpy(c.dst, c.src, c.length);
    queue.copies.pop_front();
    ++queue.done;
  }
}

}  // namespace

int setting(const char* name, int otherwise) {
  const char* text = text_setting(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}
int device_count() {
  return std::min(setting("DEVICES", 2), 64);
}
uint64_t memory_bytes() {
  const char* text = text_setting("MEMORY");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : uint64_t{1} << 30;
}
bool fails(const char* what) {
  const char* text = text_setting("FAIL");
  return text != nullptr && std::strcmp(text, what) == 0;
}

bool opaque_handles() {
  const char* text = text_setting("IPC");
  return text != nullptr && std::strcmp(text, "opaque") == 0;
}

void start() {
  pid_t none = 0;
  g_started.compare_exchange_strong(none, ::getpid());
}
Outcome usable() {
  if (g_started.load() != ::getpid()) return Outcome::forked;
  return g_lost.load() ? Outcome::lost : Outcome::ok;
}

Outcome allocate(int device, size_t length, void** out) {
  if (const Outcome o = usable(); o != Outcome::ok) return o;
  const std::lock_guard lock(g_mutex);
  if (fails("alloc") || length > memory_bytes() - g_used[device]) return Outcome::no_memory;
  const int fd = ::memfd_create("standin-device", MFD_CLOEXEC);
  if (fd < 0) return Outcome::no_memory;
  if (::ftruncate(fd, static_cast<off_t>(pages(length))) != 0) {
    ::close(fd);
    return Outcome::no_memory;
  }
  const Outcome o = map_twice(fd, length, device, 0, out);
  if (o != Outcome::ok) {
    ::close(fd);
    return o;
  }
  // What was never written is not zero on a device.
  std::memset(g_memory[reinterpret_cast<uint64_t>(*out)].alias, 0xA5,
              std::min<size_t>(length, 4096));
  g_used[device] += length;
  return Outcome::ok;
}

static void unmap(std::map<uint64_t, Memory>::iterator at) {
  ::munmap(reinterpret_cast<void*>(at->first), at->second.mapped);
  ::munmap(at->second.alias, at->second.mapped);
  ::close(at->second.fd);
  g_memory.erase(at);
}

Outcome release(void* addr) {
  if (const Outcome o = usable(); o != Outcome::ok) return o;
  const std::lock_guard lock(g_mutex);
  const auto at = g_memory.find(reinterpret_cast<uint64_t>(addr));
  if (at == g_memory.end() || at->second.imports != 0) return Outcome::invalid;
  if (at->second.handles != 0) rule_broken("memory is released whose handles were not given back");
  struct stat there {};
  if (::fstat(at->second.fd, &there) != 0 ||
      static_cast<uint64_t>(there.st_ino) != at->second.inode) {
    rule_broken("a descriptor that is the driver's was closed");
  }
  if (::flock(at->second.fd, LOCK_EX | LOCK_NB) != 0) {
    rule_broken("memory is released that another process has open");
  }
  g_used[at->second.device] -= at->second.length;
  unmap(at);
  return Outcome::ok;
}

bool find(uint64_t addr, Block* out) {
  const std::lock_guard lock(g_mutex);
  const auto at = holding(addr);
  if (at == g_memory.end()) return false;
  *out = {at->first, at->second.length, at->second.device, at->second.imports != 0,
          at->second.synchronous};
  return true;
}

bool make_synchronous(uint64_t addr) {
  const std::lock_guard lock(g_mutex);
  const auto at = holding(addr);
  if (at == g_memory.end()) return false;
  return at->second.synchronous = true;
}

Outcome export_handle(void* addr, Handle* out, Finds finds) {
  if (const Outcome o = usable(); o != Outcome::ok) return o;
  const std::lock_guard lock(g_mutex);
  const auto at = g_memory.find(reinterpret_cast<uint64_t>(addr));
  if (at == g_memory.end() || at->second.imports != 0) return Outcome::invalid;
  std::memset(out, 0, sizeof *out);
  const HandleFacts facts{
      at->second.fd,    at->second.device, kMagic, 0, finds == Finds::driver ? ::getpid() : 0, 0,
      at->second.length};
  std::memcpy(out->bytes, &facts, sizeof facts);
  return Outcome::ok;
}

// A description of its own of a file that the process has open, with a lock that says so to the
// owner until it is closed, or its process ends.
static int open_anew(pid_t process, int fd) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, fd);
  const int own = ::open(path, O_RDWR | O_CLOEXEC);
  if (own >= 0 && ::flock(own, LOCK_SH | LOCK_NB) == 0) return own;
  if (own >= 0) ::close(own);
  return -1;
}

Outcome import_handle(const Handle& handle, void** out, Finds finds) {
  if (const Outcome o = usable(); o != Outcome::ok) return o;
  if (fails("ipc")) return Outcome::unsupported;
  const std::lock_guard lock(g_mutex);
  HandleFacts facts{};
  std::memcpy(&facts, handle.bytes, sizeof facts);
  if (facts.magic != kMagic) return Outcome::invalid;
  // CUDA and HIP refuse a handle of the process' own.
  if (finds == Finds::driver && facts.pid == ::getpid()) return Outcome::invalid;
  const int fd = open_anew(finds == Finds::program ? ::getpid() : facts.pid, facts.fd);
  if (fd < 0) return Outcome::invalid;
  struct stat there {};
  if (::fstat(fd, &there) != 0 || static_cast<uint64_t>(there.st_size) < pages(facts.length)) {
    ::close(fd);
    return Outcome::invalid;
  }
  // The same memory opened again is the same mapping.
  for (auto& [base, memory] : g_memory) {
    if (memory.imports == 0 || memory.inode != static_cast<uint64_t>(there.st_ino)) continue;
    ++memory.imports;
    ::close(fd);
    *out = reinterpret_cast<void*>(base);
    return Outcome::ok;
  }
  const Outcome o = map_twice(fd, facts.length, facts.device, 1, out);
  if (o != Outcome::ok) ::close(fd);
  return o;
}

Outcome close_import(void* addr) {
  if (const Outcome o = usable(); o != Outcome::ok) return o;
  const std::lock_guard lock(g_mutex);
  const auto at = g_memory.find(reinterpret_cast<uint64_t>(addr));
  if (at == g_memory.end() || at->second.imports == 0) return Outcome::invalid;
  if (--at->second.imports == 0) unmap(at);
  return Outcome::ok;
}

void count_handle(void* addr) {
  const std::lock_guard lock(g_mutex);
  const auto at = g_memory.find(reinterpret_cast<uint64_t>(addr));
  if (at != g_memory.end()) ++at->second.handles;
}
Outcome give_back(const Handle& handle) {
  const std::lock_guard lock(g_mutex);
  HandleFacts facts{};
  std::memcpy(&facts, handle.bytes, sizeof facts);
  for (auto& [base, memory] : g_memory) {
    if (memory.fd != facts.fd || memory.handles == 0) continue;
    --memory.handles;
    return Outcome::ok;
  }
  rule_broken("a handle is given back whose memory is released already");
}

Outcome export_descriptor(void* addr, int* fd, uint64_t* offset, Descriptor whose) {
  if (const Outcome o = usable(); o != Outcome::ok) return o;
  const std::lock_guard lock(g_mutex);
  const auto at = holding(reinterpret_cast<uint64_t>(addr));
  if (at == g_memory.end()) return Outcome::invalid;
  *fd = whose == Descriptor::drivers ? at->second.fd : ::fcntl(at->second.fd, F_DUPFD_CLOEXEC, 0);
  *offset = reinterpret_cast<uint64_t>(addr) - at->first;
  return *fd >= 0 ? Outcome::ok : Outcome::invalid;
}

Queue* make_queue() {
  return new Queue;
}
void destroy_queue(Queue* queue) {
  const std::lock_guard lock(g_mutex);
  perform(*queue, true);
  delete queue;
}
Outcome copy_now(void* dst, const void* src, size_t length, Ranges ranges) {
  Queue queue;
  const Outcome o = copy(&queue, dst, src, length, ranges);
  drain(&queue);
  return o;
}

Outcome copy(Queue* queue, void* dst, const void* src, size_t length, Ranges ranges) {
  if (const Outcome o = usable(); o != Outcome::ok) return o;
  const char* const failure = text_setting("FAIL");
  if (failure != nullptr && std::strncmp(failure, "lost:", 5) == 0 &&
      g_copies.fetch_add(1) + 1 >= std::atoi(failure + 5)) {
    g_lost.store(true);
    return Outcome::lost;
  }
  const std::lock_guard lock(g_mutex);
  char* const to = bytes_at(dst, length);
  const char* const from = bytes_at(src, length);
  if (to == nullptr || from == nullptr) return Outcome::invalid;
  if (!may_copy(dst, length, ranges) || !may_copy(src, length, ranges)) return Outcome::invalid;
  const auto latency = static_cast<uint64_t>(std::max(setting("LATENCY", 5000), 0));
  queue->free_at = std::max(queue->free_at, now()) + latency +
                   static_cast<uint64_t>(static_cast<double>(length) / speed_of(dst, src, length));
  queue->copies.push_back({to, from, length, queue->free_at});
  tally(dst, src, length);
  ++queue->enqueued;
  return Outcome::ok;
}

uint64_t mark(Queue* queue) {
  const std::lock_guard lock(g_mutex);
  return queue->enqueued;
}
Outcome reached(Queue* queue, uint64_t place) {
  if (const Outcome o = usable(); o != Outcome::ok) return o;
  const std::lock_guard lock(g_mutex);
  perform(*queue, false);
  return queue->done >= place ? Outcome::ok : Outcome::not_ready;
}
// As long as the device takes, with nobody else kept from it.
void drain(Queue* queue) {
  constexpr uint64_t kShort = 200000;  // what a sleep would be late by
  for (uint64_t due = 0;;) {
    {
      const std::lock_guard lock(g_mutex);
      if (queue->copies.empty()) return;
      due = queue->copies.back().due;
      if (due <= now()) return perform(*queue, true);
    }
    if (due - now() < kShort) {
      ::sched_yield();
      continue;
    }
    const timespec until{static_cast<time_t>(due / 1000000000u),
                         static_cast<long>(due % 1000000000u)};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
}

Outcome pin(void* addr, size_t length) {
  const std::lock_guard lock(g_mutex);
  const auto at = reinterpret_cast<uint64_t>(addr);
  const auto next = g_pinned.lower_bound(at);
  if (pinned_around(at) != g_pinned.end() ||
      (next != g_pinned.end() && next->first < at + length)) {
    return Outcome::invalid;
  }
  g_pinned.emplace(at, length);
  return Outcome::ok;
}
bool find_pinned(uint64_t addr, uint64_t* base, size_t* length) {
  const std::lock_guard lock(g_mutex);
  const auto range = pinned_around(addr);
  if (range == g_pinned.end()) return false;
  *base = range->first;
  *length = range->second;
  return true;
}
Outcome unpin(void* addr) {
  const std::lock_guard lock(g_mutex);
  return g_pinned.erase(reinterpret_cast<uint64_t>(addr)) != 0 ? Outcome::ok : Outcome::invalid;
}

}  // namespace standin

void causeway_standin_tally(standin::Tally* out) {
  const std::lock_guard lock(standin::g_mutex);
  *out = standin::g_tally;
  standin::g_tally = {};
}

void* causeway_standin_bytes(const void* addr, size_t length) {
  const std::lock_guard lock(standin::g_mutex);
  return standin::bytes_at(addr, length);
}
