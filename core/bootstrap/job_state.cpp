#include "bootstrap/job_state.h"

#include <fmt/core.h>

#include <utility>

#include "bootstrap/quiet_thread.h"

namespace causeway {

void JobState::died(uint32_t rank, const std::string& how) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || !dead_.emplace(rank, how).second) return;
  if (!first_) first_ = rank;
  if (rank < size_) undelivered_.push_back(rank);
  if (callback_ && !messenger_.joinable()) messenger_ = quiet_thread([this] { deliver(); });
  changed_.notify_all();
}

void JobState::set_callback(Callback callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
  if (callback_ && !undelivered_.empty() && !messenger_.joinable())
    messenger_ = quiet_thread([this] { deliver(); });
  changed_.notify_all();
}

void JobState::stop() {
  std::thread messenger;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    callback_ = nullptr;
    messenger = std::move(messenger_);
  }
  changed_.notify_all();
  if (!messenger.joinable()) return;
  // A callback that ends the process comes through here on the messenger itself.
  if (messenger.get_id() == std::this_thread::get_id()) {
    messenger.detach();
  } else {
    messenger.join();
  }
}

void JobState::deliver() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || (callback_ && !undelivered_.empty()); });
    if (stopping_) return;
    std::vector<uint32_t> batch = std::exchange(undelivered_, {});
    const Callback callback = callback_;
    for (const uint32_t rank : batch) {
      const std::string how = dead_[rank];
      lock.unlock();
      callback(rank, how);
      lock.lock();
      if (stopping_) return;
    }
  }
}

void JobState::complete(Wait& wait, int result) {
  const std::lock_guard lock(mutex_);
  wait.result = result;
  changed_.notify_all();
}

JobState::Outcome JobState::wait_for(Wait& wait, std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  const auto ready = [this, &wait] { return wait.result.has_value() || first_.has_value(); };
  if (!changed_.wait_for(lock, limit, ready)) return Outcome::timeout;
  return first_ ? Outcome::death : Outcome::done;
}

bool JobState::wait_for_death(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return first_.has_value(); });
}

std::string JobState::first_death() const {
  const std::lock_guard lock(mutex_);
  if (!first_) return "";
  if (*first_ >= size_) return "the launcher " + dead_.at(*first_);
  return fmt::format("rank {} {}", *first_, dead_.at(*first_));
}

}  // namespace causeway
