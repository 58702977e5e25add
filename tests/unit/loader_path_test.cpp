// Where the core finds its own files.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/own_path.h"
#include "loader/loader.h"

namespace causeway {
namespace {

namespace fs = std::filesystem;

// Would catch: a prefix taken from argv[0] or from the build machine instead of from where this
// object lies (the tree could then not be moved).
TEST(OwnPath, PrefixIsTheTreeAroundThisExecutable) {
  EXPECT_EQ(fs::canonical(own_prefix()), fs::canonical(CAUSEWAY_BINARY_DIR));
}

// Would catch: the current directory leaking into the answer.
TEST(OwnPath, DoesNotDependOnTheCurrentDirectory) {
  const std::string before = own_plugin_directory();
  const fs::path old = fs::current_path();
  fs::current_path("/");
  EXPECT_EQ(own_plugin_directory(), before);
  fs::current_path(old);
  EXPECT_TRUE(fs::path(before).is_absolute());
}

// Would catch: plugins looked for outside the tree.
TEST(OwnPath, PluginDirectoryLiesBelowThePrefix) {
  const std::string directory = own_plugin_directory();
  EXPECT_EQ(directory.rfind(own_prefix() + "/", 0), 0u) << directory;
  EXPECT_EQ(fs::path(directory).filename(), "2");
  EXPECT_EQ(fs::path(directory).parent_path().filename(), "causeway");
}

}  // namespace
}  // namespace causeway
