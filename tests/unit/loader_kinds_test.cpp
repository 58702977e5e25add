// Memory kinds and collectives go through the same loader: what differs is their tables.
#include "loader_support.h"

namespace causeway::loader_test {
namespace {

std::string reason_of(Loader& loader) {
  return loader.failures().size() == 1 ? loader.failures()[0].reason : "not one failure";
}

// Would catch: candidates lost, a later minor's operation refused, a missing score left NULL.
TEST(CollectivePlugin, CandidatesAreCopiedAndCompleted) {
  Loader loader(config_with({plugin_directory("algorithms")}, LoadErrorPolicy::fail), services());
  CollectivePlugin* plugin = loader.collective("algorithms");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(loader.collective("algorithms"), plugin);
  ASSERT_EQ(plugin->candidates.size(), 2u);
  EXPECT_STREQ(plugin->candidates[0].name, "first");
  EXPECT_STREQ(plugin->candidates[1].name, "second");
  cwyl_shape shape{};
  shape.team_size = 8;
  EXPECT_EQ(plugin->candidates[0].score(&shape), 10);
  EXPECT_EQ(plugin->candidates[1].score(&shape), 0);
  plugin->module.fini();
}

// Would catch: two algorithms of one name, between which a rule could not choose.
TEST(CollectivePlugin, NamesMustDiffer) {
  Loader loader(config_with({plugin_directory("twins")}), services());
  EXPECT_EQ(loader.collective("twins"), nullptr);
  EXPECT_EQ(reason_of(loader), "its candidates[1] has the name of an earlier one, 'first'");
}

// Would catch: a state machine without a step, found only when a team uses it.
TEST(CollectivePlugin, StepIsRequired) {
  Loader loader(config_with({plugin_directory("stepless")}), services());
  EXPECT_EQ(loader.collective("stepless"), nullptr);
  EXPECT_EQ(reason_of(loader), "its candidates[1] lacks what every plugin must offer: step");
}

// Would catch: NULL members of a memory kind that the core calls without looking.
TEST(MemkindPlugin, MissingMembersBecomeStubs) {
  Loader loader(config_with({plugin_directory("plain")}, LoadErrorPolicy::fail), services());
  MemkindPlugin* plugin = loader.memkind("plain");
  ASSERT_NE(plugin, nullptr);
  const cwym_module& kind = plugin->module;
  cwy_err err{};
  err.head = CWY_HEAD(cwy_err);
  void* memory = nullptr;
  EXPECT_EQ(kind.alloc(nullptr, 1, &memory, &err), CWY_ERR_UNSUPPORTED);
  EXPECT_STREQ(err.text, "memkind 'plain' has no alloc");
  EXPECT_EQ(kind.release(nullptr, nullptr), CWY_ERR_UNSUPPORTED);
  EXPECT_EQ(kind.export_mem(nullptr, nullptr, 0, 0, nullptr, nullptr), CWY_ERR_UNSUPPORTED);
  EXPECT_EQ(kind.import_mem(nullptr, nullptr, nullptr, nullptr, nullptr), CWY_ERR_UNSUPPORTED);
  kind.import_close(nullptr, nullptr);
  EXPECT_EQ(kind.progress(nullptr, 1), 0u);
  EXPECT_EQ(kind.push(nullptr), CWY_OK);
  EXPECT_EQ(kind.pop(nullptr), CWY_OK);
  EXPECT_EQ(kind.flush(nullptr, nullptr, 0), CWY_OK);
  EXPECT_EQ(kind.pin_host(nullptr, nullptr, 0, nullptr), CWY_ERR_UNSUPPORTED);
  EXPECT_EQ(kind.unpin_host(nullptr, nullptr), CWY_ERR_UNSUPPORTED);
  kind.fini();
}

// Would catch: a required member overlooked.
TEST(MemkindPlugin, CopyIsRequired) {
  Loader loader(config_with({plugin_directory("hollow")}), services());
  EXPECT_EQ(loader.memkind("hollow"), nullptr);
  EXPECT_EQ(reason_of(loader), "its module lacks what every plugin must offer: copy");
}

}  // namespace
}  // namespace causeway::loader_test
