// The objects of the conduit: what stays of a message until it is acknowledged, the two paths to a
// peer, and what is known of the peer.
//
// The core lets one thread at a time into an endpoint (SERIAL); `news` alone is written from
// outside.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../common/count.h"
#include "../common/descriptor.h"
#include "../common/plugin_services.h"
#include "../common/wrapping.h"
#include "wire.h"

namespace causeway::failover {

using conduit::log;
using conduit::services;

struct Flow;
struct Endpoint;

struct Options {
  uint64_t am_medium = 12 << 10;  // the same for all ranks, whichever conduits they can open
  uint64_t window = 64;           // messages per peer and lane that are not acknowledged
  uint64_t probe_after_ns = 200'000'000;  // without an acknowledgement
  uint64_t patience_ns = 300'000'000;     // for the second path's answer, behind the first one's
  uint64_t retry_ns = 1'000'000'000;      // between attempts to take a path again
  uint64_t peer_timeout_ns = 30'000'000'000;  // both paths failing, until a peer is lost
};

// A conduit that stands behind.
struct Behind {
  explicit Behind(const cwy_wrapped& w) : wrapped(w), known(w.module) {
    for (uint32_t i = 0; i < known.table().ops_count; ++i) ops.emplace_back(known.table().ops[i]);
  }
  const cwyc_module& module() const { return known.table(); }

  cwy_wrapped wrapped;
  std::string name;  // as the configuration calls it
  wrapping::TableCopy<cwyc_module> known;
  std::vector<wrapping::TableCopy<cwyc_ops>> ops;
};

struct Front {
  Options options;
  std::array<std::unique_ptr<Behind>, paths> behind;
};

struct Domain {
  Front* front = nullptr;
  std::array<cwyc_domain*, paths> of{};  // NULL: it cannot be opened
};

// A message of the core's, kept until it is acknowledged and no conduit reads it any more.
struct Frame {
  struct Post {
    cwyc_op op{};  // first: a report finds the post by its address
    Frame* frame = nullptr;
    uint8_t path = 0;
  };
  Endpoint* ep = nullptr;
  Frame* next = nullptr;  // of those that are free
  uint64_t number = 0;
  size_t room = 0, length = 0;
  First first{};
  uint8_t reading = 0;  // a bit per path whose conduit has not reported LOCAL
  bool done = false;    // acknowledged, or given up
  std::array<Post, paths> posts;

  std::byte* bytes() { return reinterpret_cast<std::byte*>(this) + padded(sizeof(Frame)); }
};

// Frames of two sizes, which are kept for the next. Bounded by the windows of the peers.
class FramePool {
 public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool();
  Frame* take(size_t length, size_t longest);  // NULL: no memory
  void give(Frame* frame);

 private:
  static constexpr size_t small_room = 512;
  Frame* free_[2] = {};
  std::vector<Frame*> all_;
};

// Invariant of sending: numbers [base, base + count) are kept, in order, at `number % window`; the
// first `posted` of them have been handed to the flow's current path. Of receiving: everything
// below `expected` has arrived, and what `beyond` says of the numbers from there on.
struct Lane {
  static constexpr size_t most_beyond = 4096;
  uint64_t base = 0;
  uint32_t count = 0, posted = 0;
  uint64_t moved_at = 0;  // when number `base` came to be the oldest that is kept
  std::vector<Frame*> kept;
  uint64_t expected = 0;
  std::bitset<most_beyond> beyond;  // by number % most_beyond

  // The frame behind so many others that are kept.
  Frame*& at(uint32_t behind) { return kept[(base + behind) & (kept.size() - 1)]; }
};

enum class PathState : uint8_t { none, down, connecting, up };

struct Path {
  struct ConnectOp {
    cwyc_op op{};  // first
    Flow* flow = nullptr;
    uint8_t path = 0;
  };
  PathState state = PathState::down;
  bool broken = false;    // its connection is to be given up
  bool on_trial = false;  // made again: used when it has answered, or the other one is down
  bool hello_due = false;
  bool answer_due = false;
  bool probed = false;    // the probe under way has been sent
  bool answered = false;  // and answered
  bool bye_sent = false;
  bool tell_loss = false;                 // people are told when the other path turns out to work
  bool told = false;                      // they know
  bool refused = false;                   // the conduit behind says that the peer is gone
  uint64_t failing_since = 0;             // 0: it works, or has never been tried
  uint64_t trial = 0, trial_sent_at = 0;  // the number of the probe that it has to answer
  uint32_t breaks = 0;                    // how often it was given up, by either side
  bool tell_broken = false;               // the peer has to be told of the last one
  uint64_t to_answer = 0;
  uint64_t retry_at = 0, began_at = 0;
  uint64_t backoff = 0;  // until the next attempt
  std::string why;
  std::vector<std::byte> address, wiring;
  std::unique_ptr<std::byte, void (*)(std::byte*)> memory{nullptr, nullptr};  // of `conn`
  ConnectOp connect_op;
  std::vector<std::byte> hello;  // made for this connection, in the hands of the conduit behind
  cwyc_op hello_op{};

  cwyc_conn* conn() const { return reinterpret_cast<cwyc_conn*>(memory.get()); }
};

// An endpoint of a peer that has been connected to, or has been heard of.
struct Flow {
  Endpoint* ep = nullptr;
  cwy_peer peer{};
  uint32_t name = 0;           // of the peer's endpoint
  std::unique_ptr<Flow> next;  // to another endpoint of the process
  cwyc_conn* conn = nullptr;   // the core's, between connect and disconnect
  cwyc_op* connect_op = nullptr;
  bool described = false;  // it can be connected to
  bool confirmed = false;  // it has been heard, so it can connect back
  bool left = false, purged = false;
  bool pushing = false, on_todo = false, watched = false, ack_due = false;
  bool wants_room = false;                   // the path took no more; its conduit wakes who sleeps
  bool chosen = false;                       // paths that lead nowhere are known
  bool suspected = false, reported = false;  // the core knows
  uint64_t lost_at = 0;
  uint32_t same_process = 0, same_host = 0, local_index = 0, pid = 0;
  std::string hostname;
  int current = 0;    // the path that messages take
  int heard = 0;      // the path that the last message came by
  uint32_t owed = 0;  // messages that arrived since the last acknowledgement

  uint64_t probe = 0, probed_at = 0, first_answer = 0, trials = 0;
  std::array<Path, paths> path;
  std::array<Lane, lanes> lane;

  bool over() const { return left || purged; }
  bool is_up(int p) const { return path[p].state == PathState::up && !path[p].broken; }
  bool has_path() const { return is_up(0) || is_up(1); }
  bool is_trusted(int p) const { return is_up(p) && !path[p].on_trial; }
  bool keeps() const { return lane[0].count + lane[1].count != 0; }
  // A connection is of use.
  bool is_wanted() const {
    return conn != nullptr || keeps() || owed != 0 || path[0].answer_due || path[1].answer_due;
  }
};

// The word of a conduit behind about a peer, perhaps from a thread of its own.
struct News {
  int path;
  cwy_peer peer;
  std::string why;
  bool final;
};

struct Endpoint {
  Front* front = nullptr;
  cwyc_domain* domain = nullptr;
  cwyc_ep_params params{};
  uint32_t name = 0;                 // among those of this process, earlier ones included
  std::array<cwyc_ep*, paths> of{};  // NULL: it cannot be opened
  std::array<cwyc_ep_attr, paths> attr{};
  uint64_t medium_max = 0;
  std::vector<std::unique_ptr<Flow>> flows;    // by rank
  std::vector<std::unique_ptr<Flow>> retired;  // of older epochs, to be closed
  std::vector<Flow*> todo, watched, owing;
  FramePool frames;
  uint32_t depth = 0;    // calls of progress under way, and posts, which may deliver to oneself
  uint64_t reading = 0;  // messages that conduits still read
  bool closing = false;
  uint64_t looked_at = 0;  // the watched flows
  std::mutex news_mutex;
  std::vector<News> news;
  std::atomic<bool> has_news{false};  // set (release) behind `news`, read (acquire) before it
  Descriptor epoll, timer;
  bool timer_set = false;
  uint64_t told_at[paths] = {};  // when people were last told of a path
  Count switches, resent, duplicates, probes, returns;

  const cwyc_module& behind(int path) const { return front->behind[path]->module(); }
  const char* behind_name(int path) const { return front->behind[path]->name.c_str(); }
};

extern wrapping::EndpointTable<Endpoint> endpoints;

}  // namespace causeway::failover

struct cwyc_domain : causeway::failover::Domain {};
struct cwyc_ep : causeway::failover::Endpoint {};
