// Every way a plugin can be bad, under every policy: one line that names the file and the reason.
#include <sys/stat.h>
#include <unistd.h>

#include <elf.h>
#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>

#include "loader/plugin_call.h"
#include "loader_support.h"

namespace causeway::loader_test {
namespace {

// A bad plugin: either one that was built so, or damage done to a copy of the good one.
struct BadCase {
  std::string name;
  std::string reason;                              // must stand in the message
  std::function<void(const std::string&)> damage;  // null: built bad
  friend std::ostream& operator<<(std::ostream& out, const BadCase& c) { return out << c.name; }
};

void patch(const std::string& path, size_t offset, const std::string& bytes) {
  std::string all = read_bytes(path);
  all.replace(offset, bytes.size(), bytes);
  write_bytes(path, all);
}

// To a user of whom this process knows nothing.
void give_away(const std::string& what) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::lchown(what.c_str(), 4711, 4711), 0);
}

std::vector<BadCase> built_cases() {
  return {
      {"no_manifest", "carries no plugin manifest (ELF section cwy_manifest)", nullptr},
      {"malformed", "its manifest is not valid YAML", nullptr},
      {"not_map", "its manifest is not a YAML map", nullptr},
      {"two_manifests", "more than one manifest", nullptr},
      {"wrong_kind", "wrong kind: its manifest says memkind, its file name says conduit", nullptr},
      {"unknown_kind", "'toaster' is not conduit, memkind or collective", nullptr},
      {"too_new_major", "too new: built for plugin interface 3.0, this Causeway offers 2.0",
       nullptr},
      {"too_new_minor", "too new: needs plugin interface 2.999 or later", nullptr},
      {"too_new_format", "too new: manifest format '2'", nullptr},
      {"too_old", "too old: built for plugin interface 1.1, this Causeway offers 2.0; rebuild",
       nullptr},
      {"misnamed", "its manifest names conduit 'other'", nullptr},
      {"bad_name", "'Bad-Name' is not of the form", nullptr},
      {"bad_default", "manifest option 'ring': its default or bounds: expected a size such as",
       nullptr},
      {"bad_wanted", "'wanted_by' must be a list", nullptr},
      {"no_init", "does not export cwy_conduit_init_v2", nullptr},
      {"undefined", "cannot be loaded: undefined symbol: nobody_defines_this", nullptr},
      {"missing_dependency", "cannot be loaded: libcauseway_test_gone.so.1: cannot open", nullptr},
      {"init_fails", "cwy_conduit_init_v2 answered DEVICE_FAILED: the flux capacitor is missing",
       nullptr},
      {"init_silent", "answered NOMEM: the plugin gave no reason", nullptr},
      {"init_null", "answered OK but set no module", nullptr},
      {"init_throws", "threw a C++ exception", nullptr},
      {"no_progress", "its module lacks what every plugin must offer: progress", nullptr},
      {"no_tables", "its module has ops_count 0", nullptr},
      {"no_am_medium", "its ops[0] lacks what every plugin must offer: am_medium", nullptr},
      {"half_prepare", "am_commit (beside am_prepare), am_cancel (beside am_prepare)", nullptr},
      {"mixed_tables",
       "its ops[1] has concurrency 1, its ops[0] has 0: all tables declare the same", nullptr},
      {"empty_head", "head.struct_size 0: fill the head with CWY_HEAD()", nullptr},
      {"other_major", "its module is of plugin interface major 1, expected 2", nullptr},
      {"module_too_new", "is too new: its module needs plugin interface 2.999", nullptr},
  };
}

std::vector<BadCase> damaged_cases() {
  using std::string;
  return {
      {"text_file", "is not an ELF file",
       [](const string& path) { write_bytes(path, "#!/bin/sh\necho I am no plugin\n"); }},
      {"empty_file", "is not an ELF file", [](const string& path) { write_bytes(path, ""); }},
      {"truncated", "is truncated or damaged",
       [](const string& path) { write_bytes(path, read_bytes(path).substr(0, 3000)); }},
      {"truncated_header", "is truncated or damaged",
       [](const string& path) { write_bytes(path, read_bytes(path).substr(0, 40)); }},
      {"wrong_machine", "is built for ",
       [](const string& path) {
         const Elf64_Half machine = EM_SPARCV9;
         patch(path, offsetof(Elf64_Ehdr, e_machine),
               string(reinterpret_cast<const char*>(&machine), sizeof machine));
       }},
      {"elf32", "is not a 64-bit ELF file",
       [](const string& path) { patch(path, EI_CLASS, string(1, ELFCLASS32)); }},
      {"other_endian", "other byte order",
       [](const string& path) {
         const char now = read_bytes(path)[EI_DATA];
         patch(path, EI_DATA, string(1, now == ELFDATA2LSB ? ELFDATA2MSB : ELFDATA2LSB));
       }},
      {"not_shared", "is not a shared object",
       [](const string& path) {
         const Elf64_Half type = ET_REL;
         patch(path, offsetof(Elf64_Ehdr, e_type),
               string(reinterpret_cast<const char*>(&type), sizeof type));
       }},
      {"no_sections", "has no section table",
       [](const string& path) {
         patch(path, offsetof(Elf64_Ehdr, e_shoff), string(sizeof(Elf64_Off), '\0'));
       }},
      {"world_writable", "is world-writable",
       [](const string& path) { ASSERT_EQ(::chmod(path.c_str(), 0777), 0); }},
      {"open_directory", "is world-writable, so anybody",
       [](const string& path) {
         ASSERT_EQ(::chmod(fs::path(path).parent_path().c_str(), 0777), 0);
       }},
      {"open_ancestor", "is world-writable",
       [](const string& path) {
         const fs::path inner = fs::path(path).parent_path() / "open" / "inner";
         fs::create_directories(inner);
         fs::rename(path, inner / "conduit.so");
         fs::create_symlink(inner / "conduit.so", path);
         ASSERT_EQ(::chmod(inner.parent_path().c_str(), 0777), 0);
       }},
      {"of_another_user", "belongs to user 4711, who could exchange it",
       [](const string& path) { give_away(path); }},
      {"in_their_directory", "belongs to user 4711",
       [](const string& path) { give_away(fs::path(path).parent_path()); }},
      {"behind_their_link", "belongs to user 4711",
       [](const string& path) {
         fs::rename(path, path + ".real");
         fs::create_symlink(path + ".real", path);
         give_away(path);
       }},
      {"link_to_itself", "cannot be opened: Too many levels",
       [](const string& path) {
         fs::remove(path);
         fs::create_symlink(path, path);
       }},
      {"directory", "is not a regular file",
       [](const string& path) {
         fs::remove(path);
         fs::create_directory(path);
       }},
      {"fifo", "is not a regular file",
       [](const string& path) {
         fs::remove(path);
         ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
       }},
      {"dangling", "cannot be opened: No such file",
       [](const string& path) {
         fs::remove(path);
         fs::create_symlink("/nonexistent/conduit.so", path);
       }},
  };
}

std::vector<BadCase> all_cases() {
  std::vector<BadCase> cases = built_cases();
  for (BadCase& c : damaged_cases()) cases.push_back(std::move(c));
  return cases;
}

class BadPlugin : public testing::TestWithParam<BadCase> {
 protected:
  void SetUp() override {
    const BadCase& c = GetParam();
    if (!c.damage) {
      name_ = c.name;
      directory_ = plugin_directory(name_);
    } else {
      name_ = "good";
      directory_ = scratch_.path();
      fs::copy_file(plugin_file("good"), scratch_.path("conduit_good.so"));
      c.damage(scratch_.path("conduit_good.so"));
    }
    path_ = directory_ + "/conduit_" + name_ + ".so";
  }

  // The promise: one line, starting with the file, giving the reason.
  void expect_clear(const std::string& line) const {
    EXPECT_EQ(line.rfind(path_ + ": ", 0), 0u) << line;
    EXPECT_NE(line.find(GetParam().reason), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }

  Scratch scratch_;
  std::string name_, directory_, path_;
};

// Each test would catch: a bad plugin that loads, crashes, or fails with a text that does not say
// which file and why; and a policy that is not obeyed.
TEST_P(BadPlugin, PolicyFailThrows) {
  Loader loader(config_with({directory_}, LoadErrorPolicy::fail), services());
  testing::internal::CaptureStderr();
  try {
    loader.conduit(name_);
    ADD_FAILURE() << "loaded";
  } catch (const Error& error) {
    expect_clear(error.text());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(BadPlugin, PolicyWarnLogsOneLine) {
  Loader loader(config_with({directory_}, LoadErrorPolicy::warn), services());
  testing::internal::CaptureStderr();
  EXPECT_EQ(loader.conduit(name_), nullptr);
  EXPECT_EQ(loader.conduit(name_), nullptr);  // the second time is quiet
  const std::string prefix = "causeway: warning: ";
  const std::string out = testing::internal::GetCapturedStderr();
  ASSERT_EQ(out.rfind(prefix, 0), 0u) << out;
  ASSERT_EQ(out.find('\n'), out.size() - 1) << out;
  expect_clear(out.substr(prefix.size(), out.size() - prefix.size() - 1));
}

TEST_P(BadPlugin, PolicyIgnoreIsSilentButRemembers) {
  Loader loader(config_with({directory_}, LoadErrorPolicy::ignore), services());
  testing::internal::CaptureStderr();
  EXPECT_EQ(loader.conduit(name_), nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_EQ(loader.failures().size(), 1u);
  expect_clear(loader.failures()[0].path + ": " + loader.failures()[0].reason);
}

std::string case_name(const testing::TestParamInfo<BadCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Every, BadPlugin, testing::ValuesIn(all_cases()), case_name);

// Would catch: a process that ends by a plugin's signal without a line that names its file.
TEST(CrashingPlugin, IsNamed) {
  const auto load = [](const std::string& name) {
    const PluginWatch watch(60'000'000'000);
    Loader loader(config_with({plugin_directory(name)}), services());
    loader.conduit(name);
  };
  EXPECT_EXIT(load("init_aborts"), testing::KilledBySignal(SIGABRT),
              "error: /.*/conduit_init_aborts.so crashed in cwy_conduit_init_v2 .signal 6.");
  EXPECT_EXIT(load("load_aborts"), testing::KilledBySignal(SIGABRT),
              "error: /.*/conduit_load_aborts.so crashed in dlopen .signal 6.");
}

// Two plugins of one name obey the policy as well. Would catch: a conflict that `fail` overlooks.
TEST(Duplicate, ObeysThePolicy) {
  Scratch first, second;
  fs::copy_file(plugin_file("good"), first.path("conduit_good.so"));
  fs::copy_file(plugin_file("good"), second.path("conduit_good.so"));
  const std::vector<std::string> path{first.path(), second.path()};

  Loader strict(config_with(path, LoadErrorPolicy::fail), services());
  try {
    strict.conduit("good");
    ADD_FAILURE() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.text().rfind(second.path("conduit_good.so") + ": ", 0), 0u) << error.text();
    EXPECT_EQ(error.text().find('\n'), std::string::npos);
  }

  Loader warning(config_with(path, LoadErrorPolicy::warn), services());
  testing::internal::CaptureStderr();
  EXPECT_NE(warning.conduit("good"), nullptr);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("comes first in the search path"),
            std::string::npos);

  Loader quiet(config_with(path, LoadErrorPolicy::ignore), services());
  testing::internal::CaptureStderr();
  EXPECT_NE(quiet.conduit("good"), nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Would catch: a plugin whose init failed counted as initialised, so that a retry gets garbage.
TEST(BadInit, FailsAgainInTheNextLoader) {
  for (int round = 0; round < 2; ++round) {
    Loader loader(config_with({plugin_directory("init_fails")}), services());
    EXPECT_EQ(loader.conduit("init_fails"), nullptr);
  }
}

}  // namespace
}  // namespace causeway::loader_test
