// Containers and sandboxes: no /sys and no /proc, refused system calls, one family of addresses,
// users without rights. A job there works, or one line says what is missing.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "launch_harness.h"

namespace launch_test {
namespace {

using Words = std::vector<std::string>;

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizers' own library needs /proc and ptrace";
  }

  static Words over(const std::string& network) {
    if (network.empty()) return {};
    return {"--config", CAUSEWAY_SOURCE_DIR "/configs/sites/" + network + ".yaml"};
  }
  // Messages, puts and the memory of neighbours.
  static Words a_job(const Words& flags = {}) {
    Words words{run_command(), "run", "-n", "3", "--timeout", "100"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(),
                 {"--", SPEC_PROGRAM, "rma.values", "am_token", "am_limits", "versions"});
    return words;
  }
  static Result in(Words outside, const Words& inside) {
    outside.insert(outside.end(), inside.begin(), inside.end());
    Command command(outside);
    const Result result = command.run(120.0);
    expect_clean(command);
    return result;
  }
  // Of `unshare`, after `preparation` by a shell. Nothing: it is not allowed here.
  static Words namespaces(const std::string& flags, const std::string& preparation) {
    const Words words{
        "unshare", flags, "--", "sh", "-c", "set -e; " + preparation + "; exec \"$@\"", "sh"};
    Words trial = words;
    trial.push_back("true");
    return Command(trial).run().status == 0 ? words : Words{};
  }
  static void expect_works(const Words& outside, const Words& networks) {
    if (outside.empty()) GTEST_SKIP() << "such namespaces cannot be made here";
    for (const std::string& network : networks) {
      const Result result = in(outside, a_job(over(network)));
      EXPECT_EQ(result.status, 0) << network << "\n" << result.out << result.err;
      EXPECT_NE(result.out.find(" 0 failed"), std::string::npos) << network << "\n" << result.out;
    }
  }
};

// ARM64 has the newer of both alone.
#ifdef SYS_poll
constexpr int kPoll = SYS_poll, kEpollWait = SYS_epoll_wait;
#else
constexpr int kPoll = SYS_ppoll, kEpollWait = SYS_epoll_pwait;
#endif

// Calls that filters of containers refuse, or that kernels in sandboxes do not have.
constexpr int kRefused[] = {SYS_process_vm_readv,
                            SYS_process_vm_writev,
                            SYS_ptrace,
                            SYS_pidfd_open,
                            SYS_pidfd_send_signal,
                            SYS_pidfd_getfd,
                            SYS_membarrier,
                            SYS_kcmp,
                            SYS_sched_setaffinity,
                            SYS_mbind,
                            SYS_get_mempolicy,
                            SYS_set_mempolicy,
                            SYS_move_pages,
                            SYS_prlimit64,
                            SYS_statx,
                            SYS_close_range,
                            SYS_waitid,
                            SYS_mlock,
                            SYS_madvise,
                            SYS_fallocate,
                            SYS_shmget,
                            SYS_inotify_init1,
                            SYS_setpgid,
                            SYS_setsid,
                            SYS_perf_event_open,
                            SYS_userfaultfd,
                            SYS_io_uring_setup,
                            SYS_rseq,
                            SYS_faccessat2,
                            SYS_copy_file_range};

Words refusing(int error) {
  std::string numbers;
  for (const int number : kRefused) numbers += std::to_string(number) + ",";
  return {DENY, std::to_string(error), numbers};
}

// Would catch: a start that takes a refusal for a failure, and a launcher that without process
// descriptors and waitid() never learns that its keeper has ended. PMIx 5 does not start where
// hwloc may neither look for files nor bind threads; would catch an answer there that does not
// help.
TEST_F(Sandbox, RefusedCalls) {
  Words outside = refusing(EPERM);
  if (const Result result = in(outside, a_job()); result.status != 0) {
    ASSERT_NE(result.err.find("hwloc finds no processors here: set HWLOC_SYNTHETIC=pu:1\n"),
              std::string::npos)
        << result.err;
    outside.insert(outside.begin(), {"env", "HWLOC_SYNTHETIC=pu:1"});
  }
  expect_works(outside, {"", "eth", "ofi-tcp", "ucx-tcp"});
}
TEST_F(Sandbox, UnknownCalls) {
  expect_works(refusing(ENOSYS), {"", "eth"});
}

// Would catch: a start that never ends, for hwloc asks again and again; an answer that does not
// help.
TEST_F(Sandbox, NobodyTellsTheProcessors) {
  Words outside{DENY, std::to_string(EPERM), std::to_string(SYS_sched_getaffinity)};
  const Result result = in(outside, a_job());
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_EQ(count(result.err, "sched_getaffinity(): "), 1u) << result.err;
  EXPECT_NE(result.err.find("set HWLOC_SYNTHETIC=pu:1\n"), std::string::npos) << result.err;
  outside.insert(outside.begin(), {"env", "HWLOC_SYNTHETIC=pu:1"});
  expect_works(outside, {""});
}

// Would catch: a launcher that goes round and round, or ends without a word, because a call fails
// that it cannot do without.
TEST_F(Sandbox, CallsThatNothingReplaces) {
  for (const auto& [call, name] :
       {std::pair{kPoll, "poll: "}, std::pair{SYS_signalfd4, "signalfd: "},
        std::pair{SYS_epoll_create1, "epoll_create1: "}, std::pair{SYS_eventfd2, "eventfd2: "},
        std::pair{kEpollWait, "epoll_wait: "}, std::pair{SYS_clone, "cannot start a process: "},
        std::pair{SYS_clone3, "cannot start a thread: "}, std::pair{SYS_bind, "bind: "},
        std::pair{SYS_listen, "listen: "}, std::pair{SYS_getsockname, "getsockname: "}}) {
    const Result result = in({DENY, std::to_string(EPERM), std::to_string(call)}, a_job());
    EXPECT_EQ(result.status, 1) << name << result.out << result.err;
    EXPECT_NE(result.err.find(name), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("seccomp profile"), std::string::npos) << result.err;
    EXPECT_LT(result.seconds, 20 * kSlowdown) << name;
  }
}

// Would catch: a job that has no other memory to share.
TEST_F(Sandbox, NoMemfd) {
  expect_works({DENY, std::to_string(EPERM), std::to_string(SYS_memfd_create)}, {""});
}

// Would catch: a warning that no rank gives, for the rank that speaks for its host does not see
// why.
TEST_F(Sandbox, ARankAloneIsRefused) {
  const std::string deny = DENY " " + std::to_string(EPERM) + " " + std::to_string(SYS_bind);
  const Result result =
      Command({run_command(), "run", "-n", "3", "--timeout", "100", "--set",
               "conduits.eth.device=lo", "--set", "peers=[{use: [self, shm, eth]}]", "--", "sh",
               "-c", "[ $PMIX_RANK = 2 ] || exec \"$@\"; exec " + deny + " \"$@\"", "sh",
               SPEC_PROGRAM, "versions"})
          .run(120.0);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(count(result.err, "rank 2/3: warning: conduit eth"), 1u) << result.err;
  EXPECT_EQ(count(result.err, "warning"), 1u) << result.err;
}

// Would catch: a start, a choice of processors or a look at a neighbour that needs the kernel's
// files. (UCX needs them.)
TEST_F(Sandbox, NoKernelFiles) {
  expect_works(namespaces("-m", "mount -t tmpfs none /sys; mount -t tmpfs none /proc"),
               {"", "eth", "ofi-tcp"});
}

// Would catch: queues or segments that need the room of /dev/shm; a start that needs rights.
TEST_F(Sandbox, RootlessWithLittleSharedMemory) {
  Words outside =
      namespaces("-Urmpf", "mount -t proc none /proc; mount -t tmpfs -o size=64m none /dev/shm");
  if (!outside.empty() && ::geteuid() == 0) {
    const std::string user = std::to_string(1'000'000 + 2 * ::getpid());
    const Words become{"setpriv", "--reuid", user, "--regid", user, "--clear-groups"};
    outside.insert(outside.begin(), become.begin(), become.end());
    Words reach = become;
    reach.insert(reach.end(), {run_command(), "--version"});
    if (Command(reach).run().status != 0)
      GTEST_SKIP() << "other users cannot execute " << run_command() << ", or there is no setpriv";
  }
  expect_works(outside, {"", "eth"});
}

// Would catch: sockets of a family that is not there.
TEST_F(Sandbox, NoIPv6) {
  expect_works(namespaces("-n", "ip link set lo up; sysctl -qw net.ipv6.conf.all.disable_ipv6=1"),
               {"", "eth", "ofi-tcp", "ucx-tcp"});
}

// The launcher's server speaks IPv4 within a host. Would catch: a wait for a connection that cannot
// come, and an answer that does not say what is missing.
TEST_F(Sandbox, NoIPv4IsSaid) {
  const Words outside = namespaces("-n", "ip link set lo up; ip addr del 127.0.0.1/8 dev lo");
  if (outside.empty()) GTEST_SKIP() << "such namespaces cannot be made here";
  const Result result = in(outside, a_job());
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_NE(result.err.find("loopback interface with IPv4"), std::string::npos) << result.err;
  EXPECT_EQ(count(result.err, "\n"), 1u) << result.err;
}

}  // namespace
}  // namespace launch_test
