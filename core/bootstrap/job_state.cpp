#include "bootstrap/job_state.h"

#include <fmt/core.h>

#include "base/quiet_thread.h"

namespace causeway {

void JobState::died(uint32_t rank, const std::string& how) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || !dead_.emplace(rank, how).second) return;
  if (!first_) first_ = rank;
  ++deaths_;
  ++changes_;
  last_ = {rank, how};
  if (rank < size_)
    undelivered_.emplace_back([rank, how](const Callbacks& want) { want.death(rank, how); });
  start_messenger();
}

void JobState::revive(uint32_t rank) {
  dead_.erase(rank);
  if (first_ == rank) first_.reset();
  if (!first_ && !dead_.empty()) first_ = dead_.begin()->first;
}

void JobState::replaced(uint32_t rank, uint32_t epoch) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  revive(rank);
  ++changes_;
  undelivered_.emplace_back([rank, epoch](const Callbacks& want) {
    if (want.replacement) want.replacement(rank, epoch);
  });
  start_messenger();
}

void JobState::departed(uint32_t rank) {
  tell([rank](const Callbacks& want) {
    if (want.departure) want.departure(rank);
  });
}

void JobState::all_leave() {
  tell([](const Callbacks& want) {
    if (want.all_leave) want.all_leave();
  });
}

void JobState::tell(News news) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  undelivered_.push_back(std::move(news));
  start_messenger();
}

void JobState::placed(uint32_t rank, uint32_t epoch) {
  const std::lock_guard lock(mutex_);
  revive(rank);
  place_ = {rank, epoch};
  changed_.notify_all();
}

void JobState::start_messenger() {
  if (callbacks_.death && !messenger_.joinable()) messenger_ = quiet_thread([this] { deliver(); });
  changed_.notify_all();
  news_.notify_all();
}

void JobState::stop() {
  std::thread messenger;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    callbacks_ = {};
    messenger = std::move(messenger_);
  }
  news_.notify_all();
  if (!messenger.joinable()) return;
  // A callback that ends the process comes through here on the messenger itself.
  if (messenger.get_id() == std::this_thread::get_id())
    messenger.detach();
  else
    messenger.join();
}

void JobState::deliver() {
  ::pthread_setname_np(::pthread_self(), "cwy-news");  // for debuggers
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [this] { return stopping_ || (callbacks_.death && !undelivered_.empty()); });
    if (stopping_) return;
    const News news = std::move(undelivered_.front());
    undelivered_.pop_front();
    const Callbacks callbacks = callbacks_;
    lock.unlock();
    news(callbacks);
    lock.lock();
  }
}

void JobState::complete(Wait& wait, int result) {
  const std::lock_guard lock(mutex_);
  wait.result = result;
  changed_.notify_all();
}

JobState::Outcome JobState::wait_for(Wait& wait, std::chrono::nanoseconds limit, Known known) {
  std::unique_lock lock(mutex_);
  // A rank that dies meanwhile may have been replaced before this thread looks. The new process
  // takes no part in what this thread waits for, so the count of deaths is compared.
  const uint64_t before = deaths_;
  const auto died = [&] {
    return known ? changes_ != *known : first_.has_value() || deaths_ != before;
  };
  const auto ready = [&] { return wait.result.has_value() || died(); };
  if (!changed_.wait_for(lock, limit, ready)) return Outcome::timeout;
  // Others may have left already, who had the same answer.
  if (known && wait.result) return Outcome::done;
  return died() ? Outcome::death : Outcome::done;
}

bool JobState::wait_for_death(std::chrono::nanoseconds limit, Known known) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit,
                           [&] { return known ? changes_ != *known : first_.has_value(); });
}

uint64_t JobState::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

std::optional<std::pair<uint32_t, uint32_t>> JobState::wait_for_place(
    std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return place_ || dead_.count(size_) != 0; });
  return place_;
}

bool JobState::is_dead(uint32_t rank) const {
  const std::lock_guard lock(mutex_);
  return dead_.count(rank) != 0;
}

std::string JobState::death_of(uint32_t rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = dead_.find(rank);
  return found == dead_.end() ? "" : fmt::format("rank {} {}", rank, found->second);
}

std::string JobState::first_death() const {
  const std::lock_guard lock(mutex_);
  if (!first_ && deaths_ != 0) return fmt::format("rank {} {}", last_.first, last_.second);
  if (!first_) return "";
  if (*first_ >= size_) return "the launcher " + dead_.at(*first_);
  return fmt::format("rank {} {}", *first_, dead_.at(*first_));
}

}  // namespace causeway
