// Programs that start their own ranks: the program's process executes `causeway` when it has
// forked.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "launch_harness.h"

namespace launch_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

Command forked(int ranks, Words words) {
  words.insert(words.begin(), rank_program());
  return Command(std::move(words), {{"CAUSEWAY_RANKS", std::to_string(ranks)}});
}

std::string quoted(const std::string& word) {
  return "'" + word + "'";
}

// A shell command, in which the program starts its own ranks.
Command in_shell(int ranks, const std::string& text) {
  return Command({"bash", "-c", text}, {{"CAUSEWAY_RANKS", std::to_string(ranks)}});
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What `ps` shows as a process's command line.
std::string command_line(pid_t pid) {
  std::string words = text_of("/proc/" + std::to_string(pid) + "/cmdline");
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

std::string program_of(pid_t pid) {
  std::error_code gone;
  return fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone).filename();
}

void expect_all(Command& command, int ranks, int status = 0) {
  const Result result = command.run();
  EXPECT_EQ(result.status, status) << result.out << result.err;
  const std::string said = "of " + std::to_string(ranks) + " has all cards";
  EXPECT_EQ(count(result.out, said), static_cast<size_t>(ranks)) << result.out << result.err;
  expect_clean(command);
}

// Would catch: a launcher that is still the program, with its memory; names from which nobody can
// tell whose launcher this is; ranks that are no forks of the program.
TEST(Fork, LauncherIsTheCommand) {
  Command command = forked(2, {"init", "exchange", "say=ready", "sleep=30"});
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 2));
  const std::string words = rank_program() + " init exchange say=ready sleep=30 ";
  const std::string program = fs::path(rank_program()).filename();
  size_t ranks = 0;
  for (const auto& [pid, name] : command.processes()) {
    const std::string line = command_line(pid);
    EXPECT_NE(line.find(words), std::string::npos) << line;
    if (pid == command.pid()) {
      EXPECT_EQ(name, "causeway");
      EXPECT_EQ(line.rfind(run_command() + " launcher ", 0), 0u) << line;
    } else if (pid == command.keeper()) {
      EXPECT_EQ(name, "causeway-keeper");
      EXPECT_EQ(line.rfind(run_command() + " keeper ", 0), 0u) << line;
    } else if (program_of(pid) == program) {
      EXPECT_EQ(line, words);
      ++ranks;
    }
  }
  EXPECT_EQ(ranks, 2u);
  ::kill(command.pid(), SIGTERM);
  EXPECT_EQ(command.wait().status, 143);
  expect_clean(command);
}

// Would catch: ranks, a keeper or a session directory that are left by a launcher which is killed
// between its fork and the launcher's first word.
TEST(Fork, KilledWhileItStarts) {
  for (int delay_us = 0; delay_us < 40000; delay_us += 1300) {
    Command command = forked(3, {"init", "exchange", "sleep=30"});
    command.start();
    ::usleep(static_cast<useconds_t>(delay_us));
    ::kill(command.pid(), SIGKILL);
    EXPECT_EQ(command.wait().status, 137);
    expect_clean(command);
  }
}

// Would catch: the same where the keeper is killed, or one of the ranks, before the job has begun;
// a rank's end that the keeper does not hear of, because it came before the keeper executed the
// command.
TEST(Fork, ChildKilledWhileItStarts) {
  for (int delay_us = 0; delay_us < 40000; delay_us += 1300) {
    Command command = forked(3, {"init", "exchange", "sleep=30"});
    command.start();
    ::usleep(static_cast<useconds_t>(delay_us));
    pid_t victim = 0;
    const std::vector<std::pair<pid_t, std::string>> processes = command.processes();
    if (!processes.empty()) victim = processes.back().first;
    if (victim == 0 || victim == command.pid()) victim = command.keeper();
    if (victim == 0) victim = command.pid();  // nothing has been forked yet
    ::kill(victim, SIGKILL);
    const Result result = command.wait();
    EXPECT_NE(result.status, 0);
    EXPECT_LT(result.seconds, 10.0 * kSlowdown) << "killed after " << delay_us << " us";
    expect_clean(command);
  }
}

// Would catch: a command that is looked for from the current directory, or from argv[0].
TEST(Fork, StartedByRelativePath) {
  const fs::path program = rank_program();
  Command here = in_shell(2, "cd " + quoted(program.parent_path()) + " && exec ./" +
                                 program.filename().string() + " init exchange finalize");
  expect_all(here, 2);
  Command renamed = in_shell(2, "exec -a nobody " + quoted(program) + " init exchange finalize");
  expect_all(renamed, 2);
}

// Would catch: a command that is not found once the program has gone elsewhere, or its directory is
// gone.
TEST(Fork, OddWorkingDirectory) {
  Command elsewhere = forked(2, {"chdir=/", "init", "exchange", "finalize"});
  expect_all(elsewhere, 2);
  const std::string words = quoted(rank_program()) + " init exchange finalize";
  Command removed = in_shell(2,
                             "mkdir \"$TMPDIR/gone\" && cd \"$TMPDIR/gone\" && rmdir "
                             "\"$TMPDIR/gone\" && exec " +
                                 words);
  expect_all(removed, 2);
}

// A copy of the program with nothing beside it.
fs::path lonely_copy(const Command& command) {
  const fs::path folder = command.directory() + "/alone/bin";
  fs::create_directories(folder);
  fs::copy_file(rank_program(), folder / "prog");
  return folder;
}

// Would catch: a missing command that is not named, or not where it was expected; more than one
// line; ranks that have been forked for nothing.
TEST(Fork, MissingCommandIsNamed) {
  Command command = in_shell(3, "exec \"${TMPDIR%/tmp}/alone/bin/prog\" init exchange");
  const fs::path folder = lonely_copy(command);
  const Result result = command.run();
  EXPECT_EQ(result.status, 5);
  EXPECT_NE(result.out.find("the command `causeway` at '" + (folder / "causeway").string() + "'"),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("No such file or directory"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("use `causeway run -n 3`"), std::string::npos) << result.out;
  EXPECT_EQ(count(result.out, "\n"), 1u) << result.out;
  EXPECT_EQ(result.err, "");
  expect_clean(command);
}

// Would catch: a program that hangs, or goes on as its own launcher, where the command cannot be
// executed after all.
TEST(Fork, CommandThatIsNoProgram) {
  Command command = in_shell(3, "exec \"${TMPDIR%/tmp}/alone/bin/prog\" init exchange");
  const fs::path file = lonely_copy(command) / "causeway";
  std::ofstream(file) << "no program";
  ::chmod(file.c_str(), 0755);
  const Result result = command.run();
  EXPECT_EQ(result.status, 5);
  EXPECT_NE(result.out.find("cannot execute '" + file.string() + "'"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("Exec format error"), std::string::npos) << result.out;
  EXPECT_EQ(count(result.out, "\n"), 1u) << result.out;
  EXPECT_EQ(result.err, "");
  expect_clean(command);
}

// Would catch: a job that is lost, or waits, where the command beside the library is another's; the
// words of somebody who takes the processes' names for subcommands.
TEST(Fork, WithoutAHandover) {
  for (const char* role : {"launcher", "keeper"}) {
    Command command({run_command(), role, "0"});
    const Result result = command.run();
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(count(result.err, "\n"), role[0] == 'l' ? 1u : 0u) << result.err;
    EXPECT_EQ(count(result.err, "use `causeway run`"), role[0] == 'l' ? 1u : 0u) << result.err;
  }
}

// Would catch: a launcher that dies of a timer which the program has set for a handler of its own,
// as programs that are profiled do.
TEST(Fork, TimersOfTheProgram) {
  Command command = forked(2, {"profile", "init", "exchange", "sleep=0.3", "finalize"});
  expect_all(command, 2);
}

// Would catch: a launcher that dies of a signal for which the program has a handler, as one that a
// scheduler sends to every process of a job.
TEST(Fork, SignalsOfTheProgram) {
  Command command = forked(2, {"handle", "init", "exchange", "say=ready", "sleep=0.5", "finalize"});
  command.start();
  ASSERT_TRUE(command.wait_for_output("ready", 2));
  for (const pid_t pid : {command.pid(), command.keeper()}) {
    ::kill(pid, SIGUSR1);
    ::kill(pid, SIGRTMIN);
  }
  const Result result = command.wait(30.0);
  EXPECT_EQ(result.status, 0) << result.err;
  expect_clean(command);
}

// Would catch: output of the ranks that goes nowhere, because the program had kept its own
// descriptors from programs that it executes.
TEST(Fork, DescriptorsOfTheProgramAlone) {
  Command command = forked(2, {"cloexec", "init", "exchange", "finalize"});
  expect_all(command, 2);
}

// Would catch: a standard descriptor that is taken for something else after the command was
// executed.
TEST(Fork, ClosedDescriptors) {
  const std::string words = quoted(rank_program()) + " init exchange finalize";
  for (const char* closed : {"<&-", "2>&-", "<&- 2>&-"}) {
    Command command = in_shell(2, "exec " + words + " " + closed);
    expect_all(command, 2);
  }
}

// Would catch: input that the program's process took with it.
TEST(Fork, FirstRankReadsInput) {
  Command command = forked(3, {"init", "stdin", "exchange", "finalize"});
  command.stdin_text(std::string(100'000, 'x'));
  const Result result = command.run();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "rank 0 read 100000 bytes"), 1u) << result.out;
  EXPECT_EQ(count(result.out, "read 0 bytes"), 2u) << result.out;
  expect_clean(command);
}

// Would catch: a handover that does not hold what many ranks need.
TEST(Many, ForkedRanks) {
  Command command = forked(256, {"timeout=90", "init", "exchange", "fence", "finalize"});
  const Result result = command.run(90.0);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "of 256 has all cards"), 256u);
  expect_clean(command);
}

// Skips where there is no debugger, or none is allowed.
class Debugged : public ::testing::Test {
 protected:
  void SetUp() override {
    Command probe({"bash", "-c", "gdb -batch -ex run true | grep 'exited normally'"});
    if (probe.run().status != 0) GTEST_SKIP() << "gdb is missing, or may not trace";
  }

  static Command under_gdb(const std::string& commands) {
    return in_shell(2, "gdb -nx -batch " + commands + " --args " + quoted(rank_program()) +
                           " init exchange leave=6");
  }
};

// Would catch: a job that does not go on under a debugger, which follows the program into the
// command.
TEST_F(Debugged, LauncherIsFollowed) {
  Command command = under_gdb("-ex run");
  const Result result = command.run();
  EXPECT_EQ(count(result.out, "of 2 has all cards"), 2u) << result.out << result.err;
  EXPECT_NE(result.out.find("exited with code 06"), std::string::npos) << result.out;
  expect_clean(command);
}

// Would catch: a rank that a debugger cannot be led to, or that has lost the program's symbols.
TEST_F(Debugged, RankIsFollowed) {
  // The second fork that is followed is that of rank 0, by the keeper.
  Command command = under_gdb(
      "-ex 'set follow-fork-mode child' -ex 'break _Exit' -ex run -ex 'info inferiors' -ex "
      "continue");
  const Result result = command.run();
  EXPECT_EQ(count(result.out, "of 2 has all cards"), 2u) << result.out << result.err;
  const size_t list = result.out.find("* 3");
  EXPECT_NE(list, std::string::npos) << result.out << result.err;
  EXPECT_NE(result.out.find(fs::path(rank_program()).filename(), list), std::string::npos)
      << result.out;
  expect_clean(command);
}

}  // namespace
}  // namespace launch_test
