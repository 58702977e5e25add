#include "api/gaspi/passive.h"

#include <sched.h>

#include <algorithm>
#include <chrono>

#include "api/gaspi/world.h"
#include "base/clock.h"
#include "kinds/places.h"
#include "process/progress_thread.h"
#include "progress/poll.h"

namespace causeway::gaspi {

gaspi_return_t Passive::send(const void* data, uint64_t size, uint32_t rank, Deadline& deadline) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [n, s] : sends_)
      if (!s.waited && s.data == data && s.size == size && s.rank == rank) number = n;
    if (number == 0) {
      if (sends_.size() >= world_.config.passive_queue_size_max) return GASPI_ERROR;
      number = next_++;
      sends_[number] = {data, size, rank};
      post(world_, rank, ControlMessage::passive_ready, {number, size});
    }
    sends_[number].waited = true;
  }
  const gaspi_return_t result = wait_for(deadline, [&] {
    const std::lock_guard lock(mutex_);
    const auto found = sends_.find(number);
    if (found == sends_.end()) return GASPI_ERROR;  // purged
    if (found->second.taken) return GASPI_SUCCESS;
    return world_.usable[rank].load(std::memory_order_relaxed) ? GASPI_TIMEOUT : GASPI_ERROR;
  });
  const std::lock_guard lock(mutex_);
  const auto found = sends_.find(number);
  if (found == sends_.end()) return result;
  found->second.waited = false;
  if (result != GASPI_TIMEOUT) sends_.erase(found);
  return result;
}

void Passive::forget(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  std::erase_if(sends_, [rank](const auto& entry) { return entry.second.rank == rank; });
  std::erase_if(offers_, [rank](const Offer& o) { return o.from == rank && !o.arrived; });
  for (Offer& o : offers_)
    if (o.from == rank) o.number = 0;
}

gaspi_return_t Passive::take(void* to, uint64_t room, gaspi_rank_t* from) {
  const std::lock_guard lock(mutex_);
  const auto here = std::ranges::find(offers_, true, &Offer::arrived);
  if (here != offers_.end()) {
    if (here->text.size() > room) return GASPI_ERR_INV_SIZE;
    causeway::copy_bytes("gaspi_passive_receive()", to, here->text.data(), here->text.size());
    *from = static_cast<gaspi_rank_t>(here->from);
    if (here->number != 0) post(world_, here->from, ControlMessage::passive_taken, {here->number});
    offers_.erase(here);
    return GASPI_SUCCESS;
  }
  // Data is asked of a single sender at a time: a receiver that gives up leaves the others' data
  // with them. A sender that has stopped holds the others up for this long only (9.1: fairness).
  constexpr uint64_t kPatience = 20'000'000;  // ns
  const auto next = std::ranges::find(offers_, false, &Offer::asked);
  if (next == offers_.end()) return GASPI_TIMEOUT;
  const uint64_t now = now_ns();
  if (next != offers_.begin() && now - last_asked_.load(std::memory_order_relaxed) < kPatience)
    return GASPI_TIMEOUT;
  next->asked = true;
  last_asked_.store(now, std::memory_order_relaxed);
  post(world_, next->from, ControlMessage::passive_go, {next->number});
  return GASPI_TIMEOUT;
}

void Passive::forget_memory(const char* base, uint64_t size) {
  const std::lock_guard lock(mutex_);
  std::erase_if(sends_, [&](const auto& entry) {
    const Send& s = entry.second;
    const auto* const data = static_cast<const char*>(s.data);
    if (data < base || data >= base + size || s.taken) return false;
    post(world_, s.rank, ControlMessage::passive_cancel, {entry.first});
    return true;
  });
}

// Sleeps until there is news that the caller has not `seen`, or it is time to look again.
void Passive::sleep(Deadline& deadline, uint64_t seen) {
  constexpr uint64_t kLookAgain = 50'000'000;  // ns: news are never lost, only time
  const uint64_t limit = std::min(kLookAgain, deadline.left_ns());
  if (!progress_thread_configured()) return nap(limit);
  std::unique_lock lock(world_.news_mutex);
  world_.news.wait_for(lock, std::chrono::nanoseconds(limit),
                       [&] { return world_.news_count != seen; });
}

gaspi_return_t Passive::receive(void* to, uint64_t room, gaspi_rank_t* from, Deadline& deadline) {
  // A wake-up takes as long as ten messages: the receiver looks for this long, from its last
  // question on.
  constexpr uint64_t kLook = 50'000;  // ns
  gaspi_return_t result = take(to, room, from);
  for (int polls = 0; result == GASPI_TIMEOUT && polls < 2; ++polls) {
    poll_for_client();
    result = take(to, room, from);
  }
  if (result != GASPI_TIMEOUT || deadline.is_test()) return result;
  deadline.start();
  LastingWait wait(deadline.subject());
  const uint64_t came = now_ns();
  do {
    wait.look();
    const uint64_t seen = (std::lock_guard(world_.news_mutex), world_.news_count);
    if ((result = take(to, room, from)) != GASPI_TIMEOUT) return result;
    const bool moved = poll_once() != 0;
    // Relaxed: written by this thread, or one that receives beside it.
    if (now_ns() < std::max(came, last_asked_.load(std::memory_order_relaxed)) + kLook) {
      if (!moved) ::sched_yield();
    } else if (!moved || progress_thread_configured()) {
      sleep(deadline, seen);  // a nap does not see what this poll has brought
    }
  } while (!deadline.expired());
  return take(to, room, from);
}

void Passive::purge() {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, send] : sends_)
    if (!send.taken) post(world_, send.rank, ControlMessage::passive_cancel, {number});
  sends_.clear();
}

void Passive::on_control_message(uint32_t from, ControlMessage message, const Header& header,
                                 std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto offer = std::ranges::find_if(
      offers_, [&](const Offer& o) { return o.from == from && o.number == header.a; });
  const auto send = sends_.find(header.a);
  const bool known = send != sends_.end() && send->second.rank == from;
  switch (message) {
    case ControlMessage::passive_ready:
      offers_.push_back({from, header.a, header.b, false, false, {}});
      break;
    case ControlMessage::passive_go:
      if (known) {
        std::string data(send->second.size, '\0');
        causeway::copy_bytes("gaspi_passive_send()", data.data(), send->second.data, data.size());
        post(world_, from, ControlMessage::passive_data, {header.a}, std::move(data));
      } else {
        post(world_, from, ControlMessage::passive_cancel, {header.a});
      }
      break;
    case ControlMessage::passive_data:
      if (offer == offers_.end()) break;
      offer->arrived = true;
      offer->text = std::move(text);
      break;
    case ControlMessage::passive_taken:
      if (known) send->second.taken = true;
      break;
    default:  // cancelled
      if (offer != offers_.end()) offers_.erase(offer);
  }
}

}  // namespace causeway::gaspi
