// Verdict: what the job's status is, and who is to blame. Pure bookkeeping, no system calls.
//
// Precedence: the launcher was told to stop (128+signal) or ran out of time (124), the program
// could not be executed (127, 126), a rank asked to abort, the first death by a signal
// (128+signal), the first non-zero status, 0.
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
  int status() const {
    if (final_ >= 0) return final_;
    return signal_ != 0 ? 128 + signal_ : status_;
  }

 private:
  int final_ = -1;
  int signal_ = 0;
  int status_ = 0;
};

// "was killed by signal 11 (Segmentation fault)", "exited with status 3".
std::string describe_end(int wait_status);

// "0-2,5": ranks in ascending order.
std::string rank_list(const std::vector<uint32_t>& ranks);

}  // namespace causeway::launch
