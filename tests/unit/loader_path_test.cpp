// Where the core finds its own files.
#include <gtest/gtest.h>

#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/own_path.h"
#include "config/config.h"
#include "loader/loader.h"
#include "loader_support.h"

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

// The program of the test below: 1 where a variable or a path of its user's is obeyed, 2 where the
// file system gives no rights away.
TEST(SetId, DISABLED_Program) {
  if (::getauxval(AT_SECURE) == 0) std::_Exit(2);
  Config config;
  config.plugin_path = {"/of/the/user"};
  const Loader loader(config, loader_test::services());
  const std::vector<std::string> path = loader.search_path();
  const ConfigSources sources = ConfigSources::from_environment();
  const bool obeyed = std::count(path.begin(), path.end(), "/of/the/user") != 0 ||
                      !sources.files.empty() || !sources.sets.empty();
  std::_Exit(obeyed ? 1 : 0);
}

// Would catch: a program with the rights of its owner that takes code or a configuration from where
// its user says.
TEST(SetId, TakesNothingOfItsUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make such a program";
  const loader_test::Scratch scratch;
  const std::string program = scratch.path("program");
  fs::copy_file("/proc/self/exe", program);
  ASSERT_EQ(::chown(program.c_str(), 4711, 4711), 0);
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0755), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("CAUSEWAY_CONFIG", "/of/the/user.yaml", 1);
    ::setenv("CAUSEWAY_SET", "direct_map=never", 1);
    if (::setgid(4712) != 0 || ::setuid(4712) != 0) ::_exit(3);
    ::execl(program.c_str(), "program", "--gtest_filter=SetId.DISABLED_Program",
            "--gtest_also_run_disabled_tests", nullptr);
    ::_exit(4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
    GTEST_SKIP() << scratch.path() << " lies on a file system that gives no rights away (nosuid)";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace causeway
