// The two sources that come from a program's build and from GASNET_* variables: where they stand
// among the others, and what each variable becomes. Catches: a source at the wrong place, a
// variable read for a program that it is not for, a size that means something else than it does
// elsewhere.
#include <gmock/gmock.h>
#include <unistd.h>

#include "config/gasnet_environment.h"
#include "config/identity.h"
#include "config_testing.h"

namespace causeway {
namespace {

using testing::Directory;
using ::testing::HasSubstr;
using testing::only_sets;
using Settings = std::vector<std::pair<std::string, std::string>>;

// Sets variables for the length of a test.
class Environment {
 public:
  explicit Environment(const Settings& values) : values_(values) {
    for (const auto& [name, value] : values_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
  }

 private:
  Settings values_;
};

std::vector<std::string> items(const Settings& environment, const Identity* program = nullptr) {
  const Environment set(environment);
  std::vector<std::string> out;
  for (const auto& [label, item] : gasnet_settings(program)) out.push_back(item);
  return out;
}

std::string segment(const std::string& value) {
  const std::vector<std::string> all = items({{"GASNET_MAX_SEGSIZE", value}});
  return all.size() == 2 ? all[0] + " " + all[1] : "not two settings";
}

TEST(ConfigIdentity, SourcesInOrder) {
  Directory files;
  ConfigSources sources = only_sets({});
  const auto nap = [&] { return load_config(sources).waiting.nap_ns / 1000000; };
  EXPECT_EQ(nap(), 1u);
  sources.identity_label = "identity test";
  sources.identity_text = "waiting: {nap: 2ms}\n";
  EXPECT_EQ(nap(), 2u);
  sources.site_file = files.write("site", "waiting: {nap: 3ms}\n");
  EXPECT_EQ(nap(), 3u);
  sources.gasnet = {{"GASNET_X=4", "waiting.nap=4ms"}};
  EXPECT_EQ(nap(), 4u);
  sources.files = {files.write("file", "waiting: {nap: 5ms}\n")};
  EXPECT_EQ(nap(), 5u);
  sources.sets = {"waiting.nap=6ms"};
  EXPECT_EQ(nap(), 6u);
}

TEST(ConfigIdentity, ProblemsNameTheirSource) {
  ConfigSources sources = only_sets({});
  sources.identity_label = "identity test";
  sources.identity_text = "waiting: {nap: soon}\n";
  sources.gasnet = {{"GASNET_MAX_SEGSIZE=plenty", "segment.max=plenty"}};
  const CheckedConfig checked = check_config(sources);
  EXPECT_FALSE(checked.config);
  const std::string text = checked.problems.text(20);
  EXPECT_THAT(text, HasSubstr("identity test:1:"));
  EXPECT_THAT(text, HasSubstr("GASNET_MAX_SEGSIZE=plenty: segment.max=plenty"));
}

TEST(ConfigIdentity, SegmentSizes) {
  EXPECT_EQ(segment("1048576"), "segment.max=1048576 segment.of=rank");
  EXPECT_EQ(segment("128.0MB/P"), "segment.max=134217728 segment.of=rank");
  EXPECT_EQ(segment("2 g/h"), "segment.max=2147483648 segment.of=host");
  EXPECT_EQ(segment("64K"), "segment.max=65536 segment.of=rank");
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(segment("0.5/H"), "segment.max=" + std::to_string(static_cast<uint64_t>(memory * 0.5)) +
                                  " segment.of=host");
  for (const std::string nonsense : {"plenty", "12Q", "1MX", "-3"}) {
    EXPECT_EQ(segment(nonsense), "segment.max=" + nonsense + " segment.of=rank");
  }
}

TEST(ConfigIdentity, OtherVariables) {
  Identity ibv;
  ibv.conduit = "ibv";
  ibv.mode = "par";
  Identity ofi = ibv;
  ofi.conduit = "ofi";
  Identity alone = ibv;
  alone.mode = "seq";
  using Items = std::vector<std::string>;
  EXPECT_EQ(items({}), Items{});
  EXPECT_EQ(items({{"GASNET_MAX_SEGSIZE", ""}}), Items{});
  EXPECT_EQ(items({{"GASNET_SUPERNODE_MAXSIZE", "0"}}), Items{"neighborhood.ranks=auto"});
  EXPECT_EQ(items({{"GASNET_SUPERNODE_MAXSIZE", "3"}}), Items{"neighborhood.ranks=3"});
  EXPECT_EQ(items({{"GASNET_EXITTIMEOUT", "2.5"}}), Items{"timeouts.exit=2.5s"});
  EXPECT_EQ(items({{"GASNET_EXITTIMEOUT", "soon"}}), Items{});
  EXPECT_EQ(items({{"GASNET_RCV_THREAD", "1"}}, &ibv), Items{"threads.progress=thread"});
  EXPECT_EQ(items({{"GASNET_RCV_THREAD", "No"}}, &ibv), Items{"threads.progress=none"});
  EXPECT_EQ(items({{"GASNET_RCV_THREAD", "1"}}, &alone), Items{});
  EXPECT_EQ(items({{"GASNET_RCV_THREAD", "1"}}, &ofi), Items{});
  EXPECT_EQ(items({{"GASNET_RCV_THREAD", "1"}}), Items{});
  EXPECT_EQ(items({{"GASNET_TRACEFILE", "x"}, {"GASNET_BARRIER", "y"}}), Items{});
  EXPECT_EQ(items({{"GASNET_QUIET", "Y"}}), Items{"log.level=error"});
  EXPECT_EQ(items({{"GASNET_QUIET", "0"}}), Items{});
}

TEST(ConfigIdentity, ExitTimes) {
  using Items = std::vector<std::string>;
  EXPECT_EQ(items({{"GASNET_EXITTIMEOUT_MIN", "2"}}), Items{"timeouts.exit=2000ms"});
  EXPECT_EQ(items({{"GASNET_EXITTIMEOUT_MIN", "2"},
                   {"GASNET_EXITTIMEOUT_FACTOR", "0.5"},
                   {"GASNET_PSHM_NODES", "8"}}),
            Items{"timeouts.exit=6000ms"});
  EXPECT_EQ(items({{"GASNET_EXITTIMEOUT_FACTOR", "10"},
                   {"GASNET_EXITTIMEOUT_MAX", "30"},
                   {"CAUSEWAY_RANKS", "8"}}),
            Items{"timeouts.exit=30000ms"});
  EXPECT_EQ(items({{"GASNET_EXITTIMEOUT_MAX", "1"}}), Items{"timeouts.exit=1000ms"});
  // The plain one is stronger; what is no time is none.
  EXPECT_EQ(items({{"GASNET_EXITTIMEOUT", "3"}, {"GASNET_EXITTIMEOUT_MAX", "1"}}),
            Items{"timeouts.exit=3s"});
  EXPECT_EQ(items({{"GASNET_EXITTIMEOUT_MAX", "soon"}}), Items{});
  EXPECT_EQ(items({{"GASNET_CATCH_EXIT", "0"}, {"GASNET_EXITTIMEOUT", "3"}}),
            Items{"timeouts.exit=100000000s"});
  EXPECT_EQ(items({{"GASNET_CATCH_EXIT", "1"}}), Items{});
}

// Devices and limits of networks, for programs that were built for one that has them.
TEST(ConfigIdentity, Networks) {
  const auto built_for = [](const char* conduit) {
    Identity program;
    program.conduit = conduit;
    program.mode = "seq";
    return program;
  };
  const Identity udp = built_for("udp"), ibv = built_for("ibv"), ofi = built_for("ofi"),
                 smp = built_for("smp");
  using Items = std::vector<std::string>;
  EXPECT_EQ(items({{"GASNET_OFI_DEVICE", "eth1"}}, &ofi), Items{"conduits.ofi.device=eth1"});
  EXPECT_EQ(items({{"GASNET_OFI_DEVICE", "eth1"}}, &smp), Items{});
  EXPECT_EQ(items({{"GASNET_OFI_DEVICE", "eth1"}}), Items{});
  EXPECT_EQ(items({{"GASNET_IBV_PORTS", "mlx5_0:1"}}, &ibv),
            Items{"conduits.verbs.device=mlx5_0:1"});
  EXPECT_EQ(items({{"GASNET_IBV_PORTS", "mlx5_0:1"}}, &udp), Items{});
  EXPECT_EQ(items({{"GASNET_WORKERIP", "10.0.0.7"}}, &udp), Items{"conduits.eth.device=10.0.0.7"});
  EXPECT_EQ(items({{"GASNET_WORKERIP", "10.0.0.7"}}, &ofi), Items{});
  EXPECT_EQ(items({{"GASNET_NETWORKDEPTH", "64"}}, &udp),
            (Items{"conduits.ofi.options.credits=64", "conduits.eth.options.credits=64"}));
  EXPECT_EQ(items({{"GASNET_NETWORKDEPTH", "1000000"}}, &udp),
            (Items{"conduits.ofi.options.credits=4096", "conduits.eth.options.credits=4096"}));
  EXPECT_EQ(items({{"GASNET_NETWORKDEPTH", "64"}}, &ibv), Items{});
  EXPECT_EQ(items({{"GASNET_REQUESTTIMEOUT_MAX", "30000000"}}, &udp),
            Items{"timeouts.peer=30000000us"});
  EXPECT_EQ(items({{"GASNET_REQUESTTIMEOUT_MAX", "0"}}, &udp), Items{"timeouts.peer=100000000s"});
  EXPECT_EQ(items({{"GASNET_REQUESTTIMEOUT_MAX", "5"}}, &udp), Items{"timeouts.peer=1ms"});
}

}  // namespace
}  // namespace causeway
