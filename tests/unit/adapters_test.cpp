// Which device of a conduit a rank takes, and what is known of devices.
#include "connection/adapters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>

#include "../../plugins/conduit/common/adapter_facts.h"
#include "../../plugins/conduit/ofi/slingshot.h"

namespace causeway {
namespace {

using testing::HasSubstr;

Adapter adapter(const std::string& name, int32_t node, uint64_t network = 1,
                uint32_t state = CWYC_DEVICE_UP) {
  Adapter a;
  a.name = name;
  a.numa_node = node;
  a.network = network;
  a.state = state;
  return a;
}

// What so many ranks of a host take, in their order.
std::string taken(const std::vector<Adapter>& listed, const std::vector<uint32_t>& distances,
                  uint32_t ranks, const std::vector<std::string>& named = {}) {
  std::string out;
  for (uint32_t i = 0; i < ranks; ++i)
    out += nearest_device(named, listed, i, distances).name + " ";
  return out;
}

// A host with two nodes, seen from node 0.
const std::vector<uint32_t> kTwoNodes{10, 21};
const std::vector<Adapter> kFour{adapter("a0", 0), adapter("b0", 1), adapter("a1", 0),
                                 adapter("b1", 1)};

// Would catch: a device named, or a conduit's own choice, that is no longer taken as it is.
TEST(NearestDevice, LeavesTheChoiceWhereThereIsNone) {
  EXPECT_EQ(nearest_device({}, {}, 0, {}).name, "");
  EXPECT_EQ(nearest_device({}, {adapter("only", 1)}, 0, kTwoNodes).name, "");
  EXPECT_EQ(nearest_device({"192.0.2.7"}, kFour, 3, kTwoNodes).name, "192.0.2.7");
  const DeviceChoice own =
      nearest_device({}, {adapter("eth0", 0, 0), adapter("eth1", 0, 0)}, 1, {});
  EXPECT_EQ(own.name, "");
  EXPECT_THAT(own.why, HasSubstr("own choice"));
}

// Would catch: ranks beside an adapter that use another one, and one that all of a host use.
TEST(NearestDevice, SharesWhatIsNearest) {
  EXPECT_EQ(taken(kFour, kTwoNodes, 4), "a0 a0 a1 a1 ");
  EXPECT_EQ(taken(kFour, {21, 10}, 4), "b0 b0 b1 b1 ");
  EXPECT_EQ(taken(kFour, {10, 10}, 6), "a0 b0 a1 b1 a0 b0 ");  // bound to both nodes
  EXPECT_EQ(taken(kFour, {}, 5), "a0 b0 a1 b1 a0 ");           // a kernel without nodes
  EXPECT_THAT(nearest_device({}, kFour, 0, kTwoNodes).why, HasSubstr("2 nearest of 4"));
  EXPECT_THAT(nearest_device({}, kFour, 0, {}).why, HasSubstr("4 equally near"));
}

// Would catch: half of a node's adapters idle where ranks 0, 2, 4 ... are on it.
TEST(NearestDevice, SharesAmongRanksDealtOutInTurn) {
  std::string seen;
  for (uint32_t i = 0; i < 8; i += 2) seen += nearest_device({}, kFour, i, kTwoNodes).name + " ";
  EXPECT_EQ(seen, "a0 a1 a0 a1 ");
}

// Would catch: a port without a cable, a device of another network, or one that nobody knows to
// lead to the same peers.
TEST(NearestDevice, TakesWhatIsUpOfOneNetwork) {
  const std::vector<Adapter> mixed{adapter("down", 0, 1, CWYC_DEVICE_DOWN), adapter("far", 1, 7),
                                   adapter("other", 0, 8), adapter("near", 0, 7),
                                   adapter("eth0", 0, 0)};
  EXPECT_EQ(taken(mixed, kTwoNodes, 3), "near near near ");
  EXPECT_EQ(
      nearest_device({}, {adapter("eth0", 0, 0), adapter("ib0", 0), adapter("ib1", 0)}, 1, {}).name,
      "");
}

// Would catch: names that do not count, for want of the port's number, and a named one that is
// down.
TEST(NearestDevice, ChoosesAmongTheNamed) {
  const std::vector<Adapter> ports{adapter("m0:1", 0, 0), adapter("m1:1", 1, 0),
                                   adapter("m2:1", 1, 0), adapter("m3:1", 1, 0, CWYC_DEVICE_DOWN)};
  EXPECT_EQ(taken(ports, {21, 10}, 4, {"m0", "m2", "m1:1"}), "m2 m2 m1:1 m1:1 ");
  EXPECT_EQ(taken(ports, {}, 3, {"m0", "m3"}), "m0 m0 m0 ");
  EXPECT_EQ(taken(ports, {}, 3, {"nobody", "m0"}), "nobody m0 nobody ");  // an open will tell
  EXPECT_EQ(taken(ports, {}, 1, {"m3", "m3:1"}), "m3 ");
  EXPECT_THAT(nearest_device({"m3", "m3:1"}, ports, 0, {}).why, HasSubstr("no device"));
}

// A tree like sysfs.
class Tree {
 public:
  Tree() {
    char name[] = "/tmp/causeway-adapters-test-XXXXXX";
    root_ = ::mkdtemp(name);
  }
  ~Tree() { std::filesystem::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const std::string& root() const { return root_; }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text << "\n";
  }
  void link(const std::string& from, const std::string& to) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + from).parent_path());
    std::filesystem::create_directories(root_ + "/" + to);
    std::filesystem::create_symlink(root_ + "/" + to, root_ + "/" + from);
  }

 private:
  std::string root_;
};

// Would catch: distances of the wrong node, and nodes whose numbers have gaps.
TEST(NodeDistances, AreThoseOfTheProcessorsInUse) {
  cpu_set_t own;
  CPU_ZERO(&own);
  ASSERT_EQ(::sched_getaffinity(0, sizeof own, &own), 0);
  uint32_t used = 0;
  while (!CPU_ISSET(used, &own)) ++used;
  Tree tree;
  tree.write("online", "0,2-3");
  tree.write("node0/cpulist", "4000");
  tree.write("node0/distance", "10 21 31");
  tree.write("node2/cpulist", std::to_string(used));
  tree.write("node2/distance", "21 10 41");
  tree.write("node3/cpulist", "");
  tree.write("node3/distance", "31 41 10");
  EXPECT_THAT(node_distances(tree.root()), testing::ElementsAre(21, UINT32_MAX, 10, 41));
  EXPECT_TRUE(node_distances(tree.root() + "/none").empty());
}

// Would catch: an interface behind a device that is no PCI device, and a virtual one given a place.
TEST(AdapterFacts, OfAnInterface) {
  Tree tree;
  tree.write("devices/pci0000:3a/0000:3b:00.0/numa_node", "1");
  tree.link("class/net/eth0/device", "devices/pci0000:3a/0000:3b:00.0/virtio2");
  tree.write("class/net/eth0/speed", "25000");
  tree.write("class/net/eth0/operstate", "up");
  const AdapterFacts eth = interface_facts("eth0", tree.root());
  EXPECT_EQ(eth.path, "0000:3b:00.0");
  EXPECT_EQ(eth.numa_node, 1);
  EXPECT_EQ(eth.speed, 3'125'000'000u);
  EXPECT_EQ(eth.state, uint32_t{CWYC_DEVICE_UP});
  EXPECT_EQ(eth.network, 0u);
  tree.link("class/net/br0/device", "devices/virtual/net/br0");
  tree.write("class/net/br0/speed", "-1");
  tree.write("class/net/br0/operstate", "lowerlayerdown");
  const AdapterFacts bridge = interface_facts("br0", tree.root());
  EXPECT_EQ(bridge.path, "");
  EXPECT_EQ(bridge.numa_node, -1);
  EXPECT_EQ(bridge.speed, 0u);
  EXPECT_EQ(bridge.state, uint32_t{CWYC_DEVICE_DOWN});
  EXPECT_EQ(interface_facts("nothing", tree.root()).state, uint32_t{CWYC_DEVICE_UNKNOWN});
}

// Would catch: ports of Ethernet taken for one network, and those of two InfiniBand subnets.
TEST(AdapterFacts, OfAnRdmaPort) {
  Tree tree;
  tree.write("devices/pci0000:3a/0000:3b:00.1/numa_node", "-1");
  tree.link("class/infiniband/mlx5_0/device", "devices/pci0000:3a/0000:3b:00.1");
  for (const std::string port : {"1", "2"}) {
    const std::string at = "class/infiniband/mlx5_0/ports/" + port;
    tree.write(at + "/rate", "100 Gb/sec (4X EDR)");
    tree.write(at + "/state", port == "1" ? "4: ACTIVE" : "1: DOWN");
    tree.write(at + "/link_layer", port == "1" ? "InfiniBand" : "Ethernet");
    tree.write(at + "/gids/0", "fe80:0000:0000:0007:0000:0000:0000:0001");
  }
  const AdapterFacts one = rdma_facts("mlx5_0", 1, tree.root());
  EXPECT_EQ(one.path, "0000:3b:00.1");
  EXPECT_EQ(one.numa_node, -1);
  EXPECT_EQ(one.speed, 12'500'000'000u);
  EXPECT_EQ(one.state, uint32_t{CWYC_DEVICE_UP});
  EXPECT_EQ(one.ports, 2u);
  EXPECT_EQ(one.port, 1u);
  EXPECT_EQ(one.network, 0xfe80000000000007u);
  const AdapterFacts two = rdma_facts("mlx5_0", 2, tree.root());
  EXPECT_EQ(two.state, uint32_t{CWYC_DEVICE_DOWN});
  EXPECT_EQ(two.network, 0u);
}

// Would catch: another device's service, and a key made of half of what is needed.
TEST(SlingshotKey, IsOfTheDevice) {
  const auto key = ofi::slingshot_key("cxi1", "cxi0,cxi1", "5,6", "1033,1034");
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(key->service, 6u);
  EXPECT_EQ(key->vni, 1033u);
  EXPECT_FALSE(ofi::slingshot_key("cxi2", "cxi0,cxi1", "5,6", "1033"));
  EXPECT_FALSE(ofi::slingshot_key("cxi1", "cxi0,cxi1", "5", "1033"));
  EXPECT_FALSE(ofi::slingshot_key("cxi0", "cxi0", "5", ""));
}

}  // namespace
}  // namespace causeway
