// A user looks at jobs that run or hang, with `causeway ps` and `causeway top`.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <vector>

#include "api_job.h"
#include "base/status_page.h"

namespace {

using launch_test::Command;
using launch_test::Result;
using launch_test::run_command;
using Words = std::vector<std::string>;

// `before`: what starts the victim.
Words job_of(int ranks, const std::string& what, const std::string& over = "am_only",
             const Words& before = {}) {
  Words words = {run_command(), "run", "-n", std::to_string(ranks)};
  for (const std::string& flag : api_test::network(over).flags) words.push_back(flag);
  for (const char* word : {"--set", "threads.progress=none", "--"}) words.emplace_back(word);
  words.insert(words.end(), before.begin(), before.end());
  words.insert(words.end(), {api_test::victim(), "asked", what});
  return words;
}

std::unique_ptr<Command> start(int ranks, const std::string& what,
                               const std::string& over = "am_only", const Words& before = {}) {
  auto job = std::make_unique<Command>(job_of(ranks, what, over, before));
  job->start();
  EXPECT_TRUE(job->wait_for_output("at it", static_cast<size_t>(ranks), 60 * kSlowdown));
  return job;
}

Result causeway(Words words) {
  words.insert(words.begin(), run_command());
  return Command(words).run(60 * kSlowdown);
}

// Held while it lives. Tests of this file run beside each other, and each look sees the processes
// of all: LOCK_EX keeps the page of another version from looks that demand no error, with LOCK_SH.
class HeldLook {
 public:
  explicit HeldLook(int kind) : fd_(::open(run_command().c_str(), O_RDONLY | O_CLOEXEC)) {
    EXPECT_EQ(::flock(fd_, kind), 0);
  }
  ~HeldLook() { ::close(fd_); }
  HeldLook(const HeldLook&) = delete;
  HeldLook& operator=(const HeldLook&) = delete;

 private:
  int fd_;
};

// The answer as JSON, which YAML contains.
YAML::Node asked(Words words) {
  const HeldLook held(LOCK_SH);
  words.emplace_back("--json");
  const Result result = causeway(words);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return YAML::Load(result.out);
}
YAML::Node shown(const Command& job) {
  return asked({"ps", std::to_string(job.pid())})[0];
}

void end(Command& job) {
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait().status, 128 + SIGTERM);
  EXPECT_TRUE(job.left_processes().empty());
}

uint64_t number(const YAML::Node& node, const char* name) {
  return node[name].as<uint64_t>();
}

// By rank, what each was told of a peer.
uint64_t of_peer(const YAML::Node& job, uint64_t rank, uint64_t peer, const char* name) {
  for (const YAML::Node& process : job["processes"])
    for (const YAML::Node& other : process["peers"])
      if (number(process, "rank") == rank && number(other, "rank") == peer)
        return number(other, name);
  return 0;
}

// Each rank sends to its next three.
template <typename Pair>
bool all_pairs(uint64_t ranks, Pair holds) {
  for (uint64_t from = 0; from < ranks; ++from)
    for (uint64_t step = 1; step <= 3; ++step)
      if (!holds(from, (from + step) % ranks)) return false;
  return true;
}

void expect_traffic(const Command& job, uint64_t ranks) {
  YAML::Node before;
  const auto arrived = [&](uint64_t from, uint64_t to) {
    return of_peer(before, to, from, "received_bytes") > 0;
  };
  // Messages of a rank may wait for long where ranks are more than cores.
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(30.0 * kSlowdown);
  do {
    before = shown(job);
  } while (!all_pairs(ranks, arrived) && std::chrono::steady_clock::now() < until);
  const YAML::Node after = shown(job);
  EXPECT_TRUE(all_pairs(ranks, arrived)) << before;
  all_pairs(ranks, [&](uint64_t from, uint64_t to) {
    EXPECT_LE(of_peer(before, to, from, "received"), of_peer(after, from, to, "sent"))
        << from << " to " << to;
    EXPECT_LE(of_peer(before, from, to, "sent_bytes"), of_peer(after, from, to, "sent_bytes"));
    return true;
  });
}

// Would catch: a rank that is missing, or shown twice; counts that stand still under load, that
// belong to another peer, or that do not add up; an answer whose shape depends on how a job was
// named.
TEST(Load, EveryRankIsShownWithItsRates) {
  constexpr uint64_t ranks = 16;
  const auto job = start(ranks, "load");
  const std::string id = std::to_string(job->pid());
  const YAML::Node moving = asked({"top", id, "--count", "1", "--interval", "2"})[0];
  EXPECT_EQ(number(moving, "launcher"), static_cast<uint64_t>(job->pid()));
  EXPECT_EQ(number(moving, "ranks_here"), ranks);
  EXPECT_EQ(number(moving, "ranks_elsewhere"), 0u);
  for (const YAML::Node& any : asked({"ps"}))
    for (const YAML::Node& process : any["processes"]) EXPECT_TRUE(process["peers"].IsSequence());
  std::set<uint64_t> seen;
  for (const YAML::Node& process : moving["processes"]) {
    seen.insert(number(process, "rank"));
    EXPECT_GT(process["per_s"]["sent"].as<double>(), 0) << process;
    EXPECT_GT(process["per_s"]["received_bytes"].as<double>(), 0) << process;
    EXPECT_GT(number(process, "resident_bytes"), 1'000'000u);
    EXPECT_GE(number(process, "connections"), 3u);
    uint64_t sent = 0, received = 0;
    for (const YAML::Node& peer : process["peers"]) {
      sent += number(peer, "sent");
      received += number(peer, "received");
    }
    EXPECT_EQ(sent, number(process, "sent"));
    EXPECT_EQ(received, number(process, "received"));
  }
  EXPECT_EQ(seen.size(), ranks);
  EXPECT_EQ(moving["processes"].size(), ranks);

  expect_traffic(*job, ranks);
  for (const Words& words : {Words{"ps", id}, Words{"top", id, "--count", "1"}}) {
    std::istringstream lines(causeway(words).out);
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100u) << line;
    EXPECT_GT(count, ranks);
  }
  end(*job);
}

// Would catch: a network whose peers are counted together, or one peer's messages as another's.
TEST(Load, NetworksTellPeersApart) {
  for (const api_test::Network& over : api_test::networks()) {
    if (over.name == "shm" || over.name == "am_only") continue;
    SCOPED_TRACE(over.name);
    const auto job = start(4, "load", over.name);
    expect_traffic(*job, 4);
    end(*job);
  }
}

// Would catch: spares that nothing shows, or that are taken for ranks.
TEST(Load, SparesAreCounted) {
  Words words = job_of(2, "barrier");
  words.insert(words.begin() + 4, {"--on-failure=continue", "--spares", "2"});
  Command job(words);
  job.start();
  EXPECT_TRUE(job.wait_for_output("at it", 2, 60 * kSlowdown));
  YAML::Node seen = shown(job);  // spares may come after the ranks
  for (int tries = 0; tries < 60 * kSlowdown && number(seen, "spares") < 2; ++tries) {
    ::usleep(100'000);
    seen = shown(job);
  }
  EXPECT_EQ(number(seen, "spares"), 2u);
  EXPECT_EQ(number(seen, "ranks"), 2u);
  EXPECT_EQ(seen["processes"].size(), 2u);
  EXPECT_THAT(causeway({"ps"}).out, testing::ContainsRegex("2[ \n]+spares"));
  end(job);
}

// Would catch: a collective that hangs and does not show on which ranks.
TEST(Hang, RanksThatACollectiveLacksAreNamed) {
  const auto job = start(2, "barrier");
  ::usleep(static_cast<useconds_t>(500'000 * kSlowdown));
  const Result text = causeway({"ps", std::to_string(job->pid())});
  EXPECT_THAT(text.out, testing::ContainsRegex("\ngex_Coll_BarrierNB\\(\\), number [0-9]+ on a "
                                               "team of 2, id [0-9]+: not waited for, nor a\n? *"
                                               "later one,\n? *by rank 1"));
  end(*job);
}

// Would catch: a rank of another host that a collective lacks, while the page of this one looks as
// if nobody were missing.
TEST(Hang, RanksElsewhereMayBeMissing) {
  if (::geteuid() != 0) GTEST_SKIP() << "hosts with processes of their own are made by root";
  Words words = job_of(2, "barrier");
  const Words hosts{"--hosts", "a:1,b:1", "--agent",
                    "env HOST=%h unshare --pid --fork --kill-child --mount-proc"};
  words.insert(words.begin() + 2, hosts.begin(), hosts.end());
  Command job(words);
  job.start();
  EXPECT_TRUE(job.wait_for_output("at it", 2, 60 * kSlowdown));
  ::usleep(static_cast<useconds_t>(500'000 * kSlowdown));
  const std::string rank = std::to_string(number(shown(job)["processes"][0], "pid"));
  const std::string script = "\"$0\" ps $(\"$0\" ps | awk 'NR == 2 { print $1 }')";
  const Result page =
      Command({"nsenter", "-t", rank, "-p", "-m", "sh", "-c", script, run_command()}).run();
  EXPECT_THAT(page.out, testing::ContainsRegex("every rank here waits for it; `causeway ps`\n? *"
                                               "elsewhere\n? *tells\n? *of\n? *the\n? *other 1\n"))
      << page.err;
  end(job);
}

// Would catch: a rank that hangs and is shown as if it computed; a time that does not pass, or is
// that of a clock which the command does not have; a look that a stopped rank holds up, or that
// ends or continues it.
TEST(Hang, RankShowsWhatItWaitsForAndSinceWhen) {
  const Words elsewhere = {"unshare", "--time", "--monotonic", "100000", "--fork"};
  Words tried = elsewhere;
  tried.emplace_back("true");
  const bool can = Command(tried).run().status == 0;
  const auto job = start(2, "put", "am_only", can ? elsewhere : Words{});
  ::usleep(static_cast<useconds_t>(500'000 * kSlowdown));
  const YAML::Node first = shown(*job);
  ::usleep(1'000'000);
  const YAML::Node later = shown(*job);
  for (const YAML::Node& look : {first, later}) {
    const YAML::Node waiting = look["processes"][0];
    EXPECT_EQ(waiting["state"].as<std::string>(), "waits") << look;
    ASSERT_EQ(waiting["waits"].size(), 1u) << look;
    EXPECT_EQ(waiting["waits"][0]["call"].as<std::string>(), "gex_RMA_PutBlocking()");
    EXPECT_EQ(waiting["waits"][0]["for"].as<std::string>(), "rank 1");
    EXPECT_EQ(look["processes"][1]["state"].as<std::string>(), "computes") << look;
  }
  const auto waited = [](const YAML::Node& look) {
    return look["processes"][0]["waits"][0]["seconds"].as<double>();
  };
  EXPECT_GE(waited(later), waited(first) + 0.9);
  EXPECT_LT(waited(later), waited(first) + 30);
  EXPECT_GE(later["age_s"].as<double>(), waited(first)) << later;
  EXPECT_LT(later["age_s"].as<double>(), 10'000) << later;
  const Result text = causeway({"ps", std::to_string(job->pid())});
  EXPECT_NE(text.out.find(" s in gex_RMA_PutBlocking()"), std::string::npos) << text.out;

  const auto idle = static_cast<pid_t>(number(first["processes"][1], "pid"));
  ASSERT_EQ(::kill(idle, SIGSTOP), 0);
  const Result stopped = causeway({"ps", std::to_string(idle)});
  EXPECT_NE(stopped.out.find("stopped"), std::string::npos) << stopped.out;
  EXPECT_LT(stopped.seconds, 3 * kSlowdown);
  EXPECT_EQ(shown(*job)["processes"][1]["state"].as<std::string>(), "stopped");
  ::kill(idle, SIGCONT);
  end(*job);
}

// Would catch: a job that only `causeway run` makes visible.
TEST(Fork, JobOfAProgramThatForksItsRanksIsShown) {
  Command job({api_test::victim(), "asked", "nothing"}, {{"CAUSEWAY_RANKS", "3"}});
  job.start();
  ASSERT_TRUE(job.wait_for_output("at it", 3));
  const YAML::Node look = shown(job);
  EXPECT_EQ(number(look, "launcher"), static_cast<uint64_t>(job.pid()));
  EXPECT_EQ(look["processes"].size(), 3u);
  EXPECT_NE(look["program"].as<std::string>().find("api_victim"), std::string::npos);
  end(job);
}

// Would catch: dead ranks that are shown as running, or that leave what they showed.
TEST(Killed, JobIsNotShownAndLeavesNothing) {
  const auto job = start(2, "nothing");
  EXPECT_EQ(shown(*job)["processes"].size(), 2u);
  const pid_t keeper = job->keeper();
  ::kill(job->pid(), SIGKILL);
  ::kill(keeper, SIGKILL);
  job->wait();
  EXPECT_TRUE(job->left_processes().empty());
  const Result look = causeway({"ps", std::to_string(job->pid())});
  EXPECT_EQ(look.status, 1) << look.out;
  EXPECT_NE(look.err.find("no job '" + std::to_string(job->pid()) + "'"), std::string::npos);
  for (const std::string& name : api_test::shared_memory())
    EXPECT_EQ(name.find("-" + std::to_string(job->pid()) + "-"), std::string::npos) << name;
}

// Would catch: jobs of other users in the table; a status other than 0, or an error, where there is
// no job. As a user who has none.
TEST(OtherUser, SeesNoJob) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  const Words become = {"setpriv", "--reuid=64321", "--regid=64321", "--clear-groups", "--"};
  const auto as_other = [&](Words words) {
    words.insert(words.begin(), run_command());
    words.insert(words.begin(), become.begin(), become.end());
    return Command(words).run(60 * kSlowdown);
  };
  if (as_other({"--version"}).status != 0)
    GTEST_SKIP() << "others cannot execute " << run_command();
  const auto job = start(2, "nothing");
  EXPECT_EQ(shown(*job)["processes"].size(), 2u);
  const Result table = as_other({"ps", "--ranks"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_EQ(table.out, "job  launcher  program  ranks  age  state\n");
  EXPECT_EQ(table.err, "");
  EXPECT_EQ(as_other({"ps", "--json"}).out, "[]\n");
  EXPECT_EQ(as_other({"ps", std::to_string(job->pid())}).status, 1);
  EXPECT_EQ(as_other({"top", "--count", "1", "--interval", "0.1"}).status, 0);
  end(*job);
}

// Would catch: a page of another layout that is read as if it were this one. The page is this
// process's own.
TEST(OtherVersion, IsRefusedInALine) {
  using causeway::StatusPage;
  const HeldLook held(LOCK_EX);
  const int fd = ::memfd_create(StatusPage::kName, MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(fd, 4096), 0);
  ASSERT_EQ(::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  const uint64_t head[] = {StatusPage::kMagic, StatusPage::kVersion + 1};
  ASSERT_EQ(::pwrite(fd, head, sizeof head, 0), static_cast<ssize_t>(sizeof head));
  const Result look = causeway({"ps"});
  ::close(fd);
  EXPECT_EQ(look.status, 0);
  const std::string line =
      "process " + std::to_string(::getpid()) + " (api_shown_test) shows its state in version ";
  EXPECT_EQ(launch_test::count(look.err, line), 1u) << look.err;
  EXPECT_EQ(look.out.find("api_shown_test"), std::string::npos) << look.out;
}

// The text that a command shows on a terminal of that kind; NULL: of no known one.
std::string on_terminal_of(const char* kind, Words words) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    kind != nullptr ? ::setenv("TERM", kind, 1) : ::unsetenv("TERM");
    ::unsetenv("NO_COLOR");
    words.insert(words.begin(), run_command());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  std::string out;
  char text[4096];
  for (ssize_t got; (got = ::read(terminal, text, sizeof text)) > 0;)
    out.append(text, static_cast<size_t>(got));
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << out;
  ::close(terminal);
  return out;
}

// Would catch: escape sequences for a terminal that does not know them, or none for one that does.
TEST(Terminals, AreAskedForNothingThatTheyLack) {
  const Words top{"top", "--count", "2", "--interval", "0.1"}, info{"info"};
  for (const char* kind : {static_cast<const char*>(nullptr), "", "dumb"}) {
    for (const Words& words : {top, info})
      EXPECT_EQ(on_terminal_of(kind, words).find('\033'), std::string::npos);
  }
  for (const Words& words : {top, info})
    EXPECT_NE(on_terminal_of("xterm", words).find('\033'), std::string::npos);
}

// Runs `causeway top` on a terminal of its own until that has shown a page; then `act` ends it.
void on_terminal(void (*act)(int terminal, pid_t top)) {
  int terminal = -1, other = -1;
  winsize size{24, 80, 0, 0};
  ASSERT_EQ(::openpty(&terminal, &other, nullptr, nullptr, &size), 0);
  termios before{}, after{};
  ::tcgetattr(other, &before);
  const pid_t top = ::fork();
  if (top == 0) {
    ::login_tty(other);
    ::setenv("TERM", "xterm", 1);
    ::execl(run_command().c_str(), "causeway", "top", "--interval", "0.2", nullptr);
    ::_exit(127);
  }
  std::string out;
  bool asked_to_end = false;
  int status = -1;
  for (int tries = 0; tries < 600 * kSlowdown && ::waitpid(top, &status, WNOHANG) == 0; ++tries) {
    pollfd ready{terminal, POLLIN, 0};
    char text[4096];
    const ssize_t got = ::poll(&ready, 1, 50) == 1 ? ::read(terminal, text, sizeof text) : 0;
    if (got > 0) out.append(text, static_cast<size_t>(got));
    if (asked_to_end || out.find("\033[H") == std::string::npos) continue;
    asked_to_end = true;
    act(terminal, top);
  }
  pollfd ready{terminal, POLLIN, 0};
  char text[4096];
  for (ssize_t got; ::poll(&ready, 1, 0) == 1 && (got = ::read(terminal, text, sizeof text)) > 0;)
    out.append(text, static_cast<size_t>(got));
  ::tcgetattr(other, &after);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << out;
  EXPECT_EQ(before.c_lflag, after.c_lflag);
  EXPECT_NE(out.find("\033[?25h\033[?1049l"), std::string::npos) << out;
  ::close(terminal);
  ::close(other);
}

// Would catch: a look at a job that goes on when that has ended, or one that ends with the process
// which it was named by, and not with the job.
TEST(Top, EndsWithTheJobThatWasNamed) {
  const auto job = start(2, "load");
  Command top({run_command(), "top", std::to_string(job->pid()), "--interval", "0.2"});
  top.start();
  EXPECT_TRUE(top.wait_for_output("2 of 2 ranks", 1, 60 * kSlowdown));
  end(*job);
  const Result result = top.wait(60 * kSlowdown);
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("' has ended\n"), std::string::npos) << result.err;
  EXPECT_EQ(causeway({"top", std::to_string(job->pid())}).status, 1);
}

// Would catch: a terminal that echoes nothing any more, or has no cursor, behind `causeway top`.
TEST(Top, GivesTheTerminalBackAfterQ) {
  on_terminal([](int terminal, pid_t) { ASSERT_EQ(::write(terminal, "q", 1), 1); });
}
TEST(Top, GivesTheTerminalBackAfterControlC) {
  on_terminal([](int terminal, pid_t) { ASSERT_EQ(::write(terminal, "\003", 1), 1); });
}

// Would catch: ^Z that does nothing, or stops a page whose terminal is still without its echo.
TEST(Top, StopsAndGoesOn) {
  int terminal = -1, other = -1;
  ASSERT_EQ(::openpty(&terminal, &other, nullptr, nullptr, nullptr), 0);
  const pid_t shell = ::fork();
  if (shell == 0) {
    ::login_tty(other);
    ::setenv("TERM", "xterm", 1);
    const char* const script = "\"$0\" top --interval 0.2; stty -a; echo is stopped; fg; echo over";
    ::execl("/bin/bash", "bash", "-mc", script, run_command().c_str(), nullptr);
    ::_exit(127);
  }
  std::string out;
  // Reads until the text has come; false when it has not for long.
  const auto comes = [&](const char* text) {
    for (int tries = 0; tries < 600 * kSlowdown && out.find(text) == out.npos; ++tries) {
      pollfd ready{terminal, POLLIN, 0};
      char more[4096];
      const ssize_t got = ::poll(&ready, 1, 50) == 1 ? ::read(terminal, more, sizeof more) : 0;
      if (got > 0) out.append(more, static_cast<size_t>(got));
    }
    return out.find(text) != out.npos;
  };
  EXPECT_TRUE(comes("\033[H"));
  ASSERT_EQ(::write(terminal, "\032", 1), 1);
  EXPECT_TRUE(comes("is stopped")) << out;
  EXPECT_NE(out.find(" echo "), std::string::npos) << out;
  out.clear();
  EXPECT_TRUE(comes("\033[H")) << out;
  ASSERT_EQ(::write(terminal, "q", 1), 1);
  EXPECT_TRUE(comes("over")) << out;
  ::kill(shell, SIGKILL);
  ::waitpid(shell, nullptr, 0);
  ::close(terminal);
  ::close(other);
}

// Would catch: a rank that the others wait for in their start, and that is not named or not shown,
// or told of as if it had ended; what it runs beside it, shown as a rank; a start of which nobody
// says how long it has lasted; "2 starts".
TEST(Starts, WhoIsMissingHasNotComeYet) {
  const std::string late =
      "[ \"$PMIX_RANK\" = 1 ] && { setsid sleep 60 & exec sleep 60; }; \"$0\" asked nothing; true";
  Command job({run_command(), "run", "-n", "3", "--", "/bin/sh", "-c", late, api_test::victim()});
  job.start();
  const std::string expected = "rank 1 outside the library, 2 start [0-9.]+ s";
  YAML::Node look;
  std::string state;
  for (int i = 0; i < 200 && !testing::Value(state, testing::MatchesRegex(expected)); ++i) {
    ::usleep(50'000);
    const YAML::Node all = asked({"ps"});
    for (const YAML::Node& one : all)
      if (number(one, "launcher") == static_cast<uint64_t>(job.pid())) look = one;
    if (look.IsMap()) state = look["state"].as<std::string>();
  }
  EXPECT_THAT(state, testing::MatchesRegex(expected));
  EXPECT_EQ(look["processes"].size(), 3u) << look;
  const Result table = causeway({"ps", std::to_string(number(look["processes"][1], "pid"))});
  EXPECT_NE(table.out.find("\n1     " + std::to_string(number(look["processes"][1], "pid"))),
            std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find("\nOutside the library: "), std::string::npos) << table.out;
  ::kill(job.pid(), SIGTERM);
  job.wait();
}

// Would catch: a job that is not shown any more, or as its ranks were, when these have become other
// programs; a handler that does not return, taken for the program. The look begins before.
TEST(Exec, RanksStayInTheTable) {
  Command top({run_command(), "top", "--interval", "0.2", "--json"});
  top.start();
  const auto job = start(2, "exec");
  EXPECT_TRUE(top.wait_for_output("\"state\":\"rank 0 outside the library, 1 runs a handler\"", 1));
  EXPECT_EQ(shown(*job)["processes"][0]["state"].as<std::string>(), "outside the library");
  ::kill(top.pid(), SIGINT);
  EXPECT_EQ(top.wait().status, 0);
  end(*job);
}

// Would catch: a question that meets a rank whose libraries have ended, and ends it by a signal; a
// reader that ends when the process that it looks at does. Both are a matter of microseconds, so it
// takes many short jobs.
TEST(Ends, AskedWhileItEnds) {
  char stop[] = "/tmp/shown-XXXXXX";
  ::close(::mkstemp(stop));
  const std::string loop =
      std::string("while [ -e ") + stop + " ]; do \"$0\" ps --ranks || exit 1; done";
  Command readers[] = {Command({"/bin/sh", "-c", loop, run_command()}),
                       Command({"/bin/sh", "-c", loop, run_command()})};
  for (Command& reader : readers) reader.start();
  for (int i = 0; i < 25; ++i) {
    const Result result =
        Command({run_command(), "run", "-n", "2", "--", POLLS_AT_END, FAREWELL_LIBRARY, "exit"})
            .run(60 * kSlowdown);
    EXPECT_EQ(result.status, 0) << result.err;
  }
  ::unlink(stop);
  for (Command& reader : readers) {
    const Result result = reader.wait();
    EXPECT_EQ(result.status, 0) << result.err;
  }
}

}  // namespace
