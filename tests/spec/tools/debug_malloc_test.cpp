// The debugging allocator: what it hands out is memory, what programs do wrong with it is told with
// the place, and its account is right.
#define GASNET_DEBUGMALLOC
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tools.h"

#if GASNET_DEBUGMALLOC != 1
#error "normalised to 1"
#endif

namespace {

gasnett_heapstats_t stats() {
  gasnett_heapstats_t out;
  EXPECT_EQ(gasnett_getheapstats(&out), 0);
  return out;
}

// Writes that no compiler can see the wrongness of.
void poke(void* p, ptrdiff_t at) {
  static_cast<volatile char*>(p)[at] = 'x';
}

}  // namespace

TEST(DebugMalloc, gives_and_takes) {
  const gasnett_heapstats_t before = stats();
  auto* a = static_cast<char*>(gasnett_debug_malloc(100));
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 16, 0u);
  EXPECT_NE(a[0], 0);  // fresh memory is not by chance what a program expects
  std::memset(a, 1, 100);
  auto* zeros = static_cast<char*>(gasnett_debug_calloc(7, 9));
  for (int i = 0; i < 63; ++i) EXPECT_EQ(zeros[i], 0);
  a = static_cast<char*>(gasnett_debug_realloc(a, 200));
  EXPECT_EQ(a[99], 1);
  char* s = gasnett_debug_strdup("some text");
  EXPECT_STREQ(s, "some text");
  char* t = gasnett_debug_strndup("some text", 4);
  EXPECT_STREQ(t, "some");
  EXPECT_EQ(gasnett_debug_memcheck(a), 200u);
  EXPECT_EQ(gasnett_debug_memcheck(nullptr), 0u);
  for (int i = 0; i < 10; ++i) gasnett_debug_memcheck_one();
  gasnett_debug_memcheck_all();
  const gasnett_heapstats_t now = stats();
  EXPECT_EQ(now.live_objects, before.live_objects + 4);
  EXPECT_EQ(now.live_bytes, before.live_bytes + 200 + 63 + 10 + 5);
  EXPECT_EQ(now.allocated_objects, before.allocated_objects + 5);
  EXPECT_EQ(now.allocated_bytes, before.allocated_bytes + 378);
  EXPECT_EQ(now.freed_objects, before.freed_objects + 1);
  EXPECT_EQ(now.freed_bytes, before.freed_bytes + 100);
  EXPECT_GE(now.live_objects_max, now.live_objects);
  EXPECT_GE(now.live_bytes_max, now.live_bytes);
  EXPECT_GT(now.overhead_bytes, before.overhead_bytes);
  gasnett_debug_free(a);
  gasnett_debug_free(zeros);
  gasnett_debug_free(s);
  gasnett_debug_free(t);
  gasnett_debug_free(nullptr);
  EXPECT_EQ(stats().live_objects, before.live_objects);
  EXPECT_EQ(stats().live_bytes, before.live_bytes);
}

TEST(DebugMalloc, tells_live_blocks) {
  void* block = gasnett_debug_malloc(77);
  for (const int live : {0, 1}) {
    const std::string file = testing::TempDir() + "/spec_tools_heap." + std::to_string(::getpid());
    EXPECT_EQ(gasnett_heapinfo_dump(file.c_str(), live), 0);
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    EXPECT_NE(text.str().find("debug_malloc_test.cpp:"), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("77 bytes"), std::string::npos) << text.str();
    std::remove(file.c_str());
  }
  EXPECT_NE(gasnett_heapinfo_dump("/nonexistent/file", 1), 0);
  gasnett_debug_free(block);
}

TEST(DebugMalloc, notices_mistakes) {
  auto* block = static_cast<char*>(gasnett_debug_malloc(10));
  EXPECT_DEATH((poke(block, 10), gasnett_debug_free(block)),
               "gasnett_debug_free.*debug_malloc_test.cpp:[0-9]+.*behind the block.*10 bytes, from "
               ".*debug_malloc_test.cpp");
  EXPECT_DEATH((poke(block, -1), gasnett_debug_memcheck(block)), "in front of the block");
  EXPECT_DEATH((poke(block, 12), gasnett_debug_memcheck_all()), "memcheck_all.*behind");
  EXPECT_DEATH((poke(block, 12), gasnett_debug_realloc(block, 20)), "realloc.*behind");
  EXPECT_DEATH(
      {
        poke(block, 12);
        for (int i = 0; i < 50; ++i) gasnett_debug_memcheck_one();
      },
      "memcheck_one.*behind");
  EXPECT_DEATH((gasnett_debug_free(block), gasnett_debug_free(block)), "freed already");
  EXPECT_DEATH(gasnett_debug_free(block + 1), "no block of this allocator begins there");
  int local = 0;
  EXPECT_DEATH(gasnett_debug_free(&local), "no block of this allocator begins there");
  EXPECT_DEATH(gasnett_debug_calloc(SIZE_MAX / 2, 3), "out of memory");
  gasnett_debug_free(block);
}

TEST(DebugMalloc, any_thread) {
  const uint64_t before = stats().live_objects;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 1; i < 500; ++i) {
        void* p = gasnett_debug_malloc(static_cast<size_t>(i));
        std::memset(p, t, static_cast<size_t>(i));
        gasnett_debug_memcheck_one();
        gasnett_debug_free(p);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stats().live_objects, before);
}
