// The conduit in front of the adapter: its objects, and what it keeps for each request that is
// under way.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <causeway/experimental.h>

#include "adapter.h"

namespace simnic {

inline const cwy_services* services = nullptr;  // set once by the entry point

// Up to so many bytes are copied rather than waited for.
inline constexpr size_t kCopied = 512;
// With the option `classes` connections to odd ranks are of the second class, which can do less.
inline constexpr size_t kMediumMax[] = {8192, 1024};
inline uint64_t rma_max(const Traits& traits, uint32_t table) {
  return table == 0 ? traits.mtu : 4096;
}

cwy_status fail(cwy_err* err, cwy_status status, const std::string& text);

// An address that a process tells all others of its endpoint, or one that it tells a single peer.
struct Address {
  uint64_t number;           // of the queue pair that serves all; 0: each peer has its own
  uint64_t network;          // the namespace of networks, outside which names mean nothing
  uint64_t virtual_network;  // of the launcher's credentials
};
struct Wiring {
  uint64_t number;  // of the queue pair
  uint64_t check;   // for whom it is
};

// A request that the adapter will complete, or a source that it still reads.
struct Request {
  cwyc_op* op = nullptr;  // NULL: this entry is free
  Flow* flow = nullptr;
  void* result = nullptr;
  uint32_t length = 0;  // of the result
  uint32_t bits = 0;    // CWYC_DONE_*, to be reported
  uint32_t generation = 1;
};

// Behind each cwyc_conn.
struct Link {
  Flow* flow;
  bool purged;
};
inline Link& link_of(cwyc_conn* conn) {
  return *reinterpret_cast<Link*>(conn + 1);
}

// Counts of one peer. The core reads them from a thread of its own.
struct Traffic {
  std::atomic<uint64_t> counts[CWYC_RETRIES + 1];
  void add(uint32_t what, uint64_t number) {
    counts[what].store(counts[what].load(std::memory_order_relaxed) + number,
                       std::memory_order_relaxed);
  }
};

extern const cwyc_ops operations[2];  // by class
extern const cwyx_counters counters;
extern const cwyx_immediate immediates;

// The bytes of a put, and what travels with them, as the header of its packet has it.
struct Bytes {
  const void* source;
  uint64_t raddr, key;
  size_t length;
};
struct Rider {
  Verb verb = kPut;
  uint64_t word = 0, operand1 = 0, operand2 = 0;
};
// OK, or the answer to every post to that peer.
cwy_status may_post(cwyc_conn* conn);
// For a request: in its send queue, and in the completion queue.
bool has_room(cwyc_conn* conn);
// As cwyc_ops.put.
cwy_status post_put(cwyc_conn* conn, const Bytes& bytes, const Rider& rider, uint32_t flags,
                    cwyc_op* op);

// A put that waits for a counter.
struct Waiting {
  cwyc_conn* conn;
  Bytes bytes;
  const cwyx_counter* when;
  uint64_t threshold;
  cwyc_op* op;
};

}  // namespace simnic

struct cwyc_domain {
  simnic::Traits traits;
  std::string device;
  uint64_t job, network, virtual_network;
  simnic::Registrations memory;
};
struct cwyc_mem {
  uint64_t key;
};
struct cwyc_rkey {
  uint64_t key;
};
struct cwyx_counter {
  cwyc_ep* ep;
  const uint64_t* at;
};

struct cwyc_ep final : simnic::Adapter::Driver {
  cwyc_ep(cwyc_domain& of, const cwyc_ep_params& with);

  cwyc_domain& domain;
  cwyc_ep_params params;
  simnic::Adapter adapter;
  std::vector<std::unique_ptr<simnic::Flow>> flows;
  simnic::QueuePair* shared = nullptr;    // without wiring
  std::vector<simnic::QueuePair*> pairs;  // by rank, with it
  std::vector<uint32_t> newest;           // by rank: the newest epoch that was heard of
  uint64_t retries = 0, rkeys = 0, most_under_way = 0;
  bool starved = false;                  // a post was answered RETRY since the last arm
  std::vector<simnic::Traffic> traffic;  // by rank
  bool failed = false;                   // the port, and everybody was told
  std::vector<simnic::Waiting> waiting;  // puts, in the order of their posts
  cwyx_immediate_fn listener = nullptr;
  void* listener_arg = nullptr;

  // The queue pair for that process, made if need be; NULL with text.
  simnic::QueuePair* pair_for(cwy_peer peer, cwy_err* err);
  uint64_t check_of(uint64_t number, cwy_peer reader) const;

  // The adapter never has more of them under way than its completion queue has room for. NULL: as
  // many as that are.
  simnic::Request* begin(simnic::Flow* flow, cwyc_op* op, uint32_t bits, uint64_t* ticket);
  uint32_t drain();                                     // the completion queue
  void end_all(simnic::Flow* flow, cwy_status status);  // NULL: of every flow

  uint32_t progress(uint32_t budget, uint32_t lane);
  cwy_status arm();
  void flush();
  bool has_room() const { return !free_.empty(); }
  // Posts the puts whose counter is high enough, and ends the puts whose peer is gone. Answers how
  // many left the list.
  uint32_t start_waiting();
  // Ends the waiting puts of that connection and that counter; NULL stands for any.
  void give_up(const cwyc_conn* conn, const cwyx_counter* counter, cwy_status status,
               const cwy_detail* detail);
  bool explain(cwy_status status, cwy_detail& said) const;  // false: it has no text

  void message(const simnic::Header& header, char* payload) override;
  bool known(const simnic::Header& header) override;
  char* place(uint64_t ticket, uint32_t length) override;
  char* place(const simnic::Header& medium) override;
  bool listens() override { return listener != nullptr; }
  void immediate(const simnic::Header& put) override;
  void goodbye(uint64_t from) override;
  void refused(uint64_t to) override;

 private:
  void end(simnic::Request& request, cwy_status status);
  simnic::Request* of_ticket(uint64_t ticket);
  void push();
  void look_at_port();
  void tell_refusals();
  void collapse(const char* why);
  void tell_failure(cwy_peer peer, const char* why) const;
  std::vector<simnic::Request> requests_;
  std::vector<uint32_t> free_;
  uint64_t nowhere_ = 0;  // takes results that nobody wants
  std::string why_;       // the port has failed
  bool port_down_ = false;
};
