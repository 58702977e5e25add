// The raw loops between two processes, on a mapping that a fork shares. Each test runs several
// series, as the bench does, so that a series that starts from a wrong count hangs or fails here.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "raw/barrier.h"
#include "raw/exchange.h"
#include "raw/line.h"
#include "raw/ring.h"
#include "raw/stream.h"

namespace causeway::bench::raw {
namespace {

template <class T>
class SharedObject {
 public:
  SharedObject()
      : memory_(
            mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~SharedObject() { munmap(memory_, sizeof(T)); }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  T& operator*() { return *static_cast<T*>(memory_); }
  T* operator->() { return static_cast<T*>(memory_); }

 private:
  void* memory_;
};

// Runs `second` in another process and `first` here; true when the second one returned true.
// An alarm ends a pair that waits for each other in vain.
template <class First, class Second>
bool in_two_processes(First&& first, Second&& second) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(second() ? 0 : 1);
  }
  alarm(60);
  first();
  alarm(0);
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

constexpr uint64_t kSeries = 3, kTurns = 5000;

// Would catch: a series that does not end where the next one begins.
TEST(Line, EveryBounceIsAnswered) {
  SharedObject<Line> line;
  EXPECT_TRUE(in_two_processes(
      [&] {
        for (uint64_t s = 0; s < kSeries; ++s) bounce_first(*line, kTurns, true);
      },
      [&] {
        for (uint64_t s = 0; s < kSeries; ++s) bounce_second(*line, 2 * kTurns * s, kTurns, true);
        return true;
      }));
  EXPECT_EQ(line->turn.load(), 2 * kSeries * kTurns);
}

// Would catch: a series that does not end where the next one begins.
TEST(LinePair, EveryStepIsAnswered) {
  SharedObject<LinePair> lines;
  EXPECT_TRUE(in_two_processes(
      [&] {
        for (uint64_t s = 0; s < kSeries; ++s) answer_first(*lines, kTurns, true);
      },
      [&] {
        for (uint64_t s = 0; s < kSeries; ++s) answer_second(*lines, kTurns, true);
        return true;
      }));
  EXPECT_EQ(lines->there.turn.load(), kSeries * kTurns);
  EXPECT_EQ(lines->back.turn.load(), kSeries * kTurns);
}

// Would catch: a block flagged before it is written, or read from the wrong side.
TEST(Exchange, BlocksArriveWholeBothWays) {
  SharedObject<Exchange> shared;
  constexpr size_t kBytes = 4096;
  unsigned char got[kBytes] = {};
  EXPECT_TRUE(in_two_processes(
      [&] {
        unsigned char send[kBytes];
        for (unsigned s = 1; s <= kSeries; ++s) {
          memset(send, static_cast<int>(s), sizeof send);
          exchange_first(*shared, send, got, kBytes, kTurns, true);
          for (const unsigned char c : got) ASSERT_EQ(c, 100 + s);
        }
      },
      [&] {
        unsigned char send[kBytes], received[kBytes];
        bool good = true;
        for (unsigned s = 1; s <= kSeries; ++s) {
          memset(send, static_cast<int>(100 + s), sizeof send);
          exchange_second(*shared, send, received, kBytes, kTurns, true);
          for (const unsigned char c : received) good = good && c == s;
        }
        return good;
      }));
}

// Would catch: a slot overwritten before it is read, a lost or doubled message, a wrap-around.
TEST(Ring, EveryMessageArrivesOnce) {
  SharedObject<Ring> ring;
  constexpr uint64_t kMessages = 10 * kRingSlots + 17;
  EXPECT_TRUE(in_two_processes(
      [&] {
        for (uint64_t s = 0; s < kSeries; ++s) flood_send(*ring, s * kMessages, kMessages, true);
      },
      [&] {
        uint64_t sum = 0;
        for (uint64_t s = 0; s < kSeries; ++s)
          sum += flood_receive(*ring, s * kMessages, kMessages, true);
        const uint64_t all = kSeries * kMessages;
        return sum == all * (all - 1) / 2;
      }));
}

// Would catch: a place that is written before it has been read, a block that is taken twice.
TEST(StreamLoop, EveryBlockArrivesOnce) {
  struct Shared {
    Stream stream;
    unsigned char places[5 * 192];
  };
  SharedObject<Shared> shared;
  const Places places(shared->places, sizeof shared->places, 192);
  constexpr uint64_t kBlocks = 1000;
  EXPECT_TRUE(in_two_processes(
      [&] {
        for (uint64_t i = 0; i < kBlocks; ++i) {
          unsigned char block[192];
          memset(block, static_cast<int>(i % 251), sizeof block);
          stream_send(shared->stream, places, block, 1, true);
        }
        unsigned char block[192] = {};
        stream_send(shared->stream, places, block, kBlocks, true);
      },
      [&] {
        uint64_t expected = 0;
        for (uint64_t i = 0; i < kBlocks; ++i) expected += 3 * (i % 251);
        if (stream_take(shared->stream, places, kBlocks, true) != expected) return false;
        usleep(50000);  // the sender goes on until all places are full, and no further
        const uint64_t sent = shared->stream.sent.blocks.load(std::memory_order_acquire);
        return sent <= kBlocks + places.count &&
               stream_take(shared->stream, places, kBlocks, true) == 0;
      }));
}

// Would catch: a rank that leaves a barrier before the other has come.
TEST(BarrierLoop, NobodyIsAhead) {
  struct Steps {
    Barrier barrier;
    std::atomic<uint64_t> done[2];
  };
  SharedObject<Steps> steps;
  const auto walk = [&](int me) {
    bool good = true;
    for (uint64_t i = 1; i <= kTurns; ++i) {
      steps->done[me].store(i);
      barrier(steps->barrier, 2, true);
      good = good && steps->done[1 - me].load() >= i;
    }
    return good;
  };
  bool first_good = false;
  EXPECT_TRUE(in_two_processes([&] { first_good = walk(0); }, [&] { return walk(1); }));
  EXPECT_TRUE(first_good);
}

}  // namespace
}  // namespace causeway::bench::raw
