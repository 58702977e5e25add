// A program of the futures library: puts, gets, counters, calls and teams, all of it checked.
// Prints "rank R of N: ok".
#include <cstdio>
#include <cstring>

#include "runtime.hpp"

using futures::future;
using futures::unit;

namespace {

const std::size_t kCounter = 0, kSlots = 64, kBlock = 8192, kBlockBytes = 40000;

void check(bool holds, const char* what) {
  if (!holds) futures::die(what);
}

std::int64_t square(std::int64_t x) {
  return x * x;
}

unsigned char pattern(int rank, std::size_t at) {
  return static_cast<unsigned char>(rank * 7 + static_cast<int>(at % 251));
}

// Every rank writes one word to every rank, and a block to the next one.
void puts_and_gets(int me, int size) {
  const int next = (me + 1) % size, before = (me + size - 1) % size;
  const std::uint64_t word = static_cast<std::uint64_t>(me) + 1;
  std::vector<unsigned char> block(kBlockBytes), back(kBlockBytes);
  for (std::size_t i = 0; i < kBlockBytes; ++i) block[i] = pattern(me, i);
  std::vector<future<unit>> puts;
  for (int r = 0; r < size; ++r)
    puts.push_back(futures::rput(r, kSlots + 8 * static_cast<std::size_t>(me), &word, 8));
  puts.push_back(futures::rput(next, kBlock, block.data(), block.size()));
  for (auto& put : puts) put.wait();
  futures::barrier(futures::world()).wait();
  std::vector<std::uint64_t> words(static_cast<std::size_t>(size));
  futures::rget(words.data(), next, kSlots, 8 * words.size()).wait();
  for (std::size_t r = 0; r < words.size(); ++r) check(words[r] == r + 1, "a word of the neighbor");
  const bool same = futures::rget(back.data(), next, kBlock, back.size())
                        .then([&](unit) { return back == block; })
                        .wait();
  check(same, "the block comes back changed");
  const unsigned char* mine = static_cast<unsigned char*>(futures::local(kBlock));
  for (std::size_t i = 0; i < kBlockBytes; ++i)
    check(mine[i] == pattern(before, i), "the block of the rank before");
}

// All count at rank 0; together they see every number once.
void counts(int size) {
  const int rounds = 20;
  std::memset(futures::local(kCounter), 0, 16);
  futures::barrier(futures::world()).wait();
  futures::counters counters = futures::make_counters(futures::world());
  std::uint64_t seen = 0;
  for (int i = 0; i < rounds; ++i) seen += futures::fetch_add(counters, 0, kCounter, 1).wait();
  futures::fetch_add(counters, 0, kCounter + 8, seen).wait();
  futures::barrier(futures::world()).wait();
  const std::uint64_t all = static_cast<std::uint64_t>(rounds * size);
  check(futures::fetch_add(counters, 0, kCounter, 0).wait() == all, "the counter");
  check(futures::fetch_add(counters, 0, kCounter + 8, 0).wait() == all * (all - 1) / 2,
        "a number was seen twice");
  futures::barrier(futures::world()).wait();
  futures::destroy(counters);
}

// Calls that lead to calls.
void calls(int me, int size) {
  for (int r = 0; r < size; ++r) {
    const future<std::int64_t> fourth =
        futures::rpc(r, square, me + 2).then([](std::int64_t x) { return x + 1; });
    const std::int64_t plus_one = fourth.wait();
    check(plus_one == (me + 2) * (me + 2) + 1, "a call's result");
    check(futures::rpc((r + 1) % size, square, -plus_one).wait() == plus_one * plus_one,
          "a call with a negative number");
  }
}

void teams(int me, int size) {
  futures::team half = futures::split(futures::world(), me % 2, size - me);
  check(half.size == (size + 1 - me % 2) / 2, "the size of a half");
  futures::barrier(half).wait();
  futures::team again = futures::split(half, 0, half.rank);
  check(again.rank == half.rank && again.size == half.size, "a team of a team");
  futures::destroy(again);
  futures::destroy(half);
}

}  // namespace

int main(int argc, char** argv) {
  futures::init(&argc, &argv, 1 << 20);
  const int me = futures::world().rank, size = futures::world().size;
  puts_and_gets(me, size);
  counts(size);
  calls(me, size);
  teams(me, size);
  std::printf("rank %d of %d: ok\n", me, size);
  std::fflush(stdout);
  futures::finalize(0);
}
