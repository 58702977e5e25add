// JobState: which ranks have died. PMIx's thread reports a death, threads of the program wait for
// one, and a thread of its own passes it on to the core, because PMIx's thread must not be blocked
// by what the core does with it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace causeway {

class JobState {
 public:
  using Callback = std::function<void(uint32_t rank, const std::string& how)>;
  using Replacement = std::function<void(uint32_t rank, uint32_t epoch)>;
  using Departure = std::function<void(uint32_t rank)>;
  using AllLeave = std::function<void()>;

  explicit JobState(uint32_t size) : size_(size) {}
  ~JobState() { stop(); }
  JobState(const JobState&) = delete;

  // The first word on a rank counts. `rank` >= size: the launcher itself is gone.
  void died(uint32_t rank, const std::string& how);
  // A new process has the rank: it is alive again.
  void replaced(uint32_t rank, uint32_t epoch);
  // A rank has left alone, in good order.
  void departed(uint32_t rank);
  // Every rank has come to its end.
  void all_leave();
  // The new process is this one.
  void placed(uint32_t rank, uint32_t epoch);
  void set_callback(Callback callback);
  void set_replacement_callback(Replacement callback);
  void set_departure_callback(Departure callback);
  void set_all_leave_callback(AllLeave callback);
  // No callback runs when this returns, or ever after. Not from within a callback.
  void stop();

  // A collective operation in flight.
  struct Wait {
    std::optional<int> result;  // PMIx's status
  };
  void complete(Wait& wait, int result);

  enum class Outcome { done, death, timeout };
  Outcome wait_for(Wait& wait, std::chrono::nanoseconds limit);

  // True when a death is known now or becomes known within `limit`.
  bool wait_for_death(std::chrono::nanoseconds limit);

  // The place given to this process. nullopt after `limit`, and when the launcher is gone.
  std::optional<std::pair<uint32_t, uint32_t>> wait_for_place(std::chrono::nanoseconds limit);

  bool is_dead(uint32_t rank) const;
  // "rank 2 was killed by signal 9 (Killed)": the first of the ranks that are dead now, or else the
  // last one that died; "" when none ever did.
  std::string first_death() const;
  std::string death_of(uint32_t rank) const;

 private:
  // The news for a callback.
  struct News {
    enum class Kind : uint8_t { death, replacement, departure, all_leave } kind;
    uint32_t rank;
    uint32_t epoch;   // replacement
    std::string how;  // death
  };
  void deliver();
  void start_messenger();

  const uint32_t size_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint32_t, std::string> dead_;
  std::optional<uint32_t> first_;
  uint64_t deaths_ = 0;                    // ever
  std::pair<uint32_t, std::string> last_;  // of them
  std::deque<News> undelivered_;
  Callback callback_;
  Replacement replacement_callback_;
  Departure departure_callback_;
  AllLeave all_leave_callback_;
  std::optional<std::pair<uint32_t, uint32_t>> place_;
  bool stopping_ = false;
  std::thread messenger_;
};

}  // namespace causeway
