// Time limits: every wait of the suite ends, and says what it waited for.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace causeway::conformance {

// Sanitizers slow everything, and so do emulated machines (--slow, set before the partner's process
// exists); limits and volumes follow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline uint32_t kSlowdown = 8;
#else
inline uint32_t kSlowdown = 1;
#endif

inline uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

// A wait that did not end. Fails the case it escapes from.
class Stuck : public std::exception {
 public:
  explicit Stuck(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// A capability that the conduit lacks, found while the case was already running.
struct Skip {
  std::string capability;
};

class Deadline {
 public:
  explicit Deadline(std::string what, double seconds = 10.0)
      : what_(std::move(what)),
        end_(now_ns() + static_cast<uint64_t>(seconds * 1e9) * kSlowdown),
        seconds_(seconds * kSlowdown) {}

  bool passed() const { return now_ns() >= end_; }
  // Throws Stuck once the time is over.
  void check() const;

 private:
  std::string what_;
  uint64_t end_;
  double seconds_;
};

}  // namespace causeway::conformance
