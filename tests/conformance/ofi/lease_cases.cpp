// Registrations of local buffers in the conduit `ofi`: how many are made, kept and given up. Run
// over tests/standins/ofi.cpp, which demands them of providers that need none, and counts them. One
// file of cases for all settings of `registration_cache`, which the case's name has.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

struct Counts {
  uint64_t made = 0, live = 0, most = 0;
};
Counts counts() {
  using Ask = void(uint64_t*, uint64_t*, uint64_t*);
  static auto* const ask =
      reinterpret_cast<Ask*>(dlsym(RTLD_DEFAULT, "causeway_standin_ofi_counts"));
  if (ask == nullptr) throw Error(CWY_ERR_INVALID, "tests/standins/ofi.cpp is not preloaded");
  Counts c;
  ask(&c.made, &c.live, &c.most);
  return c;
}

constexpr size_t kBuffer = 64 << 10;  // above copy_below: it is registered

// Many buffers that do not touch, each of kBuffer bytes.
class Buffers {
 public:
  explicit Buffers(size_t count)
      : length_(count * 2 * kBuffer),
        base_(static_cast<uint8_t*>(mmap(nullptr, length_, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (base_ == MAP_FAILED) throw Error(CWY_ERR_NOMEM, "mmap of {} bytes", length_);
  }
  ~Buffers() { munmap(base_, length_); }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  uint8_t* operator[](size_t i) const { return base_ + i * 2 * kBuffer; }

 private:
  size_t length_;
  uint8_t* base_;
};

void put(Session& s, const void* from, size_t length = kBuffer) {
  s.conn().put(from, s.remote().base(), s.remote(), length);
}
void get(Session& s, void* to, size_t length = kBuffer) {
  s.conn().get_data(to, s.remote().base(), s.remote(), length);
}

// Registrations that were made, and that stayed, during `work`.
Counts during(Session& s, const std::function<void()>& work) {
  get(s, Buffers(1)[0], 64);  // whatever the first operation sets up
  const Counts before = counts();
  work();
  const Counts after = counts();
  return {after.made - before.made, after.live - before.live, after.most};
}

// Catches leases that outlive their last operation although the program was promised that it may
// unmap its buffers.
void in_flight_ends_with_the_operation() {
  Session s;
  const Buffers buffers(1);
  const Counts c = during(s, [&] {
    for (int i = 0; i < 20; ++i) put(s, buffers[0]), get(s, buffers[0]);
  });
  EXPECT_EQ(c.made, 40u) << "one for each operation";
  EXPECT_EQ(c.live, 0u) << "kept after the last operation";
}

// Catches `keep` and `watch` that register again what they have, for the whole buffer or a part of
// it.
void uses_them_again() {
  Session s;
  const Buffers buffers(1);
  const Counts c = during(s, [&] {
    for (int i = 0; i < 20; ++i) {
      put(s, buffers[0]);
      get(s, buffers[0] + 100, kBuffer - 200);
    }
  });
  EXPECT_EQ(c.made, 1u);
  EXPECT_EQ(c.live, 1u) << "not kept";
}

// Where the kernel or a container refuses that, `watch` keeps nothing.
bool memory_can_be_watched() {
  constexpr int user_mode_only = 1;
  const long fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | user_mode_only);
  if (fd >= 0) close(static_cast<int>(fd));
  return fd >= 0;
}

void watch_uses_them_again() {
  if (!memory_can_be_watched()) throw Skip{"userfaultfd, which is refused here"};
  uses_them_again();
}

// Catches a registration that is used again although its memory was unmapped, and other memory
// stands at its address since.
void watch_forgets_what_was_unmapped() {
  if (!memory_can_be_watched()) throw Skip{"userfaultfd, which is refused here"};
  Session s;
  constexpr int how = MAP_PRIVATE | MAP_ANONYMOUS;
  void* const at = mmap(nullptr, kBuffer, PROT_READ | PROT_WRITE, how, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  const Buffers buffers(1);
  const Counts c = during(s, [&] {
    for (uint64_t round = 1; round <= 3; ++round) {
      fill_pattern(static_cast<uint8_t*>(at), kBuffer, round);
      put(s, at);
      get(s, buffers[0]);
      EXPECT_EQ(first_difference(buffers[0], kBuffer, round), kBuffer);
      ASSERT_EQ(munmap(at, kBuffer), 0);
      ASSERT_EQ(mmap(at, kBuffer, PROT_READ | PROT_WRITE, how | MAP_FIXED, -1, 0), at);
    }
    put(s, at);
  });
  EXPECT_EQ(c.made, 5u) << "one for each life of the buffer, and that of the other one";
  EXPECT_EQ(c.live, 2u) << "registrations of memory that has gone are kept";
  munmap(at, kBuffer);
}

// Catches registrations kept without a bound (registration_cache_entries=16), and eviction of those
// that are used most.
void keep_is_bounded() {
  Session s;
  const Buffers buffers(200);
  const Counts c = during(s, [&] {
    for (size_t i = 1; i < 200; ++i) put(s, buffers[i]), put(s, buffers[0]);
  });
  EXPECT_EQ(c.live, 16u);
  EXPECT_EQ(c.made, 200u) << "the buffer that every second put came from was given up";
  // What was given up is registered again, and what comes back is right.
  const Counts again = during(s, [&] {
    fill_pattern(buffers[1], kBuffer, 77);
    put(s, buffers[1]);
    get(s, buffers[2]);
  });
  EXPECT_EQ(again.made, 2u);
  EXPECT_EQ(first_difference(buffers[2], kBuffer, 77), kBuffer);
}

// Catches a bound that counts registrations and not what they pin (registration_cache_bytes=1MiB).
void keep_is_bounded_in_bytes() {
  Session s;
  const Buffers buffers(40);
  const Counts c = during(s, [&] {
    for (size_t i = 0; i < 40; ++i) put(s, buffers[i]);
  });
  EXPECT_EQ(c.live, (1u << 20) / kBuffer);
}

// Catches kept registrations that use up the provider's room for others: the stand-in has room for
// a few more than the conduit's own.
void keep_makes_room() {
  Session s;
  const Buffers buffers(100);
  const Counts c = during(s, [&] {
    for (size_t i = 0; i < 100; ++i) put(s, buffers[i]);
  });
  EXPECT_EQ(c.made, 100u) << "buffers were copied, or not sent at all";
}

// Catches registrations that are ended while operations use them: many at once, from and to the
// same and overlapping buffers. The stand-in ends the process.
void shared_by_operations_under_way() {
  Session s;
  const Buffers buffers(4);
  const auto post = [&](uint64_t i) {
    const bool is_put = i % 2 == 0;
    Op& op = is_put ? s.pool().put() : s.pool().fetch();
    const bool whole = i / 4 % 4 == 0;  // the others find its lease
    const size_t at = whole ? 0 : i * 37 % 1000, length = whole ? kBuffer : kBuffer - 1000 + i % 7;
    uint8_t* const here = buffers[i % 4] + at;
    return s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return is_put ? s.ops().put(s.raw(), here, nullptr, s.remote().base(), s.remote().get(),
                                        length, 0, raw)
                          : s.ops().get(s.raw(), here, nullptr, s.remote().base(), s.remote().get(),
                                        length, 0, raw);
          });
        },
        "put or get");
  };
  for (uint64_t i = 0; i < 400; ++i) {
    const cwy_status status = post(i);
    ASSERT_GE(status, 0) << status_name(status);
  }
  s.ep().until([&] { return s.pool().unfinished() == 0; }, "all of them");
}

// Run again and again: all of it goes away with its endpoint, whatever the setting.
void nothing_outlives_the_domain() {
  for (int round = 0; round < 3; ++round) {
    Session s;
    const Buffers buffers(8);
    for (size_t i = 0; i < 8; ++i) put(s, buffers[i]);
  }
  EXPECT_EQ(counts().live, 0u) << "registrations outlive the domain";
}

const Cases cases{
    {"InFlight", "ends_with_the_operation", kPut | kGet | kMemory,
     in_flight_ends_with_the_operation},
    {"Watch", "uses_them_again", kPut | kGet | kMemory, watch_uses_them_again},
    {"Watch", "forgets_what_was_unmapped", kPut | kGet | kMemory, watch_forgets_what_was_unmapped},
    {"Keep", "uses_them_again", kPut | kGet | kMemory, uses_them_again},
    {"Keep", "is_bounded", kPut | kGet | kMemory, keep_is_bounded},
    {"Keep", "is_bounded_in_bytes", kPut | kMemory, keep_is_bounded_in_bytes},
    {"Keep", "makes_room", kPut | kMemory, keep_makes_room},
    {"Lease", "shared_by_operations_under_way", kPut | kGet | kMemory,
     shared_by_operations_under_way},
    {"Lease", "nothing_outlives_the_domain", kPut | kMemory, nothing_outlives_the_domain},
};

}  // namespace
}  // namespace causeway::conformance
