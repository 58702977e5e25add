// Several hosts, which are all this machine: relays that end, lie or fall silent, and signals to
// whatever belongs to a job. tests/hosts has the networks.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "launch_harness.h"

namespace launch_test {
namespace {

using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A job with two ranks on host a and two on b, where a's relay misbehaves.
Words with_bad_relay(const std::string& mode, const Words& flags, const Words& program) {
  return Words{run_command(), "run",
               "--hosts",     "a,b",
               "-n",          "4",
               "--address",   "127.0.0.1",
               "--agent",     std::string(LAUNCH_RELAY) + " %h a " + mode} +
         flags + Words{"--"} + program;
}

// Would catch: a launcher that waits for the other hosts when one relay has ended before the start.
TEST(Relay, DiesAfterJoining) {
  Command command(with_bad_relay("die", {"--timeout", "60"}, {"sleep", "60"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("host a is lost: the connection to its relay"), std::string::npos)
      << result.err;
  expect_clean(command);
}

// Would catch, on most runs: a launcher that a signal ends while it writes to an agent that has
// gone.
TEST(Agent, EndsAtOnce) {
  std::string hosts = "a";
  for (int i = 0; i < 40; ++i) hosts += ",b" + std::to_string(i);
  Command command({run_command(), "run", "--hosts", hosts, "-n", "41", "--agent", "/nowhere/agent",
                   "--", "true"});
  const Result result = command.run();
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.err.find("cannot execute the agent '/nowhere/agent'"), std::string::npos)
      << result.err;
  expect_clean(command);
}

// Would catch: a directory that a host does not have taken for the death of its ranks by a signal.
TEST(Agent, StartsNothingInADirectoryThatIsNone) {
  Command command({run_command(), "run", "--hosts", "a,b", "-n", "2", "--address", "127.0.0.1",
                   "--directory", "/nowhere", "--agent", "env LAUNCH_TEST_HOST=%h", "--", "true"});
  const Result result = command.run();
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.err.find("cannot go to the directory '/nowhere'"), std::string::npos)
      << result.err;
  expect_clean(command);
}

// Would catch: hosts whose silence is counted from a time when they had nothing to say.
TEST(Relay, OthersMayComeLate) {
  Command command(with_bad_relay("late", {"--set", "timeouts.peer=1s"}, {"sh", "-c", "echo here"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "here\n"), 4u);
}

// Would catch: a launcher that believes a relay which has nothing left although ranks should run,
// and waits for them for ever.
TEST(Relay, IsDoneTooEarly) {
  Command command(with_bad_relay("done", {}, {"sleep", "60"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 128 + SIGKILL);
  EXPECT_NE(result.err.find("host a is lost"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("process 0 has not ended"), std::string::npos) << result.err;
  expect_clean(command);
}

// Would catch: a wait for the end of streams that nobody will end.
TEST(Relay, EndsNoStream) {
  Command command(with_bad_relay("streams", {}, {"true"}));
  EXPECT_EQ(command.run().status, 0);
}

struct Lie {
  const char* mode;
  const char* program;  // of every rank
  int status;
  const char* line;
};
void PrintTo(const Lie& lie, std::ostream* out) {
  *out << lie.mode;
}
class LyingRelay : public ::testing::TestWithParam<Lie> {};

// Would catch: a relay that knows the secret and speaks for others than its own ranks, or keeps the
// launcher waiting, or takes its memory. There is no time limit.
TEST_P(LyingRelay, IsLost) {
  const auto [mode, program, status, line] = GetParam();
  Command command(with_bad_relay(mode, {"--set", "timeouts.kill=200ms"}, {"sh", "-c", program}));
  command.stdout_to("/dev/null");
  const Result result = command.run(40.0);
  EXPECT_EQ(result.status, status);
  EXPECT_NE(result.err.find(line), std::string::npos) << result.err;
  EXPECT_LT(count(result.err, "still here"), 200u);
  expect_clean(command);
}

constexpr const char* kNotItsOwn = "which is not its own";
INSTANTIATE_TEST_SUITE_P(Of, LyingRelay,
                         ::testing::Values(Lie{"ended", "exit 0", 0, "does not take its leave"},
                                           Lie{"chatty", "exit 3", 3, "some may be left there"},
                                           Lie{"talks", "exit 0", 0, "more output than it may"},
                                           Lie{"floods", "sleep 60", 128 + SIGKILL,
                                               "more output than it may"},
                                           Lie{"others", "sleep 60", 128 + SIGKILL, kNotItsOwn},
                                           Lie{"fences", "sleep 60", 128 + SIGKILL, "of others"}),
                         [](const auto& chosen) { return std::string(chosen.param.mode); });

class TimeLimit : public ::testing::TestWithParam<const char*> {};

// Would catch: a state of the job that its time limit does not end: before all relays are there,
// while they do not do what they are told, and when ranks have ended but hosts have not.
TEST_P(TimeLimit, EndsTheJob) {
  Command command(with_bad_relay(GetParam(), {"--timeout", "1", "--set", "timeouts.kill=200ms"},
                                 {"sh", "-c", "exit 0"}));
  const Result result = command.run(15.0);
  EXPECT_EQ(result.status, 124) << result.err;
  EXPECT_NE(result.err.find("the time limit of 1 s has passed"), std::string::npos) << result.err;
  expect_clean(command);
}

INSTANTIATE_TEST_SUITE_P(Of, TimeLimit, ::testing::Values("never", "beats", "ended"),
                         [](const auto& chosen) { return std::string(chosen.param); });

// Would catch: a keeper that is stopped, or stuck, and so cannot end the job in time.
TEST(Soak, TimeLimitWithAStoppedKeeper) {
  Command command(job(2, {"say=here", "sleep=60"}, {"--timeout", "2"}));
  command.start();
  ASSERT_TRUE(command.wait_for_output("here", 2));
  ::kill(command.keeper(), SIGSTOP);
  const Result result = command.wait(40.0);
  EXPECT_EQ(result.status, 124) << result.err;
  EXPECT_NE(result.err.find("the time limit has passed"), std::string::npos) << result.err;
  expect_clean(command);
}

uint64_t first_seed() {
  const char* given = std::getenv("TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : 1;
}

int starts(int usual) {
  const char* given = std::getenv("TEST_STARTS");
  return given != nullptr ? std::atoi(given) : usual;
}

// A start, and a signal, chosen by the seed, to one of the launcher's processes at some moment;
// where a program forks its own ranks, to any process, since a launcher has not its name from the
// beginning.
void signal_somebody(uint64_t seed) {
  SCOPED_TRACE("TEST_SEED=" + std::to_string(seed) + " TEST_STARTS=1");
  std::mt19937_64 random(seed);
  const Words program{rank_program(), "timeout=60", "init", "exchange", "sleep=0.2", "finalize"};
  const Words hosts{run_command(), "run",       "--hosts",   "a,b",     "-n",
                    "4",           "--address", "127.0.0.1", "--agent", "env LAUNCH_TEST_HOST=%h",
                    "--"};
  const auto way = random() % 4;
  const bool forks = way == 1;
  using Environment = std::vector<std::pair<std::string, std::string>>;
  Command command(way == 0 ? job(4, Words(program.begin() + 1, program.end()))
                  : forks  ? program
                           : hosts + program,
                  forks ? Environment{{"CAUSEWAY_RANKS", "4"}} : Environment{});
  command.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(random() % 600));
  std::vector<pid_t> own;
  for (const auto& [pid, name] : command.processes()) {
    if (forks || name.rfind("causeway", 0) == 0) own.push_back(pid);
  }
  static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGKILL, SIGUSR1, SIGUSR2, SIGTERM,
                                SIGKILL, SIGALRM, SIGPIPE, SIGTSTP, SIGSTOP, SIGCHLD, SIGTERM};
  const int chosen = signals[random() % (sizeof signals / sizeof *signals)];
  const pid_t victim = own.empty() ? command.pid() : own[random() % own.size()];
  ::kill(victim, chosen);
  if (chosen == SIGTSTP || chosen == SIGSTOP) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::kill(victim, SIGCONT);
  }
  command.wait(60.0);
  expect_clean(command, kRelaysGo);
}

// Would catch: a keeper without its front that goes on waiting for a reader of the ranks' output.
TEST(Signals, FrontIsKilledWhileNobodyReads) {
  Command command({run_command(), "run", "-n", "2", "--", "yes"});
  const std::string fifo = command.directory() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int held = ::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  command.stdout_to(fifo);
  command.start();
  int waiting = 0;
  for (int i = 0; i < 2000 && waiting < 65536; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_EQ(::ioctl(held, FIONREAD, &waiting), 0);
  }
  ASSERT_GE(waiting, 65536);
  ::kill(command.pid(), SIGKILL);
  EXPECT_EQ(command.wait().status, 128 + SIGKILL);
  expect_clean(command);
  ::close(held);
}

// Would catch: a moment at which a signal to a front, a keeper or a relay leaves the others
// waiting, or leaves something behind.
TEST(Signals, ToAnyProcess) {
  for (int i = 0; i < starts(6); ++i) signal_somebody(first_seed() + static_cast<uint64_t>(i));
}

TEST(Soak, SignalsToAnyProcess) {
  for (int i = 0; i < starts(1000); ++i) {
    signal_somebody(first_seed() + 1000 + static_cast<uint64_t>(i));
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace launch_test
