// Other users of the machine, who see the launcher's port and the names of its files, and know how
// PMIx's client talks. The job's user and the stranger are both made up, so that no other job of
// the machine is met.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launch_harness.h"

namespace launch_test {
namespace {

using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Stranger : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become two other users";
    Command reach(as_owner({run_command(), "--version"}));
    if (reach.run().status != 0)
      GTEST_SKIP() << "other users cannot execute " << run_command() << ", or there is no setpriv";
  }

  Words as_owner(const Words& words) const {
    return Words{"setpriv", "--reuid", owner_, "--regid", owner_, "--clear-groups"} + words;
  }
  // The job's directory is in one that everybody may use, as /tmp is.
  static void open_to_all(const Command& command) {
    ::chmod(command.directory().c_str(), 0755);
    ::chmod((command.directory() + "/tmp").c_str(), 01777);
  }
  Words intruder(const std::string& mode, const Command& job, const Words& more = {}) const {
    return Words{INTRUDER, mode, owner_, job.directory() + "/tmp"} + more;
  }

  void expect_kept_out(const std::string& name_of, const Result& result) {
    EXPECT_NE(result.out.find("done"), std::string::npos) << result.out << result.err;
    for (const char* what : {"joined", "card", "aborted"})
      EXPECT_EQ(result.out.find(what), std::string::npos)
          << "the stranger, " << name_of << ", has " << what;
  }

  // While a process connects to the launcher's port and says no more than `words`.
  void expect_not_held_up(const std::string& mode, const Words& words) {
    Command command(
        as_owner(job(3, {"sleep=0.5", "init", "exchange", "finalize"}, {"--timeout", "20"})));
    open_to_all(command);
    const Words holder = intruder(mode, command, words);
    Command idle(mode == "own" ? as_owner(holder) : holder);
    idle.start();
    command.start();
    EXPECT_TRUE(idle.wait_for_output("held", 1)) << "there was no port";
    const Result result = command.wait();
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    expect_clean(command);
  }

  const std::string owner_ = std::to_string(1'000'000 + 2 * ::getpid());
};

// Would catch: a namespace that stands in the name of a file; a server that believes the number of
// a user that a client sends.
TEST_F(Stranger, BecomesNoRank) {
  Command command(as_owner(job(2, {"timeout=60", "init", "exchange", "env=PMIX_NAMESPACE",
                                   "@0:together", "fence", "finalize"})));
  open_to_all(command);
  command.start();
  ASSERT_TRUE(command.wait_for_output("PMIX_NAMESPACE=", 2));
  std::string name;
  std::ifstream out(command.directory() + "/out");
  std::getline(std::getline(out, name, '='), name);
  expect_kept_out("who looks around", Command(intruder("join", command)).run(60.0));
  expect_kept_out("who knows the name", Command(intruder("join", command, {name})).run(60.0));
  // Rank 0 takes it for rank 1's word that it may go on.
  for (const auto& session : std::filesystem::directory_iterator(command.directory() + "/tmp"))
    std::ofstream(session.path() / "together.1").put('\n');
  const Result result = command.wait();
  EXPECT_EQ(result.status, 0) << result.out << result.err;
}

// Would catch: a process that connects to the launcher's port, says nothing or a part of something,
// and with that stops every rank's start.
TEST_F(Stranger, SaysNothing) {
  expect_not_held_up("hold", {});
}
TEST_F(Stranger, SaysHalfAWord) {
  expect_not_held_up("hold", {"half"});
}
TEST_F(Stranger, OfTheSameUserSaysNothing) {
  expect_not_held_up("own", {});
}
TEST_F(Stranger, OfTheSameUserSaysHalfAWord) {
  expect_not_held_up("own", {"half"});
}
TEST_F(Stranger, OfTheSameUserSaysHalfAMessage) {
  expect_not_held_up("own", {"hello"});
}

}  // namespace
}  // namespace launch_test
