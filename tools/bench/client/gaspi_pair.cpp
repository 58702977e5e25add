#include "gaspi_pair.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "measure.h"

namespace causeway::bench {
namespace {

constexpr gaspi_notification_id_t kNote = 1, kNever = 2;

}  // namespace

void require(gaspi_return_t result, const char* call) {
  if (result == GASPI_SUCCESS) return;
  fmt::print(stderr, "{}: {}: {}\n", program_invocation_short_name, call, gaspi_error_str(result));
  std::exit(1);
}

void meet() {
  REQUIRE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
}

GaspiPair::GaspiPair(size_t segment_bytes, size_t shared_bytes, Wanted wanted)
    : wanted_(std::move(wanted)) {
  REQUIRE(gaspi_proc_init(GASPI_BLOCK));
  gaspi_rank_t rank = 0, ranks = 0;
  REQUIRE(gaspi_proc_rank(&rank));
  REQUIRE(gaspi_proc_num(&ranks));
  if (ranks != 2) {
    fmt::print(stderr, "{}: {} ranks; it measures two\n", program_invocation_short_name, ranks);
    std::exit(2);
  }
  first_ = rank == 0;
  core_ = pin_to_own_core(rank, ranks);
  REQUIRE(
      gaspi_segment_create(0, segment_bytes, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  gaspi_pointer_t pointer = nullptr;
  REQUIRE(gaspi_segment_ptr(0, &pointer));
  segment_ = static_cast<unsigned char*>(pointer);
  shared_ = share(shared_bytes);
}

void GaspiPair::leave() {
  meet();
  REQUIRE(gaspi_proc_term(GASPI_BLOCK));
}

void GaspiPair::tell_facts() const {
  if (first_) print_facts(2, core_.cores, core_.pinned);
}

void GaspiPair::report(const char* name, double ours, std::optional<double> raw,
                       const std::string& path, const std::string& note,
                       const Spread& spread) const {
  if (first_) print_record({name, ours, raw, path, note, spread});
}

void* GaspiPair::share(size_t bytes) {
  struct Where {
    int pid, fd;
  } where{};
  int fd = -1;
  if (first_) {
    fd = memfd_create("causeway-bench", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, bytes) != 0) require(GASPI_ERROR, "memfd_create");
    where = {getpid(), fd};
    std::memcpy(segment_, &where, sizeof where);
  }
  meet();
  if (!first_) {
    REQUIRE(gaspi_read(0, 0, 0, 0, 0, sizeof where, 0, GASPI_BLOCK));
    REQUIRE(gaspi_wait(0, GASPI_BLOCK));
    std::memcpy(&where, segment_, sizeof where);
    fd = open(fmt::format("/proc/{}/fd/{}", where.pid, where.fd).c_str(), O_RDWR | O_CLOEXEC);
  }
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) require(GASPI_ERROR, "mmap of the other rank's memory");
  meet();
  close(fd);
  return at;
}

void GaspiPair::poll() const {
  gaspi_notification_id_t found = 0;
  const gaspi_return_t result = gaspi_notify_waitsome(0, kNever, 1, &found, GASPI_TEST);
  if (result != GASPI_TIMEOUT) require(GASPI_ERROR, "gaspi_notify_waitsome for what nobody sends");
}

double GaspiPair::notified_trips(uint64_t count) const {
  constexpr uint64_t kBetweenWaits = 256;
  const auto send = [&] {
    REQUIRE(gaspi_write_notify(0, 0, other(), 0, 64, 8, kNote, 1, 0, GASPI_BLOCK));
  };
  const auto take = [] {
    gaspi_notification_id_t found = 0;
    gaspi_notification_t value = 0;
    REQUIRE(gaspi_notify_waitsome(0, kNote, 1, &found, GASPI_BLOCK));
    REQUIRE(gaspi_notify_reset(0, found, &value));
  };
  meet();
  return elapsed_ns([&] {
           for (uint64_t i = 1; i <= count; ++i) {
             if (first_) send();
             take();
             if (!first_) send();
             if (i % kBetweenWaits == 0) REQUIRE(gaspi_wait(0, GASPI_BLOCK));
           }
           REQUIRE(gaspi_wait(0, GASPI_BLOCK));
         }) /
         static_cast<double>(count);
}

}  // namespace causeway::bench
