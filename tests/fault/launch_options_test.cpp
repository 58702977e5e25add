// The command line as users of other launchers expect it: spellings, variables, places, files
// for the output, and an answer to what is misspelt.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "launch_harness.h"

namespace launch_test {
namespace {

using Words = std::vector<std::string>;

Result run_shell(const Words& flags, const std::string& script,
                 std::vector<std::pair<std::string, std::string>> environment = {}) {
  Words words{run_command(), "run"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"sh", "-c", script});
  Command command(words, std::move(environment));
  const Result result = command.run();
  expect_clean(command);
  return result;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

size_t processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  ::sched_getaffinity(0, sizeof usable, &usable);
  return static_cast<size_t>(CPU_COUNT(&usable));
}

// Would catch: -np taken for -n with the value "p", and variables that ranks do not get, also where
// they belong to this host and go to no other one by themselves.
TEST(Options, SpellingsOfMpirun) {
  for (const Words& hosts :
       {Words{}, Words{"--hosts", "a,b", "--agent", "env LAUNCH_TEST_HOST=%h"}}) {
    Words flags{"-np", "2", "-x", "COLOUR=deep blue", "--export", "DISPLAY"};
    flags.insert(flags.end(), hosts.begin(), hosts.end());
    const Result result = run_shell(flags, "echo \"$COLOUR on $DISPLAY\"", {{"DISPLAY", "here:7"}});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(count(result.out, "deep blue on here:7\n"), 2u) << result.out;
  }
  const Result missing = run_shell({"-n", "1", "-x", "NOT_SET_ANYWHERE"}, "true");
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("'NOT_SET_ANYWHERE' is not set here"), std::string::npos)
      << missing.err;
}

// Would catch: of several files only the last or the first reaches the ranks, here and on other
// hosts; a file whose name would be taken for two; a job that starts although a layer is wrong, or
// a line that names another layer.
TEST(Options, ConfigurationsHaveLayers) {
  Command place({"true"});  // for its directory
  const std::string at = place.directory() + "/";
  const auto write = [&at](const std::string& name, const std::string& text) {
    std::ofstream(at + name) << text;
    return at + name;
  };
  write("deep.yaml", "report: true\nchecks: full\n");
  const std::string low = write("low.yaml", "include: deep.yaml\nlog: {level: debug}\n");
  const std::string high = write("high.yaml", "log: {level: error}\n");
  const Words flags{"-n", "2", "--config", low, "--config=" + high};
  for (const Words& hosts :
       {Words{}, Words{"--hosts", "a,b", "--agent", "env LAUNCH_TEST_HOST=%h"}}) {
    Words words{run_command(), "run"};
    for (const Words& more : {flags, hosts, Words{run_command(), "info", "--config"}})
      words.insert(words.end(), more.begin(), more.end());
    Command command(words, {{"CAUSEWAY_CONFIG", "/no/such/file"}});
    const Result result = command.run();
    EXPECT_EQ(result.status, 0) << result.err;
    for (const std::string text : {"report: true\n", "checks: full\n", "level: error\n"})
      EXPECT_EQ(count(result.out, text), 2u) << text << result.out;
  }
  Command alone({run_command(), "info", "--config"}, {{"CAUSEWAY_CONFIG", high + ":" + low}});
  EXPECT_EQ(count(alone.run().out, "level: debug\n"), 1u);
  Command explained({run_command(), "explain", "-n", "2", "--config", low, "--config",
                     write("rule.yaml", "\npeers: [{use: [self, shm]}]\n")});
  const Result explanation = explained.run();
  EXPECT_NE(explanation.out.find(at + "rule.yaml:2:9"), std::string::npos)
      << explanation.out << explanation.err;
  const Result bad = run_shell({"-n", "2", "--config", low, "--config",
                                write("bad.yaml", "include: low.yaml\nrepot: true\n")},
                               "echo started");
  EXPECT_EQ(bad.status, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_NE(bad.err.find(at + "bad.yaml:2:1: unknown key 'repot'"), std::string::npos) << bad.err;
  const Result colon = run_shell({"-n", "1", "--config", write("a:b", "")}, "echo started");
  EXPECT_EQ(colon.status, 2);
  EXPECT_NE(colon.err.find("a:b' has a ':'"), std::string::npos) << colon.err;
}

// Would catch: output that is torn, lost at the end, in another rank's file, or on the launcher's
// own streams; a directory that cannot be made and is passed over; what an earlier job wrote, which
// seems to be a silent rank's; a directory with a space, in place of which another one is meant; a
// job that ends well although its output is lost.
TEST(Options, AFilePerRank) {
  Command place({"true"});  // for its directory
  const std::filesystem::path directory = std::filesystem::path(place.directory()) / "a" / "b c";
  const Result result =
      run_shell({"-n", "3", "--output-dir", directory.string()},
                "for i in 1 2 3; do echo $PMIX_RANK line $i; echo $PMIX_RANK >&2; done; "
                "printf unfinished");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out + result.err, "");
  for (const std::string rank : {"0", "1", "2"}) {
    EXPECT_EQ(text_of(directory / ("rank." + rank + ".out")),
              rank + " line 1\n" + rank + " line 2\n" + rank + " line 3\nunfinished");
    EXPECT_EQ(text_of(directory / ("rank." + rank + ".err")),
              rank + "\n" + rank + "\n" + rank + "\n");
  }
  const Result silent =
      run_shell({"-n", "2", "--output-dir", directory.string()}, "[ $PMIX_RANK = 1 ] || echo word");
  EXPECT_EQ(silent.status, 0) << silent.err;
  EXPECT_EQ(text_of(directory / "rank.0.out"), "word\n");
  for (const char* name : {"rank.0.err", "rank.1.out", "rank.1.err"})
    EXPECT_EQ(text_of(directory / name), "") << name;
  const Result refused = run_shell({"-n", "1", "--output-dir", "/dev/null/x"}, "echo lost");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("--output-dir /dev/null/x: cannot be made: Not a directory\n"),
            std::string::npos)
      << refused.err;
  const Result unwritable = run_shell({"-n", "1", "--output-dir", "/proc"}, "echo lost");
  EXPECT_EQ(unwritable.status, 1);
  EXPECT_NE(unwritable.err.find("cannot write /proc/rank.0.out"), std::string::npos)
      << unwritable.err;
}

// Would catch: ranks of a later program that run the first, in its directory or with its variables,
// here and over hosts; a line that names the wrong program; a directory that is not there and said
// to be a program.
TEST(Options, SeveralPrograms) {
  for (const Words& hosts :
       {Words{}, Words{"--hosts", "a,b", "--agent", "env LAUNCH_TEST_HOST=%h"}}) {
    Words words{run_command(), "run",       "-n",        "3",           "-x",  "ALL=all",
                "-x",          "OWN=first", "--display", "--directory", "/usr"};
    words.insert(words.end(), hosts.begin(), hosts.end());
    for (const char* word :
         {"sh", "-c", "echo $PMIX_RANK first $ALL $OWN $PWD", ":", "-n", "1", "-x", "OWN=second",
          "--directory", "lib", "bash", "-c", "echo $PMIX_RANK second $ALL $OWN $PWD", ":", "-np",
          "1", "dash", "-c", "echo $PMIX_RANK third $ALL $OWN $PWD"})
      words.emplace_back(word);
    Command command(words);
    const Result result = command.run();
    EXPECT_EQ(result.status, 0) << result.err;
    for (const std::string rank : {"0", "1", "2"})
      EXPECT_EQ(count(result.out, rank + " first all first /usr\n"), 1u) << result.out;
    EXPECT_EQ(count(result.out, "3 second all second /usr/lib\n"), 1u) << result.out;
    EXPECT_EQ(count(result.out, "4 third all first /usr\n"), 1u) << result.out;
    const std::string on = hosts.empty() ? "" : " on b";
    EXPECT_EQ(count(result.err, "rank 3" + on + ", bash: processors "), 1u) << result.err;
    EXPECT_EQ(count(result.err, "rank 4" + on + ", dash: processors "), 1u) << result.err;
    expect_clean(command);
  }
  Command died({run_command(), "run", "-n", "1", "sleep", "20", ":", "-n", "1", "sh", "-c",
                "kill -SEGV $$"});
  const Result death = died.run();
  EXPECT_EQ(death.status, 128 + SIGSEGV);
  EXPECT_NE(death.err.find(", sh) was killed by signal 11"), std::string::npos) << death.err;
  Command missing({run_command(), "run", "-n", "1", "true", ":", "-n", "1", "./not/there"});
  const Result none = missing.run();
  EXPECT_EQ(none.status, 127);
  EXPECT_NE(none.err.find("cannot execute './not/there'"), std::string::npos) << none.err;
  Command nowhere({run_command(), "run", "-n", "1", "true", ":", "-n", "1", "--directory",
                   "/not/there", "true"});
  const Result lost = nowhere.run();
  EXPECT_EQ(lost.status, 126);
  EXPECT_NE(lost.err.find("cannot go to the directory '/not/there': No such file"),
            std::string::npos)
      << lost.err;
}

// Would catch: ranks that are bound elsewhere than what is displayed says, two ranks on one core
// where there are enough, a launcher that binds itself, and ranks outside of what it may use
// itself.
TEST(Options, BindsToCores) {
  const std::string script =
      "sed -n \"s/^Cpus_allowed_list:\t*/$PMIX_RANK on /p\" /proc/self/status";
  const Result free_ranks = run_shell({"-n", "2", "--display"}, script);
  EXPECT_EQ(count(free_ranks.err, ": processors "), 2u) << free_ranks.err;
  const Result bound = run_shell({"-n", "2", "--bind", "core", "--display"}, script);
  EXPECT_EQ(bound.status, 0) << bound.err;
  std::vector<std::string> places;
  for (const std::string rank : {"0", "1"}) {
    const size_t at = bound.out.find(rank + " on ");
    ASSERT_NE(at, std::string::npos) << bound.out;
    places.push_back(bound.out.substr(at + 5, bound.out.find('\n', at) - at - 5));
    const std::string told = "rank " + rank + ": processors " + places.back();
    EXPECT_EQ(count(bound.err, told + ";") + count(bound.err, told + "\n"), 1u) << bound.err;
  }
  if (processors() >= 2) {
    EXPECT_NE(places[0], places[1]);
  }
  EXPECT_EQ(run_shell({"-n", "2", "--bind", "numa"}, "true").status, 0);
  // As batch systems start it: within one processor.
  const std::string one = places[0].substr(0, places[0].find_first_of(",-"));
  for (const Words& flags : {Words{"--bind", "core"}, Words{"--map", "numa"}, Words{}}) {
    Words words{"taskset", "-c", one, run_command(), "run", "-n", "2", "--display"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"sh", "-c", script});
    Command command(words);
    const Result within = command.run();
    EXPECT_NE(within.err.find("rank 1: processors " + one + "\n"), std::string::npos) << within.err;
    EXPECT_NE(within.out.find("1 on " + one + "\n"), std::string::npos) << within.out;
  }
}

// Would catch: ranks that are dealt out in another order than --map says, over hosts or within, on
// a machine of two NUMA nodes (hwloc makes one up, and binds nothing then); that this is not said;
// a node's share that reaches into another node; ranks that are dealt out and not bound.
TEST(Options, MapsRanks) {
  const auto places = [](const Words& more, int ranks) {
    Words words{run_command(), "run", "-n", std::to_string(ranks), "--display"};
    words.insert(words.end(), more.begin(), more.end());
    words.emplace_back("true");
    Command command(words, {{"HWLOC_SYNTHETIC", "numa:2 core:4 pu:1"}});
    const Result result = command.run();
    EXPECT_EQ(result.status, 0) << result.err;
    std::vector<std::string> out;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string name = "rank " + std::to_string(rank);
      const size_t at = result.err.find(name),
                   end = result.err.find(" of a made-up machine, not bound", at);
      out.push_back(at == std::string::npos ? "" : result.err.substr(at + 6, end - at - 6));
    }
    return out;
  };
  using Places = std::vector<std::string>;
  EXPECT_EQ(places({"--map", "core"}, 4), (Places{": processors 0-1", ": processors 2-3",
                                                  ": processors 4-5", ": processors 6-7"}));
  EXPECT_EQ(places({"--bind", "numa"}, 3),
            (Places{": processors 0-3", ": processors 0-3", ": processors 4-7"}));
  EXPECT_EQ(places({"--map", "numa"}, 3),
            (Places{": processors 0-3", ": processors 4-7", ": processors 0-3"}));
  EXPECT_EQ(places({"--map", "numa", "--bind", "core"}, 3),
            (Places{": processors 0-1", ": processors 4-7", ": processors 2-3"}));
  EXPECT_EQ(places({"--map", "numa", "--bind", "core"}, 10).back(), ": processors 7");
  EXPECT_EQ(places({"--map", "numa", "--bind", "none"}, 1), (Places{": processors 0-7"}));
  const Words hosts{"--hosts", "a,b", "--agent", "env LAUNCH_TEST_HOST=%h", "--map"};
  const auto with = [&hosts](const std::string& map) {
    Words all = hosts;
    all.push_back(map);
    return all;
  };
  EXPECT_EQ(places(with("core"), 4), (Places{" on a: processors 0-3", " on a: processors 4-7",
                                             " on b: processors 0-3", " on b: processors 4-7"}));
  EXPECT_EQ(places(with("host"), 3),
            (Places{" on a: processors 0-7", " on b: processors 0-7", " on a: processors 0-7"}));
  EXPECT_EQ(places(with("host,numa"), 4),
            (Places{" on a: processors 0-3", " on b: processors 0-3", " on a: processors 4-7",
                    " on b: processors 4-7"}));
  EXPECT_EQ(run_shell({"-n", "1", "--map", "core,numa"}, "true").status, 2);
}

// Would catch: a rank that dies without its backtraces, or with those of one thread; backtraces of
// a rank that was only ended with it; a status that becomes another one; a rank whose backtraces
// are cut off because another one that died with it was faster; a wish that does not reach other
// hosts.
TEST(Options, ADyingRankShowsItsThreads) {
  if (::system("gdb --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "gdb is not installed";
  const Words words{"init", "thread", "fence", "@1:crash", "@2:crash", "sleep=20"};
  for (const Words& hosts :
       {Words{}, Words{"--hosts", "a,b", "--agent", "env LAUNCH_TEST_HOST=%h"}}) {
    Words flags{"--debug"};
    flags.insert(flags.end(), hosts.begin(), hosts.end());
    Command command(job(3, words, flags));
    const Result result = command.run(60);
    if (result.err.find("ptrace: ") != std::string::npos)
      GTEST_SKIP() << "processes may not be traced here: " << result.err;
    EXPECT_EQ(result.status, 128 + SIGABRT) << result.err;
    for (const std::string rank : {"[1] ", "[2] "}) {
      EXPECT_EQ(count(result.err, rank + "causeway: process "), 1u) << result.err;
      EXPECT_GE(count(result.err, rank + "Thread "), 2u) << result.err;
      EXPECT_NE(result.err.find(rank + "#0 "), std::string::npos) << result.err;
      EXPECT_NE(result.err.find("abort ("), std::string::npos) << result.err;
    }
    EXPECT_EQ(count(result.err, "[0] "), 0u) << result.err;
    expect_clean(command);
  }
  Command quiet(job(2, {"init", "@1:crash", "sleep=20"}));
  EXPECT_EQ(count(quiet.run().err, "gdb"), 0u);
}

// Would catch: a debugger that is missing, and missed only when it is too late; panes without a
// terminal, or for ranks that are elsewhere.
TEST(Options, DebuggersThatCannotBeHad) {
  for (const std::string how : {"--debug=death", "--debug=tmux"}) {
    Command command({run_command(), "run", "-n", "1", how, "/bin/true"}, {{"PATH", "/nowhere"}});
    const Result result = command.run();
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.err.find(how + " needs gdb, which is not installed"), std::string::npos)
        << result.err;
  }
  const Result far = run_shell({"--hosts", "a", "-n", "1", "--debug=tmux"}, "echo started");
  EXPECT_EQ(far.status, 2);
  EXPECT_NE(far.err.find("is for one host"), std::string::npos) << far.err;
  Command tools({"sh", "-c", "gdb --version && tmux -V"});
  if (tools.run().status != 0) GTEST_SKIP() << "gdb or tmux is not installed";
  ::unsetenv("TMUX");
  const Result blind = run_shell({"-n", "1", "--debug=tmux"}, "echo started");
  EXPECT_EQ(blind.status, 1);
  EXPECT_EQ(blind.out, "");
  EXPECT_NE(blind.err.find("needs a terminal"), std::string::npos) << blind.err;
}

// Would catch: a mistake that is only refused where the right word is near, an option of other
// launchers that passes for a wish for help or has no hint to ours, a variable whose name is
// misspelt and that nobody misses, and an option behind ':' whose value passes for the program.
TEST(Options, SaysWhatWasMeant) {
  const Result option = run_shell({"-n", "1", "--timout", "3"}, "true");
  EXPECT_EQ(option.status, 2);
  EXPECT_NE(option.err.find("'--timout': did you mean '--timeout'?"), std::string::npos)
      << option.err;
  const Result other = run_shell({"-hostfile", "hosts"}, "true");
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("did you mean '--host-file'?"), std::string::npos) << other.err;
  for (const auto& [theirs, ours] : {std::pair{"--wdir", "--directory"},
                                     {"-ppn", "--per-host"},
                                     {"-npernode", "--per-host"},
                                     {"-tag-output", "--tag-output"},
                                     {"-N", "--per-host"},
                                     {"-H", "--hosts"}}) {
    const Result launchers = run_shell({"-np=2", theirs, "4"}, "true");
    EXPECT_EQ(launchers.status, 2);
    EXPECT_NE(launchers.err.find(std::string("did you mean '") + ours + "'?"), std::string::npos)
        << launchers.err;
  }
  const std::pair<std::vector<std::string>, const char*> complaints[] = {
      {{"--oversubscribe", "-n", "1"}, "'--oversubscribe': leave it out"},
      {{"--map=", "-n", "1"}, "--map needs a value"},
      {{"-n", "1", "--bind", "cores"}, "--bind: 'cores' is none of core, numa, none"}};
  for (const auto& [flags, complaint] : complaints) {
    const Result result = run_shell(flags, "true");
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find(complaint), std::string::npos) << result.err;
  }
  Command behind({run_command(), "run", "./program", "-n", "2"});
  EXPECT_NE(behind.run().err.find("-n is an argument of './program'"), std::string::npos);
  EXPECT_EQ(run_shell({"-np=2"}, "echo x").out, "x\nx\n");
  EXPECT_EQ(count(run_shell({"-np010"}, "echo x").out, "x\n"), 10u);  // no octal number
  Command alone({run_command(), "run", "--hlep"});
  const Result missing = alone.run();
  EXPECT_NE(missing.err.find("did you mean '--help'?"), std::string::npos) << missing.err;
  const Result further = run_shell({"-n", "1", "true", ":", "--bind", "core", "-n", "1"}, "true");
  EXPECT_EQ(further.status, 2);
  EXPECT_NE(further.err.find("':': --bind is no option here"), std::string::npos) << further.err;
  const Result taken = run_shell({"-n", "1", "-x", "CAUSEWAY_RANKS=2"}, "true");
  EXPECT_EQ(taken.status, 2);
  EXPECT_NE(taken.err.find("for CAUSEWAY_RANKS, give -n"), std::string::npos) << taken.err;
  const Result variable = run_shell({"-n", "1", "-x", "CAUSEWAY_FOO=1"}, "true",
                                    {{"CAUSEWAY_CONFG", "x"}, {"CAUSEWAY_DIR", "/opt"}});
  EXPECT_EQ(variable.status, 0);
  EXPECT_EQ(variable.err,
            "causeway: warning: CAUSEWAY_CONFG: Causeway has no such variable; did you mean "
            "CAUSEWAY_CONFIG?\n"
            "causeway: warning: CAUSEWAY_FOO: Causeway has no such variable\n");
}

// Would catch: a stdin that cannot be read and passes for an empty one.
TEST(Options, StdinIsADirectory) {
  Command command({"sh", "-c", "exec \"$0\" run -n 1 cat </", run_command()});
  const Result result = command.run();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "causeway run: stdin is a directory: the ranks have nothing to read\n");
}

// Would catch: a misspelt variable of ranks that no launcher of ours has started, unnamed or named
// by each of them.
TEST(Options, RanksNameWhatIsMisspelt) {
  const std::string program = rank_program() + " init finalize";
  Command own({"sh", "-c", "exec " + program}, {{"CAUSEWAY_RANKS", "3"}, {"CAUSEWAY_SETT", "x"}});
  const Result alone = own.run();
  EXPECT_EQ(alone.status, 0);
  EXPECT_EQ(count(alone.err, "CAUSEWAY_SETT: Causeway has no such variable"), 1u) << alone.err;
  const Result ours = run_shell({"-n", "3"}, "exec " + program, {{"CAUSEWAY_SETT", "x"}});
  EXPECT_EQ(ours.status, 0);
  EXPECT_EQ(count(ours.err, "CAUSEWAY_SETT: Causeway has no such variable"), 1u) << ours.err;
}

// Would catch: a script without its interpreter that is said to be missing itself; a program of
// which that is said, though it has no name, or is not in the ranks' PATH.
TEST(Options, TheInterpreterIsMissing) {
  Command command({"sh", "-c",
                   "printf '#!/no/such/thing\\n' >script && chmod +x script && exec " +
                       run_command() + " run -n 2 ./script"});
  const Result missing = command.run();
  EXPECT_EQ(missing.status, 127);
  EXPECT_NE(missing.err.find("the file is there: the interpreter that it asks for is not"),
            std::string::npos)
      << missing.err;
  for (const Words& words : {Words{""}, Words{"-x", "PATH=/none", "sh", "-c", "true"}}) {
    Words all{run_command(), "run", "-n", "1"};
    all.insert(all.end(), words.begin(), words.end());
    const Result result = Command(all).run();
    EXPECT_EQ(result.status, 127);
    EXPECT_EQ(count(result.err, "interpreter"), 0u) << result.err;
  }
}

// Would catch: options without the one that gives them a meaning, which were passed over.
TEST(Options, NeedOthers) {
  const std::pair<Words, const char*> cases[] = {
      {{"--output-dir", ""}, "--output-dir: names no directory"},
      {{"--first-host-program", "x"}, "--first-host-program: needs --hosts or --host-file"},
      {{"--spares", "1", "--on-failure", "abort"}, "--spares: needs --on-failure=continue"},
      {{"--timeout"}, "--timeout needs a value"}};
  for (const auto& [flags, said] : cases) {
    Words words{run_command(), "run", "-n", "1"};
    words.insert(words.end(), flags.begin(), flags.end());
    if (flags.size() > 1) words.emplace_back("true");
    Command command(words);
    const Result result = command.run();
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find(said), std::string::npos) << result.err;
  }
}

// Would catch: what the ranks wrote to stderr lost on a full disk, and the job called good.
TEST(Options, StderrCannotBeWritten) {
  Command command(
      {"sh", "-c", "exec " + run_command() + " run -n 1 sh -c 'echo lost >&2' 2>/dev/full"});
  EXPECT_EQ(command.run().status, 1);
}

// Would catch: a library's own words where the current directory was removed.
TEST(Options, TheCurrentDirectoryIsGone) {
  for (const std::string option : {"--config ../x.yaml", "--output-dir o"}) {
    Command command({"sh", "-c",
                     "mkdir d && cd d && rmdir ../d && >../x.yaml && exec " + run_command() +
                         " run -n 1 " + option + " true"});
    const Result result = command.run();
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.err, "causeway run: the current directory is gone\n");
  }
}

// Would catch: a program of this directory that is said to be nowhere, and a hint to one that is.
TEST(Options, AProgramThatIsHereAndNotInThePath) {
  const auto said = [](const std::string& name) {
    Command command(
        {"sh", "-c",
         "cd \"$TMPDIR\" && cp /bin/true hello && exec " + run_command() + " run -n 1 " + name});
    return command.run().err;
  };
  const std::string here = said("hello"), nowhere = said("hallo");
  EXPECT_NE(here.find("'hello': No such file or directory in the PATH; write ./hello"),
            std::string::npos)
      << here;
  EXPECT_NE(nowhere.find("'hallo': No such file or directory; ending"), std::string::npos)
      << nowhere;
  EXPECT_EQ(said("./hello"), "");
}

// Would catch: `help` and `version` that are taken for mistakes.
TEST(Options, HelpAndVersionAreWords) {
  Command help({run_command(), "help", "run"}), version({run_command(), "version"});
  const Result helped = help.run(), told = version.run();
  EXPECT_EQ(helped.status, 0);
  EXPECT_NE(helped.out.find("--output-dir"), std::string::npos);
  Command all({run_command(), "help"}), of_help({run_command(), "help", "--help"});
  EXPECT_NE(all.run().out.find("\n  help "), std::string::npos);
  EXPECT_NE(of_help.run().out.find("help [OPTIONS] [subcommand]"), std::string::npos);
  EXPECT_EQ(told.status, 0);
  EXPECT_NE(told.out.find('.'), std::string::npos);
}

}  // namespace
}  // namespace launch_test
