// Registrations of local buffers that the core did not register, kept for the next use.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>

#include "../common/plugin_services.h"
#include "options.h"
#include "watcher.h"

namespace causeway::fabric {

// The ways in which operations use a registered local buffer.
enum class Access : uint8_t { read_and_write, read };

template <class N>
struct Lease {
  std::unique_ptr<char[]> copy;  // of a buffer that cannot be registered; outlives `registration`
  typename N::Registration registration{};
  uint64_t base = 0, length = 0;  // whole pages, or the copy
  uint32_t users = 0;
  bool writable = true;
  bool stale = false;                        // its memory was unmapped: no new users
  bool keep = false;                         // outlives its users
  Lease *older = nullptr, *newer = nullptr;  // among those kept without users
};

// Used by one thread at a time: the domain's gate.
template <class N>
class Leases {
 public:
  struct Bounds {
    uint64_t count, bytes;  // of leases that are kept without users
  };
  Leases(cwyc_domain* domain, Caching mode, Bounds idle_most)
      : domain_(domain), mode_(mode), most_(idle_most) {}
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  // A registration that covers [base, base+length); `write`: for results, other buffers may be
  // given a copy. NULL: `error` is the network's.
  Lease<N>* take(const void* base, size_t length, bool write, int& error) {
    const auto begin = reinterpret_cast<uint64_t>(base);
    if (!started_) start_watching();
    forget_what_went_away();
    if (Lease<N>* lease = find(begin, length, write)) {
      ++hits_;
      if (lease->users++ == 0) unkeep(*lease);
      return lease;
    }
    ++misses_;
    return make(base, length, write, error);
  }

  void give_back(Lease<N>* lease) {
    if (--lease->users != 0) return;
    if (lease->stale || !lease->keep || lease->length > most_.bytes) return drop(lease);
    lease->older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = lease;
    newest_ = lease;
    ++idle_.count;
    idle_.bytes += lease->length;
    evict(most_);
  }

  // Ends what is kept without users, so that another registration finds room. False: there was
  // nothing.
  bool make_room() {
    if (idle_.count == 0) return false;
    evict({0, 0});
    return true;
  }

  // Ends all of them. Nothing may be in the network's hands.
  void clear() {
    by_base_.clear();
    oldest_ = newest_ = nullptr;
    idle_ = {0, 0};
  }

  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }
  uint64_t invalidated() const { return invalidated_; }

 private:
  // The watcher and its thread come with the first buffer that needs one.
  void start_watching() {
    started_ = true;
    if (mode_ != Caching::watch) return;
    watcher_ = std::make_unique<Watcher>();
    if (watcher_->usable()) return;
    conduit::log(CWY_LOG_INFO,
                 "memory cannot be watched (userfaultfd: %s): registrations of local buffers end "
                 "with their last use",
                 watcher_->why());
    watcher_.reset();
    mode_ = Caching::in_flight;
  }

  void unkeep(Lease<N>& lease) {
    (lease.older != nullptr ? lease.older->newer : oldest_) = lease.newer;
    (lease.newer != nullptr ? lease.newer->older : newest_) = lease.older;
    lease.older = lease.newer = nullptr;
    --idle_.count;
    idle_.bytes -= lease.length;
  }

  // Ends a lease without users that is not among those kept.
  void drop(Lease<N>* lease) {
    const auto [first, last] = by_base_.equal_range(lease->base);
    for (auto at = first; at != last; ++at) {
      if (at->second.get() != lease) continue;
      by_base_.erase(at);
      return;
    }
  }

  // Ends the leases longest unused until no more than so many are kept.
  void evict(const Bounds& most) {
    while (idle_.count > most.count || idle_.bytes > most.bytes) {
      Lease<N>* const lease = oldest_;
      unkeep(*lease);
      drop(lease);
    }
  }

  void forget(uint64_t begin, uint64_t end) {
    auto at = by_base_.lower_bound(begin > longest_ ? begin - longest_ : 0);
    while (at != by_base_.end() && at->first < end) {
      Lease<N>* lease = at->second.get();
      ++at;  // the lease may go
      if (lease->base + lease->length <= begin || lease->stale) continue;
      ++invalidated_;
      lease->stale = true;
      if (lease->users != 0) continue;
      unkeep(*lease);
      drop(lease);
    }
  }

  void forget_what_went_away() {
    if (watcher_ == nullptr) return;
    bool everything = false;
    const uint32_t n = watcher_->take(gone_, everything);
    if (everything) return forget(0, UINT64_MAX);
    for (uint32_t i = 0; i < n; ++i) forget(gone_[i].begin, gone_[i].end);
  }

  Lease<N>* find(uint64_t base, uint64_t length, bool write) {
    // Neighbours that begin at or before `base` are looked at while they are near; a program that
    // reuses buffers meets its lease at once.
    auto at = by_base_.upper_bound(base);
    for (int looked = 0; at != by_base_.begin() && looked < 8; ++looked) {
      --at;
      Lease<N>& lease = *at->second;
      if (!lease.stale && base + length <= lease.base + lease.length && (lease.writable || !write))
        return &lease;
    }
    return nullptr;
  }

  // Registers; where there is no room for another registration, in place of what is kept and not
  // used.
  int attempt(Lease<N>& lease, Access access) {
    const auto once = [&] {
      return N::register_buffer(domain_, reinterpret_cast<void*>(lease.base), lease.length, access,
                                lease.registration);
    };
    const int error = once();
    return means_no_room(error) && make_room() ? once() : error;
  }

  // Networks have errors of their own beside the system's, so the errors are named that say
  // something else: of the buffer, or of the call.
  static bool means_no_room(int error) {
    switch (std::abs(error)) {
      case 0:
      case EFAULT:
      case EACCES:
      case EPERM:
      case EINVAL:
      case EOPNOTSUPP:
        return false;
      default:
        return true;
    }
  }

  Lease<N>* make(const void* base, size_t length, bool write, int& error) {
    static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<uint64_t>(base);
    auto lease = std::make_unique<Lease<N>>();
    lease->base = begin / page * page;
    lease->length = (begin + length - lease->base + page - 1) / page * page;
    // Watched before it is registered: nothing is missed between the two.
    lease->keep = mode_ == Caching::keep ||
                  (watcher_ != nullptr && watcher_->watch(lease->base, lease->length));
    error = attempt(*lease, Access::read_and_write);
    lease->writable = error == 0;
    if (error != 0 && !write) error = attempt(*lease, Access::read);  // constants
    // A copy has no more room than its original.
    const bool full = std::abs(error) == ENOMEM || std::abs(error) == EAGAIN;
    if (error != 0 && !full && !write) error = register_copy(*lease, base, length);
    if (error != 0) return nullptr;
    lease->users = 1;
    longest_ = std::max(longest_, lease->length);
    const uint64_t key = lease->base;
    return by_base_.emplace(key, std::move(lease))->second.get();
  }

  // Some adapters want to write to whatever is registered, and constants do not allow that.
  int register_copy(Lease<N>& lease, const void* base, size_t length) {
    lease.copy.reset(new (std::nothrow) char[length]);
    if (lease.copy == nullptr) return ENOMEM;
    std::memcpy(lease.copy.get(), base, length);
    lease.base = reinterpret_cast<uint64_t>(lease.copy.get());
    lease.length = length;
    lease.keep = false;
    return attempt(lease, Access::read_and_write);
  }

  cwyc_domain* domain_;
  Caching mode_;
  Bounds most_, idle_{0, 0};
  bool started_ = false;
  std::unique_ptr<Watcher> watcher_;
  Watcher::Range gone_[Watcher::room];  // taken over, outside of the watcher's lock
  // By address; several may begin at one address.
  std::multimap<uint64_t, std::unique_ptr<Lease<N>>> by_base_;
  Lease<N>*oldest_ = nullptr, *newest_ = nullptr;  // of those kept without users
  uint64_t longest_ = 0;                           // how far a lease can reach behind its base
  uint64_t hits_ = 0, misses_ = 0, invalidated_ = 0;
};

// A registration that is not a lease: `once` tries, and tries again in place of leases that are
// kept without users. True when it is made.
template <class Domain, typename Once>
bool register_with_room(Domain& domain, Once&& once) {
  return once() || (domain.leases != nullptr && domain.leases->make_room() && once());
}

}  // namespace causeway::fabric
