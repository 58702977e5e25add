// A rank dies in the middle of staged transfers of device memory, and the others go on. Started
// with `causeway run --on-failure=continue` over a stand-in whose copies take long, with few
// buffers.
//
//   spec_gaspi_device_failure asleep      rank 1 has asked for transfers, is granted buffers,
//   answers
//                                         nothing (threads.progress=none) and dies
//   spec_gaspi_device_failure busy usec   rank 1 dies so long after everybody has begun
//   spec_gaspi_device_failure refused     nobody dies: a stage of rank 0's fails, after rank 1 has
//                                         granted it the only buffer there is
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench/raw/device_access.h"
#include "survivors.h"

using namespace spec;

namespace {

constexpr gaspi_rank_t kVictim = 1;
constexpr gaspi_segment_id_t kHost = 0, kDevice = 1;
constexpr size_t kPiece = size_t{1} << 19, kSegment = 4 * kPiece;
// Queues of transfers with the victim, which are purged, and with the rank that stays. What is
// purged may go on reading and writing; nothing that the case looks at later.
constexpr gaspi_queue_id_t kPuts = 0, kGets = 1, kPutsToNext = 2, kGetsFromNext = 3;

char* host;
void* device;

void start() {
  EXPECT(gaspi_proc_init(GASPI_BLOCK) == GASPI_SUCCESS);
  introduce_oneself();
  EXPECT(gaspi_segment_create(kHost, kSegment, GASPI_GROUP_ALL, GASPI_BLOCK,
                              GASPI_MEM_INITIALIZED) == GASPI_SUCCESS);
  gaspi_pointer_t base = nullptr;
  gaspi_segment_ptr(kHost, &base);
  host = static_cast<char*>(base);
  device = mk::access().alloc(0, kSegment);
  EXPECT(gaspi_segment_use(kDevice, device, kSegment, GASPI_GROUP_ALL, GASPI_BLOCK,
                           GASPI_MEMORY_CUDA(0)) == GASPI_SUCCESS);
  EXPECT(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS);
}

// The victim lives until everybody has left the start behind.
void meet_at_victim() {
  constexpr gaspi_notification_id_t kFirst = 100;
  if (me != kVictim) {
    EXPECT(gaspi_notify(kHost, kVictim, kFirst + me, 1, kPuts, GASPI_BLOCK) == GASPI_SUCCESS);
    EXPECT(gaspi_wait(kPuts, GASPI_BLOCK) == GASPI_SUCCESS);
    return;
  }
  for (gaspi_rank_t r = 0; r < all; ++r) {
    if (r != me) EXPECT(take_note(kHost, kFirst + r) == 1);
  }
}

// To and from the rank's device, of host memory and of device memory here, each in its quarter.
void begin(gaspi_rank_t rank, gaspi_queue_id_t puts, gaspi_queue_id_t gets) {
  for (const gaspi_segment_id_t local : {kHost, kDevice}) {
    const gaspi_offset_t at = local * kPiece;
    gaspi_write(local, at, rank, kDevice, at, kPiece, puts, GASPI_BLOCK);
    gaspi_read(local, 2 * kPiece + at, rank, kDevice, 2 * kPiece + at, kPiece, gets, GASPI_BLOCK);
  }
}

void die(const std::string& what, unsigned after) {
  for (gaspi_rank_t r = 0; r < all; ++r) {
    if (r != me) begin(r, kPuts, kGets);
  }
  const double end = seconds_now() + after * 1e-6;
  while (seconds_now() < end) {
    if (what == "asleep") {
      ::usleep(1000);
    } else {
      gaspi_wait(kPuts, GASPI_TEST);
    }
  }
  ::raise(SIGKILL);
}

// The others have asked the victim too. Then each fills the next one's device and reads it back,
// which needs every buffer that the dead rank had.
void go_on() {
  const auto next = static_cast<gaspi_rank_t>(me == 0 ? 2 : 0);
  begin(kVictim, kPuts, kGets);
  begin(next, kPutsToNext, kGetsFromNext);
  const double end = seconds_now() + 60;
  while (!is_corrupt(kVictim) && seconds_now() < end) gaspi_wait(kPuts, 10);
  EXPECT(is_corrupt(kVictim));
  for (const gaspi_queue_id_t queue : {kPuts, kGets}) {
    EXPECT(gaspi_wait(queue, 60000) != GASPI_TIMEOUT);
    EXPECT(gaspi_queue_purge(queue, 60000) == GASPI_SUCCESS);
  }
  for (const gaspi_queue_id_t queue : {kPutsToNext, kGetsFromNext}) {
    EXPECT(gaspi_wait(queue, 60000) == GASPI_SUCCESS);
  }
  for (unsigned round = 0; round < 2; ++round) {
    std::vector<char> data(kPiece, static_cast<char>(65 + me + round)), seen(kPiece);
    std::memcpy(host, data.data(), kPiece);
    mk::access().copy(0, static_cast<char*>(device) + 2 * kPiece, data.data(), kPiece);
    for (const gaspi_segment_id_t local : {kHost, kDevice}) {
      // The other one writes to the first half of the device's memory here.
      const gaspi_offset_t from = local * 2 * kPiece, there = local * kPiece, back = from + kPiece;
      EXPECT(gaspi_write(local, from, next, kDevice, there, kPiece, kPuts, 60000) == GASPI_SUCCESS);
      EXPECT(gaspi_wait(kPuts, 60000) == GASPI_SUCCESS);
      EXPECT(gaspi_read(local, back, next, kDevice, there, kPiece, kGets, 60000) == GASPI_SUCCESS);
      EXPECT(gaspi_wait(kGets, 60000) == GASPI_SUCCESS);
    }
    EXPECT(std::memcmp(host + kPiece, data.data(), kPiece) == 0);
    mk::access().copy(0, seen.data(), static_cast<char*>(device) + 3 * kPiece, kPiece);
    EXPECT(seen == data);
  }
  // Nobody leaves while the other one still needs it.
  EXPECT(gaspi_notify(kHost, next, 0, 1, kPuts, GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(take_note(kHost, 0) == 1);
  EXPECT(gaspi_wait(kPuts, 60000) == GASPI_SUCCESS);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS);
}

// Rank 0's write fails (tests/standins/window.cpp). Then rank 2 writes to rank 1 through the buffer
// that rank 0 was granted, and reads back what it wrote.
void give_back() {
  constexpr gaspi_rank_t kOwner = 1, kNext = 2;
  if (me == 0) {
    EXPECT(gaspi_write(kHost, 0, kOwner, kDevice, 0, kPiece, kPuts, 60000) == GASPI_SUCCESS);
    EXPECT(gaspi_wait(kPuts, 60000) == GASPI_ERROR);
    EXPECT(gaspi_notify(kHost, kNext, 0, 1, kGets, GASPI_BLOCK) == GASPI_SUCCESS);
    EXPECT(gaspi_wait(kGets, 60000) == GASPI_SUCCESS);
  } else if (me == kNext) {
    EXPECT(spec::take_note(kHost, 0) == 1);
    std::memset(host, 77, kPiece);
    EXPECT(gaspi_write(kHost, 0, kOwner, kDevice, 0, kPiece, kPuts, 60000) == GASPI_SUCCESS);
    EXPECT(gaspi_wait(kPuts, 60000) == GASPI_SUCCESS);
    EXPECT(gaspi_read(kHost, kPiece, kOwner, kDevice, 0, kPiece, kGets, 60000) == GASPI_SUCCESS);
    EXPECT(gaspi_wait(kGets, 60000) == GASPI_SUCCESS);
    EXPECT(std::memcmp(host, host + kPiece, kPiece) == 0);
    for (const gaspi_rank_t r : {gaspi_rank_t{0}, kOwner}) {
      EXPECT(gaspi_notify(kHost, r, 1, 1, kPuts, GASPI_BLOCK) == GASPI_SUCCESS);
    }
    EXPECT(gaspi_wait(kPuts, 60000) == GASPI_SUCCESS);
    return;
  }
  EXPECT(spec::take_note(kHost, 1) == 1);
}

}  // namespace

// Catches: buffers that stay with the dead, or with who cannot use them, transfers to them that end
// the job or never end, and last words of theirs that are taken for a mistake.
int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  start();
  if (what == "refused") {
    give_back();
    EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS);
    if (me == 2 && failures == 0) std::printf("%s: well\n", what.c_str());
    return failures == 0 ? 0 : 1;
  }
  meet_at_victim();
  if (me == kVictim) die(what, argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 200000);
  go_on();
  if (me == 0 && failures == 0) std::printf("%s: well\n", what.c_str());
  return failures == 0 ? 0 : 1;
}
