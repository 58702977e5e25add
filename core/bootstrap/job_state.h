// JobState: which ranks have died. PMIx's thread reports a death, threads of the program wait for
// one, and a thread of its own passes it on to the core, because PMIx's thread must not be blocked
// by what the core does with it. The messenger starts with the callback for deaths, whose caller
// hears where there can be no further thread: PMIx's thread could not be told.
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
  // As Bootstrap's on_death() and so on have them.
  struct Callbacks {
    std::function<void(uint32_t rank, const std::string& how)> death;
    std::function<void(uint32_t rank, uint32_t epoch)> replacement;
    std::function<void(uint32_t rank)> departure;
    std::function<void()> all_leave;
  };

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
  // News wait until there is a callback for deaths.
  template <typename Callback>
  void set(Callback Callbacks::*which, Callback callback) {
    const std::lock_guard lock(mutex_);
    callbacks_.*which = std::move(callback);
    start_messenger();
  }
  // No callback runs when this returns, or ever after. Not from within a callback.
  void stop();

  // A collective operation in flight.
  struct Wait {
    std::optional<int> result;  // PMIx's status
  };
  void complete(Wait& wait, int result);

  enum class Outcome { done, death, timeout };
  // A death ends the wait: each that is known, or the first one behind so many changes.
  using Known = std::optional<uint64_t>;
  Outcome wait_for(Wait& wait, std::chrono::nanoseconds limit, Known known);

  // True when a death is known now or becomes known within `limit`; or a change behind so many.
  bool wait_for_death(std::chrono::nanoseconds limit, Known known);
  // Deaths and replacements so far.
  uint64_t changes() const;

  // The place given to this process. nullopt after `limit`, and when the launcher is gone.
  std::optional<std::pair<uint32_t, uint32_t>> wait_for_place(std::chrono::nanoseconds limit);

  bool is_dead(uint32_t rank) const;
  // "rank 2 was killed by signal 9 (Killed)": the first of the ranks that are dead now, or else the
  // last one that died; "" when none ever did.
  std::string first_death() const;
  std::string death_of(uint32_t rank) const;

 private:
  using News = std::function<void(const Callbacks&)>;
  void tell(News news);
  void deliver();
  // These want the mutex held.
  void revive(uint32_t rank);
  void start_messenger();

  const uint32_t size_;
  mutable std::mutex mutex_;
  // The messenger waits for `news_` alone: exit() in a signal's handler, which has interrupted a
  // wait for `changed_`, stops the messenger.
  std::condition_variable changed_, news_;
  std::map<uint32_t, std::string> dead_;
  std::optional<uint32_t> first_;
  uint64_t deaths_ = 0, changes_ = 0;      // ever
  std::pair<uint32_t, std::string> last_;  // of them
  std::deque<News> undelivered_;
  Callbacks callbacks_;
  std::optional<std::pair<uint32_t, uint32_t>> place_;
  bool stopping_ = false;
  std::thread messenger_;
};

}  // namespace causeway
