// The simulated adapter: what a vendor's hardware and its lowest library would be. It is strict, as
// hardware is: a send queue that is full, a completion queue that overflows or a failed port is
// nothing that it mends. Lost packets alone it sends again. The conduit in front of it (conduit.h)
// has to know better.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "packet.h"

namespace simnic {

// Traits of an adapter, as the options make it.
struct Traits {
  int64_t completions, sends, registrations, delay, seed, fail_after, inject_loss;
  uint64_t mtu;     // most bytes behind a header
  uint64_t placed;  // mediums of so many bytes, or more, go to where the driver wants them
  std::string port_file, pci;
  int64_t numa_node;
  bool peer_wiring, shared_keys, unordered, atomics, classes;
};

// ---- memory that peers may reach ------------------------------------------------------------

// The registrations of a domain. The mutex is held while bytes move, so that nothing reaches memory
// that is released; twice where two places are used at once.
class Registrations {
 public:
  explicit Registrations(size_t most) : most_(most) {}
  // False: there are no more entries.
  bool add(uint64_t wish, uint64_t addr, uint64_t length, uint64_t* key);
  void remove(uint64_t key);
  // Calls `use` with the place if [addr, addr + length) is registered under the key.
  template <typename Use>
  bool with(uint64_t key, uint64_t addr, uint64_t length, Use&& use) {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(key);
    if (at == entries_.end() || addr < at->second.addr) return false;
    const uint64_t offset = addr - at->second.addr;
    if (offset > at->second.length || length > at->second.length - offset) return false;
    use(reinterpret_cast<char*>(addr));
    return true;
  }

 private:
  struct Entry {
    uint64_t addr, length;
  };
  std::recursive_mutex mutex_;
  std::map<uint64_t, Entry> entries_;
  size_t most_;
  uint64_t next_ = uint64_t{1} << 63;  // behind every number that can be wished for
};

// ---- queues ---------------------------------------------------------------------------------

// Something to be sent. Entries of a queue are used again, with the room of their copies.
struct Work {
  Header header;
  const void* source = nullptr;  // of header.length bytes; or those in `copy`
  std::vector<char> copy;
  uint64_t sent_ticket = 0;  // not 0: a completion when the network has it
  int64_t turns = 0;         // that it waits
};

// A send queue: posted entries are the adapter's once the doorbell was rung.
class SendQueue {
 public:
  explicit SendQueue(size_t entries) : work_(entries) {
    for (size_t i = 0; i < entries; ++i) free_.push_back(static_cast<uint32_t>(i));
  }
  Work* next() { return free_.empty() ? nullptr : &work_[free_.back()]; }
  void post() {
    posted_.push_back(free_.back());
    free_.pop_back();
  }
  size_t unrung() const { return posted_.size(); }
  bool idle() const { return posted_.empty() && rung_.empty(); }
  void ring() {
    rung_.insert(rung_.end(), posted_.begin(), posted_.end());
    posted_.clear();
  }
  void drop() {
    ring();
    free_.insert(free_.end(), rung_.begin(), rung_.end());
    rung_.clear();
  }

 private:
  friend class Adapter;
  std::vector<Work> work_;
  std::vector<uint32_t> free_, posted_, rung_;
  uint32_t rest_ = 0;  // turns until it is tried again, after the peer had no room
};

// Where packets are lost: those of a sender that nobody has acknowledged yet, and at the receiver
// the numbers that have come, so that none comes twice.
struct Kept {
  Header header;
  std::vector<char> bytes;
  std::chrono::steady_clock::time_point tried;
};
struct Stream {
  std::map<uint64_t, Kept> kept;
  uint64_t next = 1;
};
struct Seen {
  uint64_t all = 0;
  std::set<uint64_t> above;
  bool add(uint64_t number);  // false: it was there
};

// A queue pair: where one peer sends to, or, without wiring, all of them.
struct QueuePair {
  uint64_t number;
  cwy_peer peer;  // of a pair that serves all: rank UINT32_MAX
  std::array<int, kLanes> fd{-1, -1};
  std::map<uint64_t, Stream> streams[kLanes];  // by number of the peer's pair, as what follows
  std::map<uint64_t, Seen> seen[kLanes];
  std::vector<uint64_t> met;  // pairs of peers that it was connected to, or heard of
  void meet(uint64_t of) {
    if (std::find(met.begin(), met.end(), of) == met.end()) met.push_back(of);
  }
};

// The way to one peer: both lanes' send queues, and the pair that they leave from.
struct Flow {
  cwy_peer peer;
  uint64_t to;                // number of the peer's queue pair
  QueuePair* from = nullptr;  // NULL: taken away, nothing is sent any more
  SendQueue queue[kLanes];
  bool refused = false;  // the peer's queue pair is gone
  bool left = false;     // in order
  bool owned = true;     // by a connection
  Flow(cwy_peer p, uint64_t number, QueuePair* pair, size_t entries)
      : peer(p), to(number), from(pair), queue{SendQueue(entries), SendQueue(entries)} {}
};

struct Completion {
  uint64_t ticket;
  cwy_status status;
};

// ---- the adapter ----------------------------------------------------------------------------

// The adapter of an endpoint. One thread at a time.
class Adapter {
 public:
  // Whose it is: what it calls, and when.
  struct Driver {
    virtual void message(const Header& header, char* payload) = 0;
    virtual bool known(const Header& header) = 0;               // is the sender's epoch the newest?
    virtual char* place(uint64_t ticket, uint32_t length) = 0;  // of an answer's bytes; NULL: drop
    virtual char* place(const Header& medium) = 0;  // of the payload; NULL: the adapter's buffer
    virtual bool listens() = 0;                     // to numbers that puts bring
    virtual void immediate(const Header& put) = 0;  // the put is written
    virtual void goodbye(uint64_t from) = 0;        // number of a queue pair
    virtual void refused(uint64_t to) = 0;          // what is sent again to that pair
    virtual ~Driver() = default;
  };

  Adapter(const Traits& traits, Registrations& memory, uint64_t job, cwy_peer self, Driver& driver);
  ~Adapter();
  // Empty, or what the system says against it.
  std::string open();

  // NULL, with errno: the system has no more sockets.
  QueuePair* create_pair(cwy_peer peer);
  void destroy_pair(QueuePair* pair);
  uint64_t seal(uint64_t number) const { return mix(number ^ job_); }

  // The adapter's turn of a flow, and of answers to what peers asked.
  void work(Flow& flow);
  void answer();
  bool arrived() const;  // on either lane
  uint32_t receive(Lane lane, uint32_t budget);
  // The buffer of the message that is being delivered. NULL: it is none of the adapter's.
  std::vector<char>* keep(const void* payload);
  bool say_goodbye(QueuePair& pair, uint64_t to);  // false: there is no room yet
  // Packets that are not acknowledged are sent again after a time.
  void send_again();
  bool unacknowledged() const;
  void forget(QueuePair& pair, uint64_t to);
  // From now on acknowledges what arrives, and serves nobody.
  void hear_only() { deaf_ = true; }

  std::deque<Completion>& completions() { return completions_; }
  bool answers_wait() const { return !answers_.empty(); }
  uint64_t random() { return random_(); }
  int wait_fd() const { return wait_fd_; }
  // NULL: it has not failed for good.
  const char* failure();
  // Down while there is the file: what is to be sent waits, and so does what has come.
  bool port_down();
  Header header(uint16_t verb) const;

  uint64_t sent = 0, received = 0, dropped = 0, placed = 0, doorbells = 0, completed = 0, lost = 0;
  uint64_t again = 0;

 private:
  enum class Sent { yes, full, refused };
  Sent send(QueuePair& from, Lane lane, uint64_t to, Header& header, const void* bytes);
  Sent transmit(const QueuePair& from, Lane lane, uint64_t to, Header& header, const void* bytes);
  bool first_time(QueuePair& pair, Lane lane, const Header& header);
  void complete(uint64_t ticket, cwy_status status);
  char* packet(uint32_t lane);  // aligned
  void take(QueuePair& pair, Lane lane, ssize_t bytes);
  bool wanted(QueuePair& pair, Lane lane, const Header& header, ssize_t bytes);
  void serve(QueuePair& pair, const Header& header, const char* payload);
  cwy_status execute(const Header& header, const char* payload, uint64_t* value);
  bool write(const Header& put, const char* payload);

  struct Answer {
    QueuePair* from;
    uint64_t to, key, raddr;  // of a get: where its bytes lie
    Header header;
    uint64_t value;  // of an atomic
  };
  const Traits& traits_;
  Registrations& memory_;
  uint64_t job_;
  cwy_peer self_;
  Driver& driver_;
  std::mt19937_64 random_;
  int lane_fd_[kLanes] = {-1, -1}, wait_fd_ = -1;
  std::vector<std::unique_ptr<QueuePair>> pairs_;
  std::deque<Answer> answers_;
  std::deque<Completion> completions_;
  std::vector<char> buffer_[kLanes], reply_;
  bool inside_[kLanes] = {}, deaf_ = false, port_down_ = false;
  std::string failure_;
  uint64_t looks_ = 0;
};

}  // namespace simnic
