// Which socket a rank sits on. Catches: ranks that all go to one socket, a rank beyond the last
// one, a binding to processors that the process may not use, other values of GASPI_BIND taken for
// it.
#include "api/gaspi/host.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "api/gaspi/refusal.h"

namespace causeway::gaspi {
namespace {

TEST(Sockets, RanksAreInBlocks) {
  const auto blocks = [](uint32_t ranks, uint32_t sockets) {
    std::vector<uint32_t> result;
    for (uint32_t r = 0; r < ranks; ++r) result.push_back(block_of(r, ranks, sockets));
    return result;
  };
  EXPECT_EQ(blocks(4, 2), (std::vector<uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(blocks(5, 2), (std::vector<uint32_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(blocks(2, 4), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(blocks(1, 2), (std::vector<uint32_t>{0}));
  EXPECT_EQ(blocks(3, 3), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(block_of(65534, 65535, 8), 7u);
}

TEST(Sockets, OtherWordsAreRefused) {
  for (const char* const good : {"", "none", "socket"}) {
    ::setenv("GASPI_BIND", good, 1);
    EXPECT_NO_THROW(check_binding()) << good;
  }
  for (const char* const bad : {"core", "SOCKET", "socket ", "1"}) {
    ::setenv("GASPI_BIND", bad, 1);
    try {
      check_binding();
      ADD_FAILURE() << bad << " is taken";
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.code(), GASPI_ERR_ENV) << bad;
    }
  }
  ::unsetenv("GASPI_BIND");
  EXPECT_NO_THROW(check_binding());
}

int package_of(int cpu) {
  std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                   "/topology/physical_package_id");
  int package = -1;
  in >> package;
  return package;
}

cpu_set_t own_set() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  return set;
}

// In a thread of its own: what was allowed on the first socket, or on the last, and nothing else.
TEST(Sockets, AThreadIsBoundToWhatItMayUse) {
  cpu_set_t before = own_set();
  std::vector<int> packages;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) packages.push_back(package_of(static_cast<int>(cpu)));
  }
  if (*std::min_element(packages.begin(), packages.end()) < 0) {
    GTEST_SKIP() << "the system does not say which processors form a socket";
  }
  ::setenv("GASPI_BIND", "socket", 1);
  for (const uint32_t rank : {0u, 999u}) {
    std::thread([&] {
      bind_as_asked(rank, 1000);
      const int mine = rank == 0 ? *std::min_element(packages.begin(), packages.end())
                                 : *std::max_element(packages.begin(), packages.end());
      const cpu_set_t after = own_set();
      for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        const bool expected = CPU_ISSET(cpu, &before) && package_of(static_cast<int>(cpu)) == mine;
        EXPECT_EQ(CPU_ISSET(cpu, &after) != 0, expected) << "processor " << cpu;
      }
    }).join();
  }
  ::setenv("GASPI_BIND", "none", 1);
  std::thread([&] {
    bind_as_asked(0, 2);
    const cpu_set_t after = own_set();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }).join();
  ::unsetenv("GASPI_BIND");
}

}  // namespace
}  // namespace causeway::gaspi
