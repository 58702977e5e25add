// Verdict: what the job's status is, and who is to blame. Pure bookkeeping, no system calls.
//
// Precedence: the launcher was told to stop (128+signal) or ran out of time (124), the program
// could not be executed (127, 126), a rank asked to abort, the first death by a signal
// (128+signal), the first non-zero status, 0. Failures that the job goes on after count only when
// one of them was not made good: no spare took the rank's place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace causeway::launch {

class Verdict {
 public:
  void set_final(int status) {
    if (final_ < 0) final_ = status & 0xff;
  }
  void saw_signal(int signal) {
    if (signal_ == 0) signal_ = signal;
  }
  void saw_status(int status) {
    if (status_ == 0) status_ = status;
  }
  // A rank failed, by a signal or else with a status, and the job goes on.
  void saw_failure(int signal, int status) {
    if (signal != 0 && failed_signal_ == 0) failed_signal_ = signal;
    if (signal == 0 && failed_status_ == 0 && status_ == 0) failed_status_ = status;
    ++unrepaired_;
  }
  void made_good() { --unrepaired_; }
  // A failure counts although it was made good.
  void forgive_nothing() { forgives_ = false; }
  int status() const {
    if (final_ >= 0) return final_;
    const bool failed = unrepaired_ != 0 || !forgives_;
    if (signal_ != 0) return 128 + signal_;
    if (failed && failed_signal_ != 0) return 128 + failed_signal_;
    return failed && failed_status_ != 0 ? failed_status_ : status_;
  }

 private:
  int final_ = -1;
  int signal_ = 0;
  int status_ = 0;
  int failed_signal_ = 0;
  int failed_status_ = 0;
  int unrepaired_ = 0;
  bool forgives_ = true;
};

// "was killed by signal 11 (Segmentation fault)", "exited with status 3".
std::string describe_end(int wait_status);

// "ranks 0-2,5", "rank 1": in ascending order; nothing where there is none.
std::string ranks_text(const std::vector<uint32_t>& ranks);

}  // namespace causeway::launch
