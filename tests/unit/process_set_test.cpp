// Processes whose ends are looked for together (plugins/conduit/verbs/process_set.h).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <deque>
#include <vector>

#include "../../plugins/conduit/verbs/process_set.h"

namespace {
uint32_t g_looks = 0;  // system calls of the set
}

// Stands in the C library's place.
extern "C" [[gnu::visibility("default")]] int epoll_wait(int epoll, epoll_event* events, int most,
                                                         int timeout) {
  ++g_looks;
  return static_cast<int>(syscall(SYS_epoll_pwait, epoll, events, most, timeout, nullptr, 8));
}

namespace causeway::verbs {
namespace {

// A child that sleeps until it is ended.
struct Child {
  pid_t pid = 0;
  Descriptor process;
  uint32_t told = 0;

  Child() : pid(fork()) {
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    process = watch_pid(static_cast<uint32_t>(pid));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  void end() {
    if (pid == 0) return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    pid = 0;
  }
};

void look(const ProcessSet& set) {
  g_looks = 0;
  set.each_ended<Child>([](Child& child) { ++child.told; });
}

// Catches: a look that costs a system call for each process, one that tells twice of an end, or of
// a process that runs, and an end that is missed behind many others.
TEST(ProcessSet, LooksFindThoseThatHaveEndedAmongMany) {
  ProcessSet set;
  std::deque<Child> children(300);
  for (Child& child : children) ASSERT_TRUE(set.add(child.process, &child));
  look(set);
  EXPECT_EQ(g_looks, 1u);
  for (size_t i = 0; i < children.size(); i += 2) children[i].end();
  for (uint32_t looks = 1; looks <= 3; ++looks) {
    look(set);
    EXPECT_EQ(g_looks, 1u);
    for (const Child& child : children) EXPECT_LE(child.told, looks);
  }
  for (size_t i = 0; i < children.size(); ++i) EXPECT_EQ(children[i].told > 0, i % 2 == 0) << i;
}

// Catches: an end that is told of for ever, or once only: the owner decides.
TEST(ProcessSet, AnEndIsToldUntilItsOwnerRemovesIt) {
  ProcessSet set;
  Child child;
  ASSERT_TRUE(set.add(child.process, &child));
  child.end();
  look(set);
  look(set);
  EXPECT_EQ(child.told, 2u);
  set.each_ended<Child>([&set](Child& ended) { set.remove(ended.process); });
  EXPECT_TRUE(set.empty());
  look(set);
  EXPECT_EQ(child.told, 2u);
}

// Catches: ends that wait for another look though their owners have dealt with those in front.
TEST(ProcessSet, OneLookIsEnoughWhereOwnersRemoveTheirs) {
  ProcessSet set;
  std::deque<Child> children(150);
  for (Child& child : children) ASSERT_TRUE(set.add(child.process, &child));
  for (Child& child : children) child.end();
  set.each_ended<Child>([&set](Child& ended) { set.remove(ended.process); });
  EXPECT_TRUE(set.empty());
}

// Catches: an owner that is told of a process that it has removed, and may be gone itself, because
// a child of a fork still has the descriptor.
TEST(ProcessSet, WhatWasRemovedIsNotToldOfBesideAForkedChild) {
  ProcessSet set;
  Child child, other;
  ASSERT_TRUE(set.add(child.process, &child));
  ASSERT_TRUE(set.add(other.process, &other));
  Child later;  // has both descriptors
  set.remove(child.process);
  child.end();
  look(set);
  EXPECT_EQ(child.told, 0u);
  other.end();
  look(set);
  EXPECT_EQ(other.told, 1u);
}

// Catches: a set that holds a descriptor, or asks the kernel, where nothing is watched.
TEST(ProcessSet, AnEmptyOneCostsNothing) {
  const ProcessSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.descriptor());
  look(set);
  EXPECT_EQ(g_looks, 0u);
}

// Catches: a process that counts as watched where no descriptor is left for the set.
TEST(ProcessSet, APlaceThatCannotBeHadIsSaid) {
  ProcessSet set;
  const Descriptor none;
  EXPECT_FALSE(set.add(none, nullptr));
  EXPECT_TRUE(set.empty());
}

}  // namespace
}  // namespace causeway::verbs
