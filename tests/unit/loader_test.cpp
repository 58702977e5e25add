// The loader on good plugins: tables, ages, search order, one init per process.
#include "loader/loader.h"

#include <algorithm>
#include <chrono>

#include "loader_support.h"

namespace causeway::loader_test {
namespace {

TEST(Loader, ReadsTheManifestWithoutLoading) {
  // Would catch: a reader that needs dlopen (the file lacks a library), and lost keys.
  const Manifest manifest = read_manifest(plugin_file("missing_dependency"));
  EXPECT_EQ(manifest.kind, PluginKind::conduit);
  EXPECT_EQ(manifest.name, "missing_dependency");
  EXPECT_EQ(manifest.version, "2.5.1");
  EXPECT_EQ(manifest.summary, "for the loader's tests");
  EXPECT_EQ(manifest.license, "BSD-3-Clause");
  EXPECT_EQ(manifest.api_major, 2);
  EXPECT_EQ(manifest.api_minor, 0);
}

TEST(Loader, LoadsOncePerName) {
  // Would catch: a second dlopen/init for the same name or for its file, and a failure recorded
  // although all is well.
  logged().clear();
  Loader loader(config_with({plugin_directory("good")}, LoadErrorPolicy::fail), services());
  ConduitPlugin* plugin = loader.conduit("good");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(loader.conduit("good"), plugin);
  EXPECT_EQ(loader.file<ConduitPlugin>(plugin_file("good")), plugin);
  EXPECT_EQ(logged(), std::vector<std::string>{"good: init"});
  EXPECT_TRUE(loader.failures().empty());
}

TEST(Loader, TakesSeveralTablesThatAgree) {
  // Would catch: the check of `concurrency` refusing tables that declare the same, or a table lost.
  Loader loader(config_with({plugin_directory("equal_tables")}, LoadErrorPolicy::fail), services());
  ConduitPlugin* plugin = loader.conduit("equal_tables");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin->ops.size(), 2u);
}

TEST(Loader, InitialisesOncePerProcessAndFinishesLast) {
  // Would catch: init called by each of two loaders, fini while one of them still works, and fini
  // forgotten.
  logged().clear();
  {
    Loader outer(config_with({plugin_directory("good")}), services());
    ASSERT_NE(outer.conduit("good"), nullptr);
    {
      Loader inner(config_with({plugin_directory("good")}), services());
      ASSERT_NE(inner.conduit("good"), nullptr);
    }
    EXPECT_EQ(logged(), std::vector<std::string>{"good: init"});
  }
  EXPECT_EQ(logged(), (std::vector<std::string>{"good: init", "good: fini"}));
}

TEST(Loader, GivesFullSizeTables) {
  // Would catch: NULL left in the cold table (the core calls without looking), and a hot table
  // whose gaps were filled here, where select/ must fill them.
  Loader loader(config_with({plugin_directory("good")}), services());
  ConduitPlugin* plugin = loader.conduit("good");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin->module.head.struct_size, sizeof(cwyc_module));
  ASSERT_EQ(plugin->ops.size(), 1u);
  EXPECT_NE(plugin->ops[0].am_short, nullptr);
  EXPECT_EQ(plugin->ops[0].put, nullptr);
  const cwyc_module& module = plugin->module;
  for (const void* entry :
       {reinterpret_cast<const void*>(module.list_devices),
        reinterpret_cast<const void*>(module.ep_threads),
        reinterpret_cast<const void*>(module.mem_alloc),
        reinterpret_cast<const void*>(module.mem_reg),
        reinterpret_cast<const void*>(module.mem_release),
        reinterpret_cast<const void*>(module.rkey_pack),
        reinterpret_cast<const void*>(module.rkey_open),
        reinterpret_cast<const void*>(module.rkey_close),
        reinterpret_cast<const void*>(module.rkey_direct),
        reinterpret_cast<const void*>(module.wait_fd), reinterpret_cast<const void*>(module.arm),
        reinterpret_cast<const void*>(module.nap), reinterpret_cast<const void*>(module.ep_stats),
        reinterpret_cast<const void*>(module.ep_traffic),
        reinterpret_cast<const void*>(module.fini)}) {
    EXPECT_NE(entry, nullptr);
  }
}

TEST(Loader, StubsNameThePluginAndTheCall) {
  // Would catch: two plugins sharing one stub's name, and text written past a small cwy_err.
  Loader loader(config_with({plugin_directory("good"), plugin_directory("options")}), services());
  ConduitPlugin* good = loader.conduit("good");
  ConduitPlugin* other = loader.conduit("options");
  ASSERT_NE(good, nullptr);
  ASSERT_NE(other, nullptr);
  cwy_err err{};
  err.head = CWY_HEAD(cwy_err);
  EXPECT_EQ(good->module.mem_reg(nullptr, nullptr, nullptr, &err), CWY_ERR_UNSUPPORTED);
  EXPECT_STREQ(err.text, "conduit 'good' has no mem_reg");
  EXPECT_EQ(err.status, CWY_ERR_UNSUPPORTED);
  EXPECT_EQ(other->module.mem_alloc(nullptr, 0, nullptr, nullptr, &err), CWY_ERR_UNSUPPORTED);
  EXPECT_STREQ(err.text, "conduit 'options' has no mem_alloc");
  EXPECT_EQ(good->module.mem_reg(nullptr, nullptr, nullptr, nullptr), CWY_ERR_UNSUPPORTED);

  cwy_err small{};
  small.head.struct_size = offsetof(cwy_err, text) + 8;
  small.text[8] = 'x';
  EXPECT_EQ(good->module.mem_reg(nullptr, nullptr, nullptr, &small), CWY_ERR_UNSUPPORTED);
  EXPECT_STREQ(small.text, "conduit");
  EXPECT_EQ(small.text[8], 'x');
}

TEST(Loader, MissingNapSleepsAtMostTheTimeGiven) {
  // Would catch: a stub nap that returns at once (the core would spin) or never.
  Loader loader(config_with({plugin_directory("good")}), services());
  ConduitPlugin* plugin = loader.conduit("good");
  ASSERT_NE(plugin, nullptr);
  const auto before = std::chrono::steady_clock::now();
  plugin->module.nap(nullptr, 2'000'000);
  const auto slept = std::chrono::steady_clock::now() - before;
  EXPECT_GE(slept, std::chrono::milliseconds(2));
  EXPECT_LT(slept, std::chrono::seconds(10));
}

TEST(Loader, LoadsAPluginOfTheOldestMinor) {
  // Would catch: members read beyond the plugin's struct_size (they hold poison there).
  Loader loader(config_with({plugin_directory("oldest")}, LoadErrorPolicy::fail), services());
  ConduitPlugin* plugin = loader.conduit("oldest");
  ASSERT_NE(plugin, nullptr);
  int fd = -1;
  EXPECT_EQ(plugin->module.wait_fd(nullptr, &fd), CWY_ERR_UNSUPPORTED);
  EXPECT_EQ(plugin->ops[0].am_long, nullptr);
  EXPECT_NE(plugin->ops[0].am_medium, nullptr);
  plugin->module.fini();
}

TEST(Loader, LoadsAPluginOfANewerMinor) {
  // Would catch: a larger struct_size refused, or copied over the end of the core's table.
  Loader loader(config_with({plugin_directory("newest")}, LoadErrorPolicy::fail), services());
  ConduitPlugin* plugin = loader.conduit("newest");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin->module.head.struct_size, sizeof(cwyc_module));
  EXPECT_EQ(plugin->module.head.minor, 7);
  EXPECT_EQ(plugin->module.progress(nullptr, 1, 0), 0u);
}

TEST(Loader, FirstDirectoryWinsAndTheOtherIsReported) {
  // Would catch: the wrong one of two plugins of one name, and a silent shadow.
  Scratch first, second;
  fs::copy_file(plugin_file("good"), first.path("conduit_good.so"));
  fs::copy_file(plugin_file("good"), second.path("conduit_good.so"));
  Loader loader(config_with({first.path(), second.path()}), services());
  ConduitPlugin* plugin = loader.conduit("good");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin->manifest.path, first.path("conduit_good.so"));
  ASSERT_EQ(loader.failures().size(), 1u);
  EXPECT_EQ(loader.failures()[0].path, second.path("conduit_good.so"));
  EXPECT_NE(loader.failures()[0].reason.find(first.path("conduit_good.so")), std::string::npos);

  Loader lister(config_with({first.path(), second.path()}), services());
  const auto all = lister.list();
  EXPECT_EQ(
      std::count_if(all.begin(), all.end(), [](const Manifest& m) { return m.name == "good"; }), 1);
  EXPECT_EQ(lister.failures().size(), 1u);
}

TEST(Loader, OneFileReachedTwiceIsNoDuplicate) {
  // Would catch: a search path with a link or a repeated directory reported as a conflict.
  Scratch linked;
  fs::create_symlink(plugin_file("good"), linked.path("conduit_good.so"));
  Loader loader(
      config_with({plugin_directory("good"), plugin_directory("good") + "/../good", linked.path()},
                  LoadErrorPolicy::fail),
      services());
  EXPECT_NE(loader.conduit("good"), nullptr);
  EXPECT_TRUE(loader.failures().empty());
  EXPECT_EQ(loader.search_path().size(), 3u);  // good, the links' folder, the core's own
}

TEST(Loader, ABrokenFileDoesNotClaimItsName) {
  // Would catch: a damaged copy in a user's folder hiding the installed plugin.
  Scratch broken;
  write_bytes(broken.path("conduit_good.so"), "not a plugin");
  Loader loader(config_with({broken.path(), plugin_directory("good")}), services());
  ConduitPlugin* plugin = loader.conduit("good");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin->manifest.path, plugin_file("good"));
  EXPECT_EQ(loader.failures().size(), 1u);
}

TEST(Loader, UnknownNameSaysWhereItLookedAndSuggests) {
  // Would catch: "not found" without the places, without a hint, or a crash on it.
  Loader loader(config_with({plugin_directory("good")}, LoadErrorPolicy::fail), services());
  try {
    loader.conduit("goood");
    FAIL() << "an unknown plugin was loaded";
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("conduit_goood.so: not found in " + plugin_directory("good")),
              std::string::npos)
        << error.text();
    EXPECT_NE(error.text().find("did you mean 'good'?"), std::string::npos) << error.text();
  }
  EXPECT_THROW(loader.conduit("goood"), Error);  // and again, not nullptr the second time
}

TEST(Loader, LoadsByExactFileWhateverItsName) {
  // Would catch: check-plugin refusing a vendor's build because the file has another name.
  Scratch scratch;
  fs::copy_file(plugin_file("good"), scratch.path("libvendor.so"));
  Loader loader(config_with({}, LoadErrorPolicy::ignore), services());
  EXPECT_EQ(loader.file<ConduitPlugin>(scratch.path("libvendor.so"))->manifest.name, "good");
  EXPECT_THROW(loader.file<MemkindPlugin>(scratch.path("libvendor.so")), Error);
  // An exact file that is bad throws even under `ignore`.
  EXPECT_THROW(loader.file<ConduitPlugin>(plugin_file("no_init")), Error);
}

TEST(Loader, ListReportsAMissingDirectoryOfThePath) {
  // Would catch: a mistyped plugins.path that nobody hears about.
  Loader loader(config_with({"/nonexistent/causeway"}), services());
  loader.list();
  loader.list();  // the same failure is not recorded twice
  ASSERT_EQ(loader.failures().size(), 1u);
  EXPECT_EQ(loader.failures()[0].path, "/nonexistent/causeway");
}

// Would catch: a job that runs without the plugins of a mistyped directory, and says nothing.
TEST(Loader, TellsOfAMissingDirectoryOfThePath) {
  const std::vector<std::string> path = {"/nonexistent/causeway"};
  const auto told = [&](LoadErrorPolicy policy) {
    testing::internal::CaptureStderr();
    const Loader loader(config_with(path, policy), services());
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(told(LoadErrorPolicy::warn),
              testing::HasSubstr("/nonexistent/causeway: cannot be searched (plugins.path): No "));
  EXPECT_EQ(told(LoadErrorPolicy::ignore), "");
  EXPECT_THROW(Loader(config_with(path, LoadErrorPolicy::fail), services()), Error);
}

TEST(Loader, ReloadsAfterEveryLoaderIsGone) {
  // Would catch: a stale module handed out after fini.
  logged().clear();
  for (int round = 0; round < 2; ++round) {
    Loader loader(config_with({plugin_directory("good")}), services());
    ASSERT_NE(loader.conduit("good"), nullptr);
  }
  EXPECT_EQ(logged(),
            (std::vector<std::string>{"good: init", "good: fini", "good: init", "good: fini"}));
}

}  // namespace
}  // namespace causeway::loader_test
