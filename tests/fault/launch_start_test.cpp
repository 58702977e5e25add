// Starting: bad command lines, bad programs, bad environments.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>

#include "launch_harness.h"

namespace launch_test {
namespace {

using Words = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::string>>;

// Would catch: a wrong status or more than one line for a program that is not there.
TEST(Program, Missing) {
  Command command({run_command(), "run", "-n", "3", "./no-such-program"});
  const Result result = command.run();
  EXPECT_EQ(result.status, 127);
  EXPECT_EQ(result.err.rfind(
                "causeway run: cannot execute './no-such-program': No such file or directory", 0),
            0u)
      << result.err;
  EXPECT_EQ(count(result.err, "\n"), 1u);
  expect_clean(command);
}

// Would catch: the same for one that is no program.
TEST(Program, NotExecutable) {
  Command command({run_command(), "run", "-n", "3", "/etc/passwd"});
  const Result result = command.run();
  EXPECT_EQ(result.status, 126);
  EXPECT_NE(result.err.find("cannot execute '/etc/passwd': Permission denied"), std::string::npos);
  EXPECT_EQ(count(result.err, "\n"), 1u);
}

// Would catch: arguments that are taken for the launcher's own, with and without "--".
TEST(Program, ArgumentsArePassedOn) {
  for (const Words& dash : {Words{"--"}, Words{}}) {
    Words words{run_command(), "run", "-n", "1"};
    words.insert(words.end(), dash.begin(), dash.end());
    for (const char* word : {"printf", "%s,", "-n", "7", "--timeout", "", "a b", "--", "x"})
      words.push_back(word);
    EXPECT_EQ(Command(words).run().out, "-n,7,--timeout,,a b,--,x,") << dash.size();
  }
}

// Would catch: nonsense that starts something.
TEST(CommandLine, NonsenseIsRefused) {
  const std::vector<Words> bad{{"-n", "0", "true"},
                               {"-n", "abc", "true"},
                               {"-n", "-3", "true"},
                               {"-n", "1000000", "true"},
                               {"true"},
                               {"-n", "2"},
                               {"-n", "2", "--timeout", "soon", "true"},
                               {"-n", "2", "--stdin", "first", "true"},
                               {"-n", "2", "--set", "novalue", "true"},
                               {"-n", "2", "--config", "/no/such/file", "true"}};
  for (Words words : bad) {
    words.insert(words.begin(), {run_command(), "run"});
    Command command(words);
    const Result result = command.run();
    EXPECT_EQ(result.status, 2) << words[3];
    EXPECT_NE(result.err + result.out, "");
  }
  Command stdin_rank({run_command(), "run", "-n", "2", "--stdin", "5", "true"});
  const Result result = stdin_rank.run();
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("--stdin 5: the job has ranks 0 to 1 only"), std::string::npos)
      << result.err;
}

// Would catch: a word that is no subcommand and is passed over in silence.
TEST(CommandLine, SubcommandThatIsNone) {
  const Result result = Command({run_command(), "rum", "-n", "2", "true"}).run();
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err.rfind("causeway: there is no subcommand 'rum'; did you mean 'run'?\n", 0),
            0u)
      << result.err;
}

// Would catch: settings that do not reach the ranks, or that lose a comma on the way.
TEST(CommandLine, SettingsReachTheRanks) {
  Command command(
      job(1, {"env=CAUSEWAY_SET"}, {"--set", "log.level=info", "--set", "direct_map=never"}));
  EXPECT_EQ(command.run().out, "CAUSEWAY_SET=log.level=info,direct_map=never\n");
}

// Would catch: a bad configuration that is reported by every rank, or after they have started.
TEST(CommandLine, BadConfigurationStartsNothing) {
  Command command(job(4, {"say=started"}, {"--set", "direct_map=perhaps"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(count(result.err, "expected auto or never"), 1u) << result.err;
  Command forked({rank_program(), "init"},
                 {{"CAUSEWAY_RANKS", "4"}, {"CAUSEWAY_SET", "direct_map=perhaps"}});
  EXPECT_EQ(count(forked.run().out, "INVALID"), 1u);
}

// Would catch: a relative path that is wrong in a rank that changes its directory.
TEST(CommandLine, ConfigurationPathIsAbsolute) {
  Command command({"sh", "-c",
                   "cd $TMPDIR/.. && echo 'timeouts: {exit: 200ms}' > my.yaml && exec " +
                       run_command() + " run -n 1 --config my.yaml -- printenv CAUSEWAY_CONFIG"});
  const Result result = command.run();
  EXPECT_EQ(result.out.front(), '/') << result.out << result.err;
  EXPECT_NE(result.out.find("/my.yaml\n"), std::string::npos);
}

// Would catch: the configured grace times ignored by the launcher.
TEST(CommandLine, GraceTimesComeFromTheConfiguration) {
  Command command(
      job(2, {"deaf", "init", "exchange", "together", "@1:leave=0", "@1:exit=0", "sleep=30"},
          {"--set", "timeouts.exit=300ms", "--set", "timeouts.kill=300ms"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_GT(result.seconds, 0.55);
  EXPECT_LT(result.seconds, 4.5) << result.err;  // the default is six seconds
}

// Would catch: a job directory that the ranks do not know, or that others may read.
TEST(Session, DirectoryIsPrivateAndKnown) {
  Command command({run_command(), "run", "-n", "1", "--", "sh", "-c",
                   "stat -c '%a %u' $CAUSEWAY_SESSION_DIR; id -u"});
  const Result result = command.run();
  const std::string uid = result.out.substr(result.out.find('\n') + 1);
  EXPECT_EQ(result.out, "700 " + uid + uid);
  expect_clean(command);
}

// Would catch: a launcher whose PMIx library overruns the stack it was given, and ranks that do not
// get the limit that the user set. Where the limit cannot be raised, one line says so.
TEST(Limits, SmallStack) {
  const std::string script =
      "ulimit -s 128; exec " + run_command() + " run -n 2 -- sh -c 'ulimit -s'";
  Command command({"sh", "-c", script});
  const Result result = command.run();
  if (result.status == 0) {
    EXPECT_EQ(result.out, "128\n128\n");
  } else {
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.err.find("the limit on stacks (ulimit -s) is 128 KiB"), std::string::npos);
  }
  EXPECT_EQ(count(result.err, "\n"), result.status == 0 ? 0u : 1u) << result.err;
  expect_clean(command);
}

// The same for a user who may not raise it.
TEST(Limits, SmallStackForGood) {
  if (::geteuid() != 0) GTEST_SKIP() << "SmallStack is this test where the user is not root";
  if (std::system("setpriv --help > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no setpriv";
  const std::string script =
      "ulimit -s 128; TMPDIR=/tmp exec setpriv --bounding-set -sys_resource --inh-caps "
      "-sys_resource " +
      run_command() + " run -n 2 -- true";
  const Result result = Command({"sh", "-c", script}).run();
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_EQ(count(result.err, "\n"), 1u) << result.err;
  EXPECT_NE(result.err.find("the limit on stacks (ulimit -s) is 128 KiB"), std::string::npos)
      << result.err;
}

// The command with a limit of the shell's, on its own.
Result limited(const std::string& limit, int ranks, const std::string& program) {
  const std::string script =
      limit + "; exec " + run_command() + " run -n " + std::to_string(ranks) + " -- " + program;
  return Command({"sh", "-c", script}).run();
}

// Would catch: ranks that cannot have their descriptors and are not said to, and a launcher that
// makes do with the soft limit, or gives its own to the ranks.
TEST(Limits, Descriptors) {
  const Result hard = limited("ulimit -n 150", 64, "true");
  EXPECT_EQ(hard.status, 1);
  EXPECT_EQ(hard.err.rfind("causeway run: 64 processes need ", 0), 0u) << hard.err;
  EXPECT_NE(hard.err.find("the limit on open files (ulimit -Hn) is 150"), std::string::npos);
  EXPECT_EQ(count(hard.err, "\n"), 1u) << hard.err;
  const Result soft = limited("ulimit -S -n 50", 40, "sh -c 'ulimit -n'");
  EXPECT_EQ(soft.status, 0) << soft.err;
  EXPECT_EQ(count(soft.out, "50\n"), 40u) << soft.out;
}

// Would catch: a refused fork that is not said to be one, or not why.
TEST(Limits, Processes) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be a user without other processes";
  const std::string other = "setpriv --reuid 54321 --regid 54321 --clear-groups ";
  if (std::system(
          (other + "prlimit --nproc=20 test -x " + run_command() + " 2> /dev/null").c_str()) != 0)
    GTEST_SKIP() << "there is no setpriv or prlimit, or another user cannot execute "
                 << run_command();
  const std::string script = "cd /tmp; TMPDIR=/tmp exec " + other + "prlimit --nproc=20 " +
                             run_command() + " run -n 64 -- true";
  Command command({"sh", "-c", script});
  const Result result = command.run();
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err.rfind("causeway run: process ", 0), 0u) << result.err;
  EXPECT_NE(result.err.find(" of 64 on this host: cannot start a process: "), std::string::npos);
  EXPECT_NE(result.err.find("(ulimit -u) is 20"), std::string::npos) << result.err;
  EXPECT_EQ(count(result.err, "\n"), 1u) << result.err;
  expect_clean(command);
}

// Would catch: lines of the PMIx library's own, one per rank, where the directory was removed.
TEST(Session, RemovedCurrentDirectory) {
  const std::string script = "cd $TMPDIR && mkdir gone && cd gone && rmdir ../gone && exec " +
                             run_command() + " run -n 2 -- " + rank_program() +
                             " init exchange finalize";
  Command command({"sh", "-c", script});
  const Result result = command.run();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err.rfind("causeway run: warning: the current directory cannot be read", 0), 0u)
      << result.err;
  EXPECT_EQ(count(result.err, "\n"), 1u) << result.err;
  expect_clean(command);
}

// Would catch: a launcher without a place for its files that crashes or starts anyway.
TEST(Session, UnusableTmpdirFallsBack) {
  Command command({run_command(), "run", "-n", "1", "true"}, {{"TMPDIR", "/no/such/place"}});
  EXPECT_EQ(command.run().status, 0);
}

// Would catch: one that looks writable to root and is not, and a message that does not say where.
TEST(Session, TmpdirThatTakesNothing) {
  const Result result =
      Command({run_command(), "run", "-n", "2", "true"}, {{"TMPDIR", "/proc"}}).run();
  EXPECT_EQ(result.status, ::geteuid() == 0 ? 1 : 0);
  if (result.status == 0) return;
  EXPECT_EQ(count(result.err, "\n"), 1u) << result.err;
  EXPECT_NE(result.err.find("in /proc: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("set TMPDIR"), std::string::npos) << result.err;
}

struct Foreign {
  const char* name;
  Environment environment;
  const char* advice;
};
void PrintTo(const Foreign& foreign, std::ostream* out) {
  *out << foreign.name;
}
class ForeignLauncher : public ::testing::TestWithParam<Foreign> {};

// Would catch: N ranks of a launcher without PMIx that each believe to be alone.
TEST_P(ForeignLauncher, IsAnErrorWithAdvice) {
  Command command({rank_program(), "init", "exchange"}, GetParam().environment);
  const Result result = command.run();
  EXPECT_EQ(result.status, 5);
  EXPECT_NE(result.out.find("UNREACHABLE"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(GetParam().advice), std::string::npos) << result.out;
  EXPECT_LT(result.seconds, 10.0);
}

INSTANTIATE_TEST_SUITE_P(
    Known, ForeignLauncher,
    ::testing::Values(
        Foreign{"Slurm",
                {{"SLURM_PROCID", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "4"}},
                "srun --mpi=pmix"},
        Foreign{"Hydra", {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}, "causeway run"},
        Foreign{
            "OldOpenMpi", {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}, "PMIx"},
        Foreign{"Alps", {{"ALPS_APP_PE", "0"}}, "PMIx"},
        Foreign{"GoneServer",
                {{"PMIX_NAMESPACE", "gone"},
                 {"PMIX_RANK", "0"},
                 {"PMIX_SERVER_URI41", "gone.0;tcp4://127.0.0.1:1"}},
                "causeway run"},
        Foreign{"BrokenAddress",
                {{"PMIX_NAMESPACE", "gone"}, {"PMIX_RANK", "0"}, {"PMIX_SERVER_URI41", "nonsense"}},
                "causeway run"}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

// Would catch: a batch script's shell, which is one process, taken for a task of many.
TEST(Alone, IsOneRank) {
  for (const Environment& environment :
       {Environment{}, Environment{{"SLURM_NTASKS", "16"}, {"SLURM_PROCID", "0"}},
        Environment{{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}}) {
    Command command({rank_program(), "init", "exchange", "fence", "finalize"}, environment);
    const Result result = command.run();
    EXPECT_EQ(result.status, 0) << result.out;
    EXPECT_EQ(result.out, "rank 0 of 1 has all cards\n");
  }
}

// Would catch: a bad CAUSEWAY_RANKS that is taken for some number.
TEST(Fork, BadNumbersAreRefused) {
  for (const char* text : {"", "0", "-1", "x", "2x", " 2", "1e3", "99999999999999999999"}) {
    Command command({rank_program(), "init"}, {{"CAUSEWAY_RANKS", text}});
    const Result result = command.run();
    EXPECT_EQ(result.status, 5) << text;
    EXPECT_NE(result.out.find("CAUSEWAY_RANKS='" + std::string(text) + "' is not a number"),
              std::string::npos)
        << result.out;
  }
}

// Would catch: a fork of a process with threads, which leaves the ranks with held locks.
TEST(Fork, ThreadsAreRefused) {
  Command command({rank_program(), "thread", "init"}, {{"CAUSEWAY_RANKS", "2"}});
  const Result result = command.run();
  EXPECT_EQ(result.status, 5);
  EXPECT_NE(result.out.find("more than one thread"), std::string::npos) << result.out;
}

// Would catch: the original process that goes on as a rank, or ends with another status.
TEST(Fork, StatusIsTheJobs) {
  Command command({rank_program(), "init", "exchange", "finalize", "exit=6"},
                  {{"CAUSEWAY_RANKS", "3"}});
  const Result result = command.run();
  EXPECT_EQ(result.status, 6);
  EXPECT_EQ(count(result.out, "of 3 has all cards"), 3u);
}

// Would catch: descriptor limits, quadratic start-up, a card that is lost among many.
TEST(Many, TwoHundredAndFiftySixRanks) {
  Command command(job(256, {"timeout=90", "init", "exchange", "fence", "finalize"}));
  const Result result = command.run(90.0);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "of 256 has all cards"), 256u);
  expect_clean(command);
}

// The bytes that the heap of the last rank has in use when it has all cards.
long heap_of_last(int ranks) {
  const std::string last = std::to_string(ranks - 1);
  Command command(job(ranks, {"timeout=60", "init", "exchange", "fence", "@" + last + ":heap"}));
  const Result result = command.run(90.0);
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string words = "rank " + last + " heap ";
  const size_t at = result.out.find(words);
  EXPECT_NE(at, std::string::npos) << result.out;
  return at == std::string::npos ? 0 : std::atol(result.out.c_str() + at + words.size());
}

// Would catch: job data of PMIx's, or the table of all cards, that every rank keeps for each other.
TEST(Many, ARankKeepsLittleOfTheOthers) {
  constexpr int kFew = 16, kMany = 80;
  const long growth = (heap_of_last(kMany) - heap_of_last(kFew)) / (kMany - kFew);
  std::cout << growth << " bytes for each further rank\n";
  EXPECT_LT(growth, 256);
}

// Would catch: a second exchange that finds the cards of the first one.
TEST(Many, ExchangeTwice) {
  Command command(job(9, {"timeout=20", "init", "exchange", "again", "fence", "finalize"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "of 9 has all cards"), 18u) << result.out;
  expect_clean(command);
}

// Would catch: an exchange that needs the file of cards: where its name is taken, by a directory or
// by a pipe that nobody reads; where no file may grow, which ends a process by SIGXFSZ; where one
// rank does not know the session, be it one that reads the file or the one that writes it.
TEST(Many, CardsComeWithoutTheirFile) {
  const std::string name = " \"$CAUSEWAY_SESSION_DIR\"/causeway.card.0.all 2>/dev/null";
  const std::string forgets = "unset CAUSEWAY_SESSION_DIR";
  for (const std::string& before :
       {"mkdir" + name, "mkfifo" + name, std::string("ulimit -f 0"),
        "[ $PMIX_RANK = 3 ] && " + forgets, "[ $PMIX_RANK = 0 ] && " + forgets, forgets}) {
    SCOPED_TRACE(before);
    Command command({run_command(), "run", "-n", "9", "--", "sh", "-c", before + "; exec \"$@\"",
                     "sh", rank_program(), "timeout=20", "init", "exchange", "again", "fence",
                     "finalize"});
    const Result result = command.run();
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(count(result.out, "of 9 has all cards"), 18u) << result.out << result.err;
    expect_clean(command);
  }
}

void start_many(int ranks, double limit_s) {
  Command command({run_command(), "run", "-n", std::to_string(ranks), "--", "echo", "here"});
  const Result result = command.run(limit_s);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "here\n"), static_cast<size_t>(ranks));
  expect_clean(command);
}

// Would catch: a PMIx library that is left without descriptors that select() takes.
TEST(Many, FourHundredPrograms) {
  start_many(400, 90.0);
}
TEST(Soak, ThousandAndFourThousandPrograms) {
  start_many(1024, 300.0);
  start_many(4096, 1200.0);
}

}  // namespace
}  // namespace launch_test
