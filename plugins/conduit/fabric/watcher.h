// Tells which memory of this process went away.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <thread>

namespace causeway::fabric {

// Says which memory of this process was unmapped, moved or given back to the kernel. The kernel
// makes the thread that does so wait until the monitor has read the notice; the monitor takes the
// lock first and reads then. So a caller of `take` after munmap has returned gets its range. No
// thread allocates or frees memory under the lock: that could be the thread that waits.
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
  // ends with its memory: two leases may share a page, and a needless notice costs little.
  bool watch(uint64_t base, uint64_t length);
  // What went away since the last call, at most `room` ranges; `everything`: there were more.
  uint32_t take(Range* out, bool& everything);

 private:
  void run();
  void give_up(int error);

  int fd_ = -1, stop_ = -1;
  const char* why_ = "";
  std::mutex mutex_;  // guards what follows
  Range gone_[room];
  uint32_t count_ = 0;
  bool overflow_ = false;
  std::thread monitor_;
};

}  // namespace causeway::fabric
