// Registrations of local buffers that the core did not register, kept for the next use.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "options.h"

namespace causeway::verbs {

// What registrations of local buffers allow. An int: the macro ibv_reg_mr compares what it is given
// with another enumeration.
inline constexpr int local_access = IBV_ACCESS_LOCAL_WRITE;

struct Lease {
  ibv_mr* mr = nullptr;
  uint64_t base = 0, length = 0;  // whole pages
  uint32_t users = 0;
  bool writable = false;
  bool stale = false;                // its memory was unmapped: no new users
  bool keep = false;                 // outlives its users
  std::list<Lease*>::iterator idle;  // while nobody uses it
};

// Says which memory of this process was unmapped, moved or given back to the kernel. The kernel
// makes the thread that does so wait until the monitor has read the notice; the monitor takes the
// lock first and reads then. So whoever calls `take` after munmap has returned gets its range.
// Nobody allocates or frees memory under the lock: that could be the thread that waits.
class Watcher {
 public:
  struct Range {
    uint64_t begin, end;
  };
  static constexpr uint32_t room = 512;

  Watcher();
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  bool usable() const { return fd_ >= 0; }
  const char* why() const { return why_; }  // not usable
  // Whole pages. False where the kernel cannot watch such memory (files of some kinds). A watch
  // ends with its memory: two leases may share a page, and notices nobody needs cost little.
  bool watch(uint64_t base, uint64_t length);
  // What went away since the last call, at most `room` ranges; `everything`: there were more.
  uint32_t take(Range* out, bool& everything);

 private:
  void run();

  int fd_ = -1, stop_ = -1;
  const char* why_ = "";
  std::mutex mutex_;  // guards what follows
  Range gone_[room];
  uint32_t count_ = 0;
  bool overflow_ = false;
  std::thread monitor_;
};

// One thread at a time: the domain's gate.
class Leases {
 public:
  Leases(ibv_pd* pd, RegistrationCache mode, uint64_t idle_bytes_max);
  ~Leases();
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;
  // A registration that covers [base, base+length); `write`: for results. NULL: errno says why.
  Lease* take(const void* base, size_t length, bool write);
  void give_back(Lease* lease);

  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }
  uint64_t invalidated() const { return invalidated_; }
  // Why nothing is kept although it should be; "" otherwise.
  const char* unwatched_why() const { return unwatched_why_; }

 private:
  void start_watching();
  Lease* find(uint64_t base, uint64_t length, bool write);
  ibv_mr* make(Lease& lease, bool write);
  void forget_what_went_away();
  void forget(uint64_t begin, uint64_t end);
  void drop(Lease* lease);
  void drop_idle(Lease* lease);

  ibv_pd* pd_;
  RegistrationCache mode_;
  bool started_ = false;
  uint64_t idle_max_, idle_bytes_ = 0;
  std::unique_ptr<Watcher> watcher_;
  Watcher::Range gone_[Watcher::room];  // taken over, outside of the watcher's lock
  std::multimap<uint64_t, std::unique_ptr<Lease>> by_base_;
  std::list<Lease*> idle_;  // least recently used first
  uint64_t longest_ = 0;    // how far a lease can reach behind its base
  uint64_t hits_ = 0, misses_ = 0, invalidated_ = 0;
  const char* unwatched_why_ = "";
};

}  // namespace causeway::verbs
