// Starting without a launcher, under foreign ones, and with configurations that cannot work.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "api_job.h"

namespace {

namespace fs = std::filesystem;
using api_test::Environment;
using api_test::kSoon;
using api_test::run;
using api_test::run_command;
using api_test::victim;
using launch_test::count;
using launch_test::Result;

void expect_greetings(const Result& result, unsigned ranks) {
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "hello from"), ranks) << result.out << result.err;
  for (unsigned rank = 0; rank < ranks; ++rank)
    EXPECT_EQ(count(result.out,
                    "hello from " + std::to_string(rank) + " of " + std::to_string(ranks) + "\n"),
              1u)
        << result.out;
}

void expect_refused(const Result& result, const std::vector<std::string>& parts) {
  EXPECT_NE(result.status, 0) << result.out << result.err;
  EXPECT_LT(result.status, 128) << "died instead of refusing: " << result.err;
  EXPECT_LT(result.seconds, kSoon) << result.err;
  for (const std::string& part : parts)
    EXPECT_NE(result.err.find(part), std::string::npos)
        << "expected '" << part << "' in: " << result.err;
  EXPECT_EQ(count(result.out, "hello"), 0u);
}

// A directory that goes away with the test.
class Directory {
 public:
  Directory() {
    std::string pattern = (fs::temp_directory_path() / "api-start-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = (path_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(Start, WithoutLauncherIsOneRank) {
  expect_greetings(run_command({victim(), "hello"}), 1);
}

TEST(Start, RanksVariableForksThem) {
  expect_greetings(run_command({victim(), "hello"}, {{"CAUSEWAY_RANKS", "4"}}), 4);
}

// Would catch: what holds for a host said by each of its ranks, or by the first of the job only.
TEST(Start, AWarningComesOnceFromEachHost) {
  const auto warnings = [](int ranks, std::vector<std::string> flags) {
    flags.insert(flags.end(),
                 {"--set", "conduits.eth.device=nonsense", "--set", "conduits.other.plugin=eth",
                  "--set", "peers=[{use: [self, shm, eth, other]}]"});
    const Result result = run({.words = {"hello"}, .ranks = ranks, .flags = flags});
    EXPECT_EQ(result.status, 0) << result.err;
    return count(result.err, "warning: conduit eth");
  };
  EXPECT_EQ(warnings(3, {}), 1u);
  EXPECT_EQ(warnings(4, {"--hosts", "a,b", "--agent", "env X=%h"}), 2u);
}

TEST(Start, RanksVariableMustBeANumber) {
  for (const char* bad : {"four", "0", "-1", "", "4x"}) {
    const Result result = run_command({victim(), "hello"}, {{"CAUSEWAY_RANKS", bad}});
    if (std::string(bad).empty() && result.status == 0) continue;  // empty may mean unset
    expect_refused(result, {"CAUSEWAY_RANKS"});
  }
}

TEST(Start, ForeignVariablesWithoutServerAreAnError) {
  // What a job script looks like to a program whose launcher speaks no PMIx.
  expect_refused(run_command({victim(), "hello"}, {{"SLURM_PROCID", "1"},
                                                   {"SLURM_NTASKS", "4"},
                                                   {"SLURM_JOB_ID", "1"},
                                                   {"SLURM_STEP_ID", "0"}}),
                 {"SLURM"});
}

// Would catch: two processes that take one rank's place, whose cards and waits pass for each
// other's: they hung, or spoke of ranks that had left. The one that came first goes on.
TEST(Start, RankIsOneProcess) {
  for (const char* script : {"\"$0\" hello; ! \"$0\" hello", "\"$0\" hello & \"$0\" hello; wait"}) {
    const Result result = run_command({launch_test::run_command(), "run", "-n", "3", "--timeout",
                                       "60", "--", "sh", "-c", script, victim()});
    expect_greetings(result, 3);
    EXPECT_EQ(count(result.err, " of this job; a rank is one program in one process"), 3u)
        << result.err;
  }
}

TEST(Hosts, Mpirun) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "mpirun is not installed";
  // Its own temporary files are mpirun's affair, so only the ranks are looked at.
  launch_test::Command command(
      {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4", victim(), "hello"});
  expect_greetings(command.run(30), 4);
  EXPECT_TRUE(command.left_processes().empty());
}

TEST(Config, BadTextIsNamedWithItsLine) {
  const Directory directory;
  const std::string path = directory.file("bad.yaml", "checks: none\ntimeouts:\n  strat: 5s\n");
  expect_refused(run({.words = {"hello"}, .environment = {{"CAUSEWAY_CONFIG", path}}}),
                 {"bad.yaml:3:", "strat", "start"});
  expect_refused(run_command({victim(), "hello"}, {{"CAUSEWAY_CONFIG", path}}), {"bad.yaml:3:"});
}

TEST(Config, NotYamlAtAll) {
  const Directory directory;
  const std::string path = directory.file("broken.yaml", "peers: [ {use: \n\t: ]\n");
  expect_refused(run({.words = {"hello"}, .environment = {{"CAUSEWAY_CONFIG", path}}}),
                 {"broken.yaml:"});
}

TEST(Config, MissingFile) {
  expect_refused(
      run({.words = {"hello"}, .environment = {{"CAUSEWAY_CONFIG", "/nonexistent/x.yaml"}}}),
      {"/nonexistent/x.yaml"});
}

TEST(Config, BadSetting) {
  expect_refused(run({.words = {"hello"}, .flags = {"--set", "checks=some"}}),
                 {"checks", "some", "full"});
}

TEST(Config, UnknownConduit) {
  expect_refused(run({.words = {"hello"}, .flags = {"--set", "peers=[{use: [smh]}]"}}),
                 {"smh", "shm"});
}

TEST(Config, PluginThatIsNotThere) {
  expect_refused(run({.words = {"hello"},
                      .flags = {"--set", "conduits.shm.plugin=nowhere", "--set",
                                "plugins.on_load_error=fail"}}),
                 {"nowhere"});
}

// A library whose plugins were not installed beside it.
TEST(Config, NoPluginsAtAll) {
  const Directory directory;
  fs::create_directories(directory.path() / "lib/causeway/2");
  const fs::path library = fs::canonical(api_test::library());
  for (const auto& entry : fs::directory_iterator(library.parent_path()))
    if (entry.path().filename().string().rfind("libcauseway.so", 0) == 0)
      fs::copy_file(fs::canonical(entry.path()),
                    directory.path() / "lib" / entry.path().filename());
  const Environment environment = {{"LD_LIBRARY_PATH", (directory.path() / "lib").string()}};
  expect_refused(run({.words = {"hello"}, .environment = environment}), {"shm"});
}

TEST(Config, OptionTheConduitDoesNotKnow) {
  expect_refused(run({.words = {"hello"}, .flags = {"--set", "conduits.shm.options.rign_bytes=4"}}),
                 {"rign_bytes"});
}

// Would catch: a value that the conduit refuses, and of which only `peers:` is said; or after which
// the job goes on without the conduit.
TEST(Config, ValueThatTheConduitRefuses) {
  const Directory directory;
  const std::string chaos = "conduits:\n  odd: {plugin: chaos, options: {over: shm}}\n";
  const std::string shm = "  shm: {options: {ring_bytes: 5}}\n";
  for (const std::string& text : {"\nconduits:\n" + shm, chaos + shm + "peers: [{use: [odd]}]\n"}) {
    const std::string path = directory.file("five.yaml", text);
    expect_refused(run({.words = {"hello"}, .environment = {{"CAUSEWAY_CONFIG", path}}}),
                   {"five.yaml:3:31: conduit ", ": option 'ring_bytes' is 5; expected 0 or"});
  }
}

TEST(Memory, HugePagesRequiredButNone) {
  unsigned long reserved = 0;
  std::ifstream("/proc/sys/vm/nr_hugepages") >> reserved;
  if (reserved > 0) GTEST_SKIP() << "this machine has huge pages";
  expect_refused(run({.words = {"hello"}, .flags = {"--set", "segment.huge_pages=require"}}),
                 {"huge"});
}

// May a program here have a namespace of its own? `flag`: of unshare.
bool can_unshare(const std::string& flag) {
  return std::system(("unshare " + flag + " true > /dev/null 2>&1").c_str()) == 0;
}

Result run_unshared(const std::string& flag, const std::string& script) {
  return run_command({"unshare", flag, "sh", "-c", script, launch_test::run_command(), victim()});
}

// POSIX shared memory on a /dev/shm of that size, in a mount namespace of its own.
Result hello_in_dev_shm(const std::string& size, unsigned ranks, const std::string& flags = "") {
  return run_unshared("-m", "mount -t tmpfs -o size=" + size +
                                " tmpfs /dev/shm && exec \"$0\" run -n " + std::to_string(ranks) +
                                " --set conduits.shm.options.memory=posix " + flags +
                                " -- \"$1\" hello");
}

// Would catch: numbers of processes looked for in the /proc of another pid namespace, so that peers
// count as gone.
TEST(Memory, ProcOfAnotherPidNamespace) {
  if (!can_unshare("-pf")) GTEST_SKIP() << "unshare -pf is not possible here";
  expect_greetings(run_unshared("-pf", "exec \"$0\" run -n 3 -- \"$1\" hello"), 3);
}

// POSIX shared memory on a /dev/shm of 64 KiB, in a mount namespace of its own. The memory must
// be refused when it is asked for, not by SIGBUS when it is touched.
TEST(Memory, NoSpaceInDevShm) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a mount namespace";
  if (!can_unshare("-m")) GTEST_SKIP() << "unshare -m is not possible here";
  const Result result = hello_in_dev_shm("64k", 2);
  expect_refused(result, {"/dev/shm"});
}

// Conduits that share memory through /dev/shm, as flags of `causeway run`; those that were built.
std::vector<std::string> users_of_dev_shm() {
  std::vector<std::string> out{"--set conduits.shm.options.memory=posix"};
  for (const api_test::Network& built : api_test::networks()) {
    if (built.name == "ofi")
      out.emplace_back("--set conduits.ofi.options.provider=shm --set 'peers=[{use: [ofi]}]'");
    if (built.name == "ucx")
      out.emplace_back("--set conduits.ucx.options.tls=shm,self --set 'peers=[{use: [ucx]}]'");
  }
  return out;
}

// Would catch: a library's failure that is passed on without the place that is too small, and how
// much it has and needs.
TEST(Memory, LittleSpaceInDevShmIsSaid) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a mount namespace";
  if (!can_unshare("-m")) GTEST_SKIP() << "unshare -m is not possible here";
  for (const std::string& flags : users_of_dev_shm()) {
    const Result result =
        run_unshared("-m", "mount -t tmpfs -o size=1m tmpfs /dev/shm && exec \"$0\" run -n 2 " +
                               flags + " -- \"$1\" hello");
    expect_refused(result, {"/dev/shm", " free", "enlarge it, or "});
  }
}

// Would catch: a directory that this user may not write to, and that no line names.
TEST(Memory, NoRightInDevShmIsSaid) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a mount namespace";
  if (!can_unshare("-m")) GTEST_SKIP() << "unshare -m is not possible here";
  for (const std::string& flags : users_of_dev_shm()) {
    const Result result = run_unshared(
        "-m",
        "mount -t tmpfs -o mode=0500 tmpfs /dev/shm && TMPDIR=/tmp exec setpriv --reuid 65534 "
        "--regid 65534 --clear-groups \"$0\" run -n 2 " +
            flags + " -- \"$1\" hello");
    if (result.status == 126 || result.status == 127)
      GTEST_SKIP() << "another user cannot execute the program: " << result.err;
    expect_refused(result, {"/dev/shm", "Permission denied", "let this user write there, or "});
  }
}

// Queues of ranks that lie in a /dev/shm which other ranks' memory fills meanwhile: room or a line,
// and no SIGBUS at the first touch.
TEST(Memory, QueuesInASmallDevShm) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a mount namespace";
  if (!can_unshare("-m")) GTEST_SKIP() << "unshare -m is not possible here";
  for (int i = 0; i < 4; ++i) {
    const Result result = hello_in_dev_shm("40m", 6);
    EXPECT_TRUE(result.status == 0 || result.err.find("/dev/shm") != std::string::npos)
        << result.err;
    EXPECT_LT(result.status, 128) << result.err;
  }
}

// Would catch: memory for collectives, which can do without, that takes the room of other ranks'
// queues and segments; or the lack of it that nobody says.
TEST(Memory, CollectivesLeaveRoomInDevShm) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a mount namespace";
  if (!can_unshare("-m")) GTEST_SKIP() << "unshare -m is not possible here";
  for (const auto& [ranks, size] :
       {std::pair{3u, "40m"}, {3u, "48m"}, {4u, "48m"}, {4u, "60m"}, {6u, "80m"}, {6u, "110m"}}) {
    const Result result = hello_in_dev_shm(size, ranks, "--set log.level=info");
    expect_greetings(result, ranks);
    EXPECT_EQ(count(result.err, "collectives use messages: conduit shm has "), ranks) << result.err;
  }
}

// Would catch: a long name of the host that ends the launcher. Linux takes 64 characters.
TEST(Start, LongHostName) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a name of its own";
  if (!can_unshare("-u")) GTEST_SKIP() << "unshare -u is not possible here";
  for (const size_t length : {50, 51, 57, 64}) {
    const std::string name(length, 'x');
    expect_greetings(
        run_unshared("-u", "hostname " + name + " && exec \"$0\" run -n 2 -- \"$1\" hello"), 2);
  }
}

// Would catch: two hosts of the launcher's that are one machine, and cannot reach each other
// without a configuration: their addresses are the same.
TEST(Start, TwoNamesOfOneHost) {
  const Directory directory;
  const std::string agent = directory.file("agent", "#!/bin/sh\nshift\nexec \"$@\"\n");
  ASSERT_EQ(::chmod(agent.c_str(), 0755), 0);
  expect_greetings(run_command({launch_test::run_command(), "run", "--hosts", "one,two", "--agent",
                                agent, "-n", "2", "--", victim(), "hello"}),
                   2);
}

// Would catch: ranks of a set-id program, which believes no variable, as jobs of one rank each.
TEST(Start, SetIdProgram) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make a program of another user's";
  const Directory directory;
  const std::string program = (directory.path() / "program").string();
  fs::copy_file(victim(), program);
  ASSERT_EQ(::chown(program.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
  const Result result =
      run_command({launch_test::run_command(), "run", "-n", "2", "--", program, "hello"});
  if (result.err.find("shared libraries") != std::string::npos)
    GTEST_SKIP() << "the library lies where another user cannot read it";
  expect_refused(result, {"set-id", "PMIX_NAMESPACE"});
}

// Would catch: ranks that wait in gex_Segment_Attach for one that could not allocate. Everybody
// must be refused, hear whose fault it was, and be able to go on.
TEST(Memory, OneRankCannotAttach) {
  const Result result = run({.words = {"attach_too_much"}, .ranks = 3});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_LT(result.seconds, kSoon);
  EXPECT_EQ(count(result.out, "was refused: 1"), 3u) << result.out << result.err;
  EXPECT_EQ(count(result.err, "gex_Segment_Attach(): rank 1 failed: size"), 2u) << result.err;
  EXPECT_EQ(count(result.err, "gex_Segment_Attach(): size"), 1u) << result.err;
}

// A limit on the size of files must be an answer, not a SIGXFSZ later.
TEST(Memory, FileSizeLimit) {
  const std::string script = "trap '' XFSZ; ulimit -f 400; exec \"$0\" run -n 2 -- \"$1\" hello";
  expect_refused(run_command({"sh", "-c", script, launch_test::run_command(), victim()}),
                 {"conduit shm", "ulimit -f"});
}

// Where no further thread can be had, a job ends in order or says why it does not: what PMIx's
// thread met there ended the process, at the normal end of a job.
TEST(Memory, NoThreadCanBeStarted) {
  for (int kib = 150000; kib <= 230000; kib += 10000) {
    const std::string script = "ulimit -v " + std::to_string(kib) + "; exec \"$0\" hello";
    const Result result = run_command(
        {launch_test::run_command(), "run", "-n", "2", "--", "sh", "-c", script, victim()});
    if (result.err.find("Sanitizer") != std::string::npos)
      GTEST_SKIP() << "a sanitizer's memory has no such limit";
    EXPECT_EQ(result.err.find("terminate called"), std::string::npos)
        << kib << " KiB: " << result.err;
    EXPECT_TRUE(result.status == 0 || !result.err.empty()) << kib << " KiB";
    EXPECT_LT(result.seconds, kSoon) << kib << " KiB: " << result.err;
  }
}

// The same with nothing that ignores the signal, for every size: shared memory is a file.
TEST(Memory, NoFileMayGrow) {
  // Through a pipe, whose reader has no limit: what the tests capture is a file too.
  const std::string script =
      "{ (ulimit -f 0; exec \"$0\" run -n 2 -- \"$1\" hello) 2>&1; echo \"status $?\"; } | cat >&2";
  const Result result = run_command({"sh", "-c", script, launch_test::run_command(), victim()});
  EXPECT_GE(count(result.err, "conduit shm"), 1u) << result.err;  // who is first ends the other
  EXPECT_NE(result.err.find("the file size limit (ulimit -f) is 0 bytes"), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("\nstatus 90\n"), std::string::npos) << result.err;
}

// Would catch: a refusal that does not say which process it is of, before ranks know theirs.
TEST(Config, BadTextOfOneRankNamesIt) {
  const std::string script =
      "if [ \"$PMIX_RANK\" = 1 ]; then export CAUSEWAY_SET=checks=some; fi; exec \"$0\" hello";
  expect_refused(run_command({launch_test::run_command(), "run", "-n", "2", "--", "sh", "-c",
                              script, victim()}),
                 {"causeway: rank 1: error: gex_Client_Init(): "});
  expect_refused(run_command({victim(), "hello"}, {{"CAUSEWAY_SET", "checks=some"}}),
                 {"causeway: process ", ": error: gex_Client_Init(): "});
}

// Two ranks that read different configurations cannot agree on anything.
TEST(Config, DiffersBetweenRanks) {
  const std::string script =
      "if [ \"$PMIX_RANK\" = 1 ]; then export CAUSEWAY_SET=checks=full; fi; exec \"$0\" hello";
  expect_refused(run_command({launch_test::run_command(), "run", "-n", "2", "--", "sh", "-c",
                              script, victim()}),
                 {"configuration"});
}

}  // namespace
