// Held back by chaos: reports of completed operations, and received messages.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>

namespace causeway::chaos {

// Reports are made under the lock: `fn` does not communicate, and so `purge` can promise that none
// is on its way when it returns.
class HeldReports {
 public:
  void hold(const cwyc_conn* conn, cwyc_op* op, uint32_t what, cwy_status status, uint64_t due) {
    const std::lock_guard lock(mutex_);
    reports_.push_back({conn, op, what, status, due});
    waiting_.store(reports_.size(), std::memory_order_relaxed);
  }
  // Relaxed: a hint for the owner, who comes back anyway.
  bool empty() const { return waiting_.load(std::memory_order_relaxed) == 0; }

  // Reports what is due.
  uint32_t release(uint64_t now) {
    return release_if([&](const Report& r) { return r.due <= now; });
  }
  // Everything of one connection: because the peer failed, or because it ends.
  uint32_t release(const cwyc_conn* conn, cwy_status status) {
    return release_if([&](Report& r) {
      if (r.conn != conn) return false;
      if (status != CWY_OK) r.status = status;
      return true;
    });
  }
  // Takes back the bits of `op` that are held; the caller reports them with others.
  uint32_t take(const cwyc_op* op) {
    const std::lock_guard lock(mutex_);
    uint32_t bits = 0;
    for (auto r = reports_.begin(); r != reports_.end();) {
      if (r->op != op) {
        ++r;
        continue;
      }
      bits |= r->what;
      r = reports_.erase(r);
    }
    waiting_.store(reports_.size(), std::memory_order_relaxed);
    return bits;
  }

 private:
  struct Report {
    const cwyc_conn* conn;
    cwyc_op* op;
    uint32_t what;
    cwy_status status;
    uint64_t due;
  };
  // In order of arrival, so that LOCAL comes before REMOTE of the same operation.
  template <class Which>
  uint32_t release_if(Which&& which) {
    const std::lock_guard lock(mutex_);
    uint32_t released = 0;
    for (auto r = reports_.begin(); r != reports_.end();) {
      if (!which(*r)) {
        ++r;
        continue;
      }
      const Report report = *r;
      r = reports_.erase(r);
      waiting_.store(reports_.size(), std::memory_order_relaxed);
      report.op->fn(report.op, report.what, report.status, nullptr);
      ++released;
    }
    return released;
  }
  std::mutex mutex_;
  std::list<Report> reports_;
  std::atomic<size_t> waiting_{0};
};

// A message that was received and not delivered yet.
struct HeldMessage {
  cwy_peer from;
  uint64_t word, due;
  uint32_t kind, nargs;
  int32_t args[CWYC_AM_MAX_ARGS];
  void* payload;  // a long's own place, or `copy`
  size_t length;
  std::unique_ptr<std::max_align_t[]> copy;
};

class HeldMessages {
 public:
  static constexpr size_t most = 64;  // of one endpoint: what is held is memory

  // False: no room.
  bool hold(HeldMessage&& message) {
    const std::lock_guard lock(mutex_);
    if (messages_.size() >= most) return false;
    messages_.push_back(std::move(message));
    waiting_.store(messages_.size(), std::memory_order_relaxed);
    return true;
  }
  bool empty() const { return waiting_.load(std::memory_order_relaxed) == 0; }  // a hint
  // Removes one that is due. Delivering is the caller's, without the lock: handlers communicate.
  bool take_due(uint64_t now, HeldMessage& out) {
    const std::lock_guard lock(mutex_);
    for (auto m = messages_.begin(); m != messages_.end(); ++m) {
      if (m->due > now) continue;
      out = std::move(*m);
      messages_.erase(m);
      waiting_.store(messages_.size(), std::memory_order_relaxed);
      return true;
    }
    return false;
  }
  void drop_from(cwy_peer peer) {
    const std::lock_guard lock(mutex_);
    messages_.remove_if([&](const HeldMessage& m) {
      return m.from.rank == peer.rank && m.from.epoch == peer.epoch;
    });
    waiting_.store(messages_.size(), std::memory_order_relaxed);
  }

 private:
  std::mutex mutex_;
  std::list<HeldMessage> messages_;
  std::atomic<size_t> waiting_{0};
};

// Empty when there is no memory for the copy.
inline bool copy_message(HeldMessage& m, const int32_t* args, const void* payload) {
  if (m.nargs > CWYC_AM_MAX_ARGS) return false;
  if (m.nargs != 0) std::memcpy(m.args, args, m.nargs * sizeof *args);
  if (m.kind != CWYC_AM_MEDIUM || m.length == 0) return true;
  constexpr size_t unit = sizeof(std::max_align_t);
  m.copy.reset(new (std::nothrow) std::max_align_t[(m.length + unit - 1) / unit]);
  if (!m.copy) return false;
  std::memcpy(m.copy.get(), payload, m.length);
  m.payload = m.copy.get();
  return true;
}

}  // namespace causeway::chaos
