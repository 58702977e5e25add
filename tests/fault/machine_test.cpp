// Machines that this one is not: several memory nodes, a kernel that keeps processes out of each
// other's memory. A preloaded stand-in (tests/standins/kernel.c) answers in the kernel's place.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "launch_harness.h"

namespace launch_test {
namespace {

class Machine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a preloaded library and a sanitizer do not go together";
  }
  void TearDown() override { ::unlink(log_.c_str()); }

  // The launcher itself is on the ordinary machine.
  Result run(const std::string& machine, std::vector<std::string> flags,
             std::vector<std::string> program) {
    std::vector<std::string> words{run_command(), "run", "-n", "2", "--timeout", "200"};
    words.insert(words.end(), flags.begin(), flags.end());
    for (const std::string& word :
         {std::string("--"), std::string("env"), machine, "STANDIN_LOG=" + log_,
          std::string("LD_PRELOAD=" STANDIN_KERNEL)})
      words.push_back(word);
    words.insert(words.end(), program.begin(), program.end());
    Command command(words);
    const Result result = command.run(220);
    expect_clean(command);
    return result;
  }
  std::string noted() const {
    std::ostringstream text;
    text << std::ifstream(log_).rdbuf();
    return text.str();
  }

 private:
  const std::string log_ = ::testing::TempDir() + "machine-" + std::to_string(::getpid()) + ".log";
};

// MPOL_PREFERRED and MPOL_INTERLEAVE of the kernel's interface.
constexpr const char* kPreferred = "mbind mode 1 nodes 0x4 bytes ";
constexpr const char* kInterleaved = "mbind mode 3 nodes 0x7 bytes ";

// Would catch: queues whose pages come from the senders' nodes, because those write first; segments
// that are bound although whoever touches first is to decide.
TEST_F(Machine, FirstTouchBindsQueuesOnly) {
  const Result result = run("STANDIN_NODES=3", {}, {API_VICTIM, "hello"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(noted(), kPreferred), 2u) << noted();  // each rank's queues, to its own node
  EXPECT_EQ(count(noted(), "\n"), 2u) << noted();
}

// Would catch: `segment.numa` that does not reach the conduit, or binds to fewer nodes than there
// are, or other memory than the segment.
TEST_F(Machine, InterleavedSegments) {
  const Result result =
      run("STANDIN_NODES=3", {"--set", "segment.numa=interleave"}, {API_VICTIM, "hello"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(noted(), std::string(kInterleaved) + "1048576\n"), 2u) << noted();
  EXPECT_EQ(count(noted(), kPreferred), 2u) << noted();
}

// The conduit's own option: a rank's segment on its node, whoever touches it.
TEST_F(Machine, LocalSegments) {
  const Result result =
      run("STANDIN_NODES=3", {"--set", "conduits.shm.options.numa=local"}, {API_VICTIM, "hello"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(noted(), std::string(kPreferred) + "1048576\n"), 2u) << noted();
}

// Would catch: a machine with one node that pays for placement.
TEST_F(Machine, OneNodeIsLeftAlone) {
  const Result result =
      run("STANDIN_NODES=1", {"--set", "segment.numa=interleave"}, {API_VICTIM, "hello"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(noted(), "");
}

// Would catch: a start-up probe that takes a refusal for a success, results that differ where the
// client's own memory is reached by messages, and attempts that go on after the probe has failed.
TEST_F(Machine, NoCrossMemoryAttach) {
  const Result result =
      run("STANDIN_NO_CMA=1", {},
          {SPEC_CLIENT_SEGMENT, "rma.alignments", "rma.buffers_come_and_go", "rma.overlapping",
           "rma.seen_by_the_owner", "rma.values", "rma_completion", "nbi"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  const std::string log = noted();
  EXPECT_GE(count(log, "process_vm_readv refused\n"), 2u) << "nobody tried: " << log;
  EXPECT_LE(count(log, "\n"), 8u) << "more than the probes: " << log;
  EXPECT_EQ(count(log, "process_vm_writev"), 0u) << log;
}

// Would catch: `require` that is content with less, or an answer that does not say what to do.
TEST_F(Machine, RequiredCrossMemoryAttach) {
  const Result result = run("STANDIN_NO_CMA=1", {"--set", "conduits.shm.options.cma=require"},
                            {SPEC_CLIENT_SEGMENT, "rma.values"});
  EXPECT_NE(result.status, 0);
  EXPECT_LT(result.status, 128) << result.err;
  EXPECT_NE(result.err.find("ptrace_scope"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace launch_test
