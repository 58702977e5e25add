// Segments in device memory (7.2's memory description), over the stand-ins of tests/standins.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "bench/raw/device_access.h"
#include "testing.h"

using namespace spec;

namespace {

constexpr gaspi_segment_id_t kDevice = 7;
constexpr size_t kDeviceBytes = size_t{4} << 20;

bool is_cuda() {
  return std::string(mk::access().name()) == "cuda";
}
gaspi_memory_description_t description(int device) {
  return is_cuda() ? GASPI_MEMORY_CUDA(device) : GASPI_MEMORY_HIP(device);
}

// A segment of device memory on every rank, as long as the object lives.
class DeviceSegment {
 public:
  DeviceSegment() : memory_(mk::access().alloc(0, kDeviceBytes)) {
    CHECK_OK(
        gaspi_segment_use(kDevice, memory_, kDeviceBytes, GASPI_GROUP_ALL, kLong, description(0)));
  }
  ~DeviceSegment() {
    barrier();
    CHECK_OK(gaspi_segment_delete(kDevice));
    barrier();
    mk::access().free(0, memory_);
  }
  DeviceSegment(const DeviceSegment&) = delete;
  DeviceSegment& operator=(const DeviceSegment&) = delete;

  void put(size_t offset, const void* from, size_t bytes) {
    mk::access().copy(0, static_cast<char*>(memory_) + offset, from, bytes);
  }
  void get(size_t offset, void* to, size_t bytes) {
    mk::access().copy(0, to, static_cast<char*>(memory_) + offset, bytes);
  }

 private:
  void* memory_;
};

std::vector<unsigned char> pattern(size_t bytes, unsigned seed) {
  std::vector<unsigned char> out(bytes);
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<unsigned char>(i * 31 + seed * 7 + (i >> 9));
  return out;
}

// What chunks and messages cut differently.
constexpr size_t kSizes[] = {1, 8, 4096, 65537, 900000};

}  // namespace

// From the host's segment to the neighbor's device and back. Catches bytes lost on any way, and
// host code that touches device memory.
SPEC_CASE(devices, write_and_read) {
  DeviceSegment segment;
  for (const size_t n : kSizes) {
    for (unsigned d = 0; d < job().size; ++d) {
      const gaspi_rank_t to = job().peer(d), from = job().behind(d);
      const auto sent = pattern(n, job().rank + d);
      std::memcpy(memory(), sent.data(), n);
      CHECK_OK(gaspi_write(0, 0, to, kDevice, 64, n, 0, kLong));
      CHECK_OK(gaspi_notify(kDevice, to, 3, 1 + job().rank, 0, kLong));
      CHECK_EQ(take_note(kDevice, 3), 1u + from);
      std::vector<unsigned char> seen(n);
      segment.get(64, seen.data(), n);
      CHECK(seen == pattern(n, from + d));
      CHECK_OK(gaspi_wait(0, kLong));
      std::memset(memory(), 0, n);
      CHECK_OK(gaspi_read(0, 0, to, kDevice, 64, n, 0, kLong));
      CHECK_OK(gaspi_wait(0, kLong));
      CHECK(std::memcmp(memory(), sent.data(), n) == 0);
      barrier();
    }
  }
}

// From device to device, with the notification in one call. Catches notifications that overtake.
SPEC_CASE(devices, write_notify) {
  DeviceSegment segment;
  constexpr size_t kHalf = kDeviceBytes / 2;
  for (const size_t n : kSizes) {
    const auto sent = pattern(n, 50 + job().rank);
    segment.put(0, sent.data(), n);
    CHECK_OK(gaspi_write_notify(kDevice, 0, job().peer(), kDevice, kHalf, n, 5, 77, 0, kLong));
    CHECK_EQ(take_note(kDevice, 5), 77u);
    std::vector<unsigned char> seen(n);
    segment.get(kHalf, seen.data(), n);
    CHECK(seen == pattern(n, 50u + job().behind()));
    CHECK_OK(gaspi_wait(0, kLong));
    barrier();
    // To host memory from the device, and back with a notification here.
    CHECK_OK(gaspi_write_notify(kDevice, 0, job().peer(), 0, 0, n, 6, 78, 0, kLong));
    CHECK_EQ(take_note(0, 6), 78u);
    CHECK(std::memcmp(memory(), pattern(n, 50u + job().behind()).data(), n) == 0);
    CHECK_OK(gaspi_wait(0, kLong));
    barrier();
    CHECK_OK(gaspi_read_notify(kDevice, kHalf, job().peer(), kDevice, 0, n, 8, 0, kLong));
    CHECK_EQ(take_note(kDevice, 8), 1u);
    segment.get(kHalf, seen.data(), n);
    CHECK(seen == pattern(n, 50u + job().peer()));
    CHECK_OK(gaspi_wait(0, kLong));
    barrier();
  }
}

SPEC_CASE(devices, atomics) {
  DeviceSegment segment;
  const uint64_t zero[2] = {0, 5};
  segment.put(128, zero, sizeof zero);
  barrier();
  constexpr unsigned kTimes = 20;
  gaspi_atomic_value_t before = 0;
  for (unsigned i = 0; i < kTimes; ++i) {
    for (unsigned r = 0; r < job().size; ++r) {
      CHECK_OK(
          gaspi_atomic_fetch_add(kDevice, 128, static_cast<gaspi_rank_t>(r), 3, &before, kLong));
    }
  }
  barrier();
  uint64_t seen[2] = {};
  segment.get(128, seen, sizeof seen);
  CHECK_EQ(seen[0], 3u * kTimes * job().size);
  barrier();
  if (job().rank == 0) {
    CHECK_OK(gaspi_atomic_compare_swap(kDevice, 136, job().peer(), 5, 6, &before, kLong));
    CHECK_EQ(before, 5u);
  }
  barrier();
  if (job().behind() == 0) {
    segment.get(128, seen, sizeof seen);
    CHECK_EQ(seen[1], 6u);
  }
}

// From device memory into the receiver's. Catches passive messages that are filled, or emptied, by
// the processor.
SPEC_CASE(devices, passive) {
  DeviceSegment segment;
  constexpr size_t kFrom = 128, kTo = 100000;
  for (const size_t n : {size_t{1}, size_t{4096}, size_t{50000}}) {
    segment.put(kFrom, pattern(n, 30 + job().rank).data(), n);
    barrier();
    gaspi_rank_t from = 0;
    const bool sends_first = job().rank == 0;
    const auto send = [&] { CHECK_OK(gaspi_passive_send(kDevice, kFrom, job().peer(), n, kLong)); };
    if (job().size == 1) break;  // nobody receives while this rank sends
    if (sends_first) send();
    CHECK_OK(gaspi_passive_receive(kDevice, kTo, &from, n, kLong));
    if (!sends_first) send();
    CHECK_EQ(from, job().behind());
    std::vector<unsigned char> seen(n);
    segment.get(kTo, seen.data(), n);
    CHECK(seen == pattern(n, 30u + from));
    barrier();
  }
}

// Catches a mistake that is taken for something else, or ends the process.
SPEC_CASE(devices, refusals) {
  void* const memory_of_device = mk::access().alloc(0, 4096);
  std::vector<char> host(4096);
  CHECK_EQ(gaspi_segment_bind(20, memory_of_device, 4096, 0x7770000), GASPI_ERR_DEVICE);
  CHECK_EQ(gaspi_segment_bind(20, memory_of_device, 4096, -1), GASPI_ERR_DEVICE);
  CHECK_EQ(gaspi_segment_bind(20, memory_of_device, 4096, description(999)), GASPI_ERR_DEVICE);
  CHECK_EQ(gaspi_segment_bind(20, host.data(), 4096, description(0)), GASPI_ERR_DEVICE);
  CHECK_EQ(gaspi_segment_bind(20, memory_of_device, size_t{1} << 40, description(0)),
           GASPI_ERR_DEVICE);
  CHECK_EQ(gaspi_segment_bind(20, nullptr, 4096, description(0)), GASPI_ERR_NULLPTR);
  CHECK_OK(gaspi_segment_bind(20, memory_of_device, 4096, description(0)));
  gaspi_pointer_t base = nullptr;
  CHECK_OK(gaspi_segment_ptr(20, &base));
  CHECK(base == memory_of_device);
  CHECK_OK(gaspi_segment_delete(20));
  CHECK_OK(gaspi_segment_bind(20, memory_of_device, 4096, description(0)));
  CHECK_OK(gaspi_segment_delete(20));
  mk::access().free(0, memory_of_device);
  barrier();
}
