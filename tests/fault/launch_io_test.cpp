// Input and output of the ranks.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "launch_harness.h"

namespace launch_test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string shell(const std::string& pipeline) {
  return "exec 2>&1; " + pipeline;
}

// Would catch: a line torn by a chunk's end or by another rank's line, lost or doubled output,
// lines of one rank out of order.
TEST(Output, FortyThousandLinesArriveWhole) {
  for (const bool tag : {false, true}) {
    Command command(
        job(4, {"init", "print=10000", "finalize"},
            tag ? std::vector<std::string>{"--tag-output"} : std::vector<std::string>{}));
    const Result result = command.run();
    ASSERT_EQ(result.status, 0);
    const std::vector<std::string> lines = lines_of(result.out);
    ASSERT_EQ(lines.size(), 40000u);
    int next[4] = {0, 0, 0, 0};
    for (const std::string& line : lines) {
      unsigned rank = 0, tagged = 0;
      int number = -1;
      if (tag) {
        ASSERT_EQ(std::sscanf(line.c_str(), "[%u] line %d of rank %u", &tagged, &number, &rank), 3);
        ASSERT_EQ(tagged, rank);
      } else {
        ASSERT_EQ(std::sscanf(line.c_str(), "line %d of rank %u", &number, &rank), 2) << line;
      }
      ASSERT_LT(rank, 4u);
      ASSERT_EQ(number, next[rank]++) << line;
      const std::string body = "rank " + std::to_string(rank) + " " +
                               std::string(static_cast<size_t>(number % 97), 'z') + " end";
      ASSERT_EQ(line.substr(line.find("rank ")), body);
    }
  }
}

// Would catch: lines beyond the buffer that are cut, mixed with other ranks' or held in full.
TEST(Output, VeryLongLinesStayWhole) {
  Command command(job(4, {"init", "long=3000000", "finalize"}));
  const Result result = command.run();
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 4u);
  std::string letters;
  for (const std::string& line : lines) {
    EXPECT_EQ(line.size(), 3000000u);
    EXPECT_EQ(line.find_first_not_of(line[0]), std::string::npos);
    letters += line[0];
  }
  std::sort(letters.begin(), letters.end());
  EXPECT_EQ(letters, "ABCD");
}

// Would catch: two ranks that wait for each other because one of them is in the middle of a line.
TEST(Output, AnUnfinishedLongLineDoesNotStopOthers) {
  Command command(job(2, {"init", "exchange", "@0:partial=" + std::string(100000, 'q'), "fence",
                          "@1:print=5000", "fence", "finalize"}));
  const Result result = command.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(count(result.out, " end\n"), 5000u);
  EXPECT_EQ(count(result.out, "q"), 100000u);
}

// Would catch: bytes changed, a NUL taken for an end, a missing last newline added or the text
// before it lost.
TEST(Output, BytesPassUnchanged) {
  Command command({run_command(), "run", "-n", "1", "--", "sh", "-c",
                   "printf 'a\\000b\\377\\r\\n\\n'; printf 'no newline'"});
  EXPECT_EQ(command.run().out, std::string("a\0b\377\r\n\nno newline", 17));
}

// Would catch: a prompt without newline that is held back until the program ends.
TEST(Output, OneRanksPromptAppearsAtOnce) {
  Command command(job(1, {"partial=prompt>", "sleep=30"}));
  command.start();
  EXPECT_TRUE(command.wait_for_output("prompt>", 1, 5.0));
  ::kill(command.pid(), SIGKILL);
  command.wait();
  expect_clean(command);
}

// Would catch: unfinished last lines of several ranks run together, or tags in a line's middle.
TEST(Output, UnfinishedLastLinesStayApart) {
  Command command({run_command(), "run", "-n", "3", "--tag-output", "printf", "a\\nb"});
  std::vector<std::string> lines = lines_of(command.run().out);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines,
            (std::vector<std::string>{"[0] a", "[0] b", "[1] a", "[1] b", "[2] a", "[2] b"}));
}

// Would catch: stdout and stderr merged.
TEST(Output, StderrStaysStderr) {
  Command command({run_command(), "run", "-n", "2", "--", "sh", "-c", "echo out; echo err >&2"});
  const Result result = command.run();
  EXPECT_EQ(result.out, "out\nout\n");
  EXPECT_EQ(result.err, "err\nerr\n");
}

// Would catch: output lost because its reader is slower than the job.
TEST(Output, SlowReaderGetsEverything) {
  Command command({"bash", "-c",
                   run_command() + " run -n 4 -- " + rank_program() +
                       " init print=20000 finalize | (sleep 1.5; wc -l)"});
  EXPECT_EQ(std::stoi(command.run().out), 80000);
  expect_clean(command);
}

// Would catch: a job that goes on, or complains, when nobody reads its output any more.
TEST(Output, ClosedReaderEndsTheJobQuietly) {
  Command command({"bash", "-c",
                   shell(run_command() + " run -n 4 -- " + rank_program() +
                         " init print=100000 sleep=30 finalize | head -1; echo ${PIPESTATUS[0]}")});
  const Result result = command.run();
  EXPECT_EQ(lines_of(result.out).size(), 2u) << result.out;
  EXPECT_NE(result.out.find("\n141\n"), std::string::npos) << result.out;
  EXPECT_LT(result.seconds, 4.0 * kSlowdown);
  expect_clean(command);
}

// Would catch: a descriptor of the launcher's own that takes the closed stdout's number; output
// that is lost without a word.
TEST(Output, ClosedFromTheStart) {
  Command command(job(2, {"init", "exchange", "print=10", "finalize"}));
  const Result result = command.stdout_to("-").run();
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(count(result.err, "cannot write the ranks' output: Bad file descriptor"), 1u)
      << result.err;
  Command silent({run_command(), "run", "-n", "2", "true"});
  const Result all_well = silent.stdout_to("-").run();
  EXPECT_EQ(all_well.status, 0);
  EXPECT_EQ(all_well.err, "");
}

// Would catch: a full disk that goes unnoticed.
TEST(Output, FullDiskIsAnError) {
  Command command(job(2, {"init", "exchange", "print=10", "sleep=30"}));
  const Result result = command.stdout_to("/dev/full").run();
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("cannot write the ranks' output: No space left on device"),
            std::string::npos);
}

// Would catch: output that is lost at the end of a job that is called good; an empty line, or one
// that does not say whose it is.
TEST(Output, FullDiskAtTheEndIsAnError) {
  for (int i = 0; i < 10; ++i) {
    Command command(
        job(2, {"init", "exchange", "finalize", "print=1"},
            i % 2 == 0 ? std::vector<std::string>{} : std::vector<std::string>{"--spares", "1"}));
    const Result result = command.stdout_to("/dev/full").run();
    EXPECT_EQ(result.status, 1);
    // Ranks without the library's exit may leave others behind, which are told of before.
    EXPECT_NE(("\n" + result.err).find("\ncauseway run: cannot write the ranks' output: No space"),
              std::string::npos)
        << result.err;
  }
}
TEST(Output, ReaderThatIsGoneAtTheEnd) {
  for (int i = 0; i < 10; ++i) {
    const std::string line = run_command() + " run -n 2 -- " + rank_program() +
                             " init finalize print=1 | true; echo ${PIPESTATUS[0]}";
    const Result result = Command({"bash", "-c", line}).run();
    EXPECT_TRUE(result.out == "0\n" || result.out == "141\n") << result.out;
    EXPECT_EQ(result.err, "");
  }
}

// Would catch: input lost, given to more than one rank, or without its end of file.
TEST(Input, GoesToOneRankWithItsEnd) {
  for (const char* reader : {"0", "2", "none"}) {
    Command command(job(3, {"init", "stdin", "finalize"}, {"--stdin", reader}));
    const Result result = command.stdin_text(std::string(1 << 20, 'i')).run();
    EXPECT_EQ(result.status, 0);
    for (const char* rank : {"0", "1", "2"}) {
      const std::string bytes = std::string(rank) == reader ? "1048576" : "0";
      EXPECT_NE(result.out.find("rank " + std::string(rank) + " read " + bytes + " bytes"),
                std::string::npos)
          << result.out;
    }
  }
}

// Would catch: a launcher that waits for input that no rank wants.
TEST(Input, NobodyHasToReadIt) {
  Command command({"bash", "-c", "yes | " + run_command() + " run -n 2 true"});
  EXPECT_EQ(command.run().status, 0);
}

// Would catch: text that was in stdio's buffers at the fork and is printed by every rank.
TEST(Fork, BufferedTextIsPrintedOnce) {
  Command command({rank_program(), "unflushed=only once", "init", "exchange", "finalize"},
                  {{"CAUSEWAY_RANKS", "3"}});
  const Result result = command.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(count(result.out, "only once"), 1u);
  EXPECT_EQ(count(result.out, "of 3 has all cards"), 3u);
  expect_clean(command);
}

// Would catch: a launcher that polls while nothing happens.
TEST(Idle, BurnsNoProcessor) {
  Command command({"bash", "-c",
                   "time " + run_command() + " run -n 4 -- " + rank_program() +
                       " init exchange sleep=2 finalize"},
                  {{"TIMEFORMAT", "cpu %U %S"}});
  const Result result = command.run();
  double user = 9, system = 9;
  const size_t at = result.err.find("cpu ");
  ASSERT_NE(at, std::string::npos) << result.err;
  ASSERT_EQ(std::sscanf(result.err.c_str() + at, "cpu %lf %lf", &user, &system), 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(user + system, 0.6);
#endif
}

}  // namespace
}  // namespace launch_test
