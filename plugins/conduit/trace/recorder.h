// Recorder: one rank's trace file, mapped. Recording takes no lock, makes no system call and never
// waits; memory is bounded by the file's size.
#pragma once

#include <causeway/plugin.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "format.h"

namespace causeway::trace {

class Recorder {
 public:
  // Opens or replaces the file and takes its space. NULL: `why` says what failed.
  static std::unique_ptr<Recorder> open(const std::string& path, uint64_t bytes,
                                        const cwy_services& services, const char* over,
                                        std::string& why);
  // Says that the end was in order, and gives back space that was not used.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  uint64_t now() const { return now_(); }
  // `at` and `duration` by now().
  struct Event {
    uint8_t operation, phase;
    uint32_t peer;
    uint64_t size, tag;
    cwy_status status;
    uint64_t at, duration;
  };
  void record(const Event& event) {
    // Relaxed: a number of its own for each record, nothing more. Two threads share a record only
    // if one falls a whole file behind; the reader then sees a record of mixed fields.
    const uint64_t n =
        std::atomic_ref<uint64_t>(header_->count).fetch_add(1, std::memory_order_relaxed);
    cwyt_record& r = records_[n % capacity_];
    // Before anything else: a reader of a file whose writer was killed here sees that this is no
    // record. Acquire keeps the stores that follow behind it.
    std::atomic_ref<uint8_t> generation(r.generation);
    generation.exchange(0, std::memory_order_acquire);
    r.time_ns = event.at - begin_;
    r.size = event.size;
    r.duration_ns = event.duration;
    r.tag = event.tag;
    r.peer = event.peer;
    r.thread = own_thread();
    r.operation = event.operation;
    r.phase = event.phase;
    r.status = static_cast<int8_t>(std::clamp<cwy_status>(event.status, INT8_MIN, INT8_MAX));
    generation.store(cwyt_generation(n, capacity_), std::memory_order_release);
  }

 private:
  Recorder() = default;
  static uint32_t own_thread() {
    static thread_local const auto number = static_cast<uint32_t>(::gettid());
    return number;
  }
  int fd_ = -1;
  size_t length_ = 0;
  cwyt_header* header_ = nullptr;
  cwyt_record* records_ = nullptr;
  uint64_t capacity_ = 0, begin_ = 0;
  uint64_t (*now_)(void) = nullptr;
};

}  // namespace causeway::trace
