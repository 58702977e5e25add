// Processes whose ends are looked for together: a look costs the same, however many there are.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>

#include "../common/descriptor.h"

namespace causeway::verbs {

// A set is used by one thread at a time.
class ProcessSet {
 public:
  // False: errno tells the reason. each_ended() hands `owner` out.
  bool add(const Descriptor& process, void* owner) {
    if (!epoll_) epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = owner;
    if (!epoll_ || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, process.get(), &event) != 0) return false;
    ++size_;
    return true;
  }
  // Closes a process that was added. Closing alone would not take it out of the set where a child
  // of a fork has the descriptor too.
  void remove(Descriptor& process) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, process.get(), nullptr);
    process = Descriptor();
    --size_;
  }
  // Calls `each` with the owner of each process that has ended and was not removed. Where more than
  // 64 have ended, a call may stop after the first of them, and the next call goes on behind them.
  // `each` may remove the process of its own owner.
  template <class Owner, class Each>
  void each_ended(Each&& each) const {
    std::array<epoll_event, 64> ended;
    uint32_t before = size_ + 1;
    for (size_t n = ended.size(); n == ended.size() && size_ != 0 && size_ < before;) {
      before = size_;
      n = static_cast<size_t>(std::max(epoll_wait(epoll_.get(), ended.data(), ended.size(), 0), 0));
      std::for_each_n(ended.begin(), n,
                      [&](const epoll_event& e) { each(*static_cast<Owner*>(e.data.ptr)); });
    }
  }
  bool empty() const { return size_ == 0; }
  const Descriptor& descriptor() const { return epoll_; }  // readable when one has ended

 private:
  Descriptor epoll_;
  uint32_t size_ = 0;
};

}  // namespace causeway::verbs
