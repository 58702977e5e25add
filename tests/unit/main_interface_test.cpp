// The interface that conduits take when nobody names one.
#include <gtest/gtest.h>

#include <fstream>

#include "../../plugins/conduit/common/main_interface.h"
#include "config_testing.h"

namespace causeway::testing {
namespace {

constexpr const char* kHeadings =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

// Would catch: the first interface of the table, which may be a bridge of containers; a default
// route that is down; a more expensive one.
TEST(MainInterface, IsThatOfTheCheapestDefaultRoute) {
  Directory files;
  const std::string table =
      files.write("route", std::string(kHeadings) +
                               "docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
                               "down0\t00000000\t0101A8C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n"
                               "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                               "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n");
  EXPECT_EQ(main_interface(table.c_str()), "eth0");
}

// Would catch: a choice where there is none to make, or one made of half a line.
TEST(MainInterface, NoneWithoutDefaultRoute) {
  Directory files;
  const std::string table =
      files.write("route", std::string(kHeadings) +
                               "eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
                               "eth1\t00000000\n");
  EXPECT_EQ(main_interface(table.c_str()), "");
  EXPECT_EQ(main_interface("/proc/self/nothing"), "");
}

}  // namespace
}  // namespace causeway::testing
