// Domain, Endpoint, Memory, Connection, RemoteMemory: owners of the conduit's objects. They talk
// to the plugin through cwyc_module and cwyc_ops only, as the core does.
#pragma once

#include <causeway/conduit.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "clock.h"
#include "loader/loader.h"
#include "op.h"
#include "plugin_host.h"

namespace causeway::conformance {

// A cwy_err ready to be written, and its text.
class ErrorText {
 public:
  ErrorText() = default;
  operator cwy_err*() { return &err_; }
  const char* text() const;
  // Notes it as a breach where `call`, which has answered `status`, has not said in one line why it
  // failed, or has written although it succeeded. Answers `status`.
  cwy_status after(const char* call, cwy_status status);

 private:
  static constexpr cwy_err untouched{CWY_HEAD(cwy_err), 0x5a5a, 0, "(as it was)"};
  cwy_err err_ = untouched;
};

// The most bytes that the core takes for an address, a key or a connection.
inline constexpr uint64_t kLargestObject = 1 << 20;

// What a process tells the others about itself, as the core's bootstrap card would.
struct Card {
  cwy_peer peer{};
  uint32_t pid = 0;
  uint64_t address_len = 0;
  uint8_t address[1024] = {};
  uint64_t wiring_len = 0;  // of CAP_WIRING: for one process alone
  uint8_t wiring[1024] = {};
  uint64_t rkey_len = 0;  // 0: no memory
  uint8_t rkey[1024] = {};
  uint64_t base = 0, length = 0;  // of the memory behind the rkey
};

// A cwyc_peer_desc that points into a card. `address` false: as in a dry run.
cwyc_peer_desc describe(const Card& card, bool same_process, bool address = true);
// The same with the wiring, as connect gets it.
cwyc_peer_desc describe_to_connect(const Card& card, bool same_process);

class Domain {
 public:
  Domain(const ConduitPlugin& plugin, const cwy_options* options, const std::string& device);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  const ConduitPlugin& plugin() const { return plugin_; }
  const cwyc_module& module() const { return plugin_.module; }
  static cwyc_domain_params parameters(const char* device);
  // Domains that this process opens from now on are of a job with this key.
  static void use_job_key(const char (&key)[17]);
  cwyc_domain* get() const { return domain_; }
  cwy_status open_status() const { return status_; }  // the object is unusable unless CWY_OK
  const std::string& open_error() const { return error_; }

 private:
  const ConduitPlugin& plugin_;
  cwyc_domain* domain_ = nullptr;
  cwy_status status_;
  std::string error_;
};

// One delivered message, valid during the handler.
struct Message {
  cwy_peer from;
  uint64_t word;
  uint32_t kind;
  const int32_t* args;
  uint32_t nargs;
  uint8_t* payload;
  size_t length;
};

class Endpoint {
 public:
  // `tells`: what the conduit learns of peers comes to `peer_news`, as to a conduit in front.
  Endpoint(Domain& domain, uint32_t index, uint32_t multithreaded = 0, bool tells = false);
  ~Endpoint();
  static cwyc_ep_params parameters(Endpoint* core_ep, uint32_t index, uint32_t multithreaded = 0);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const cwyc_module& module() const { return domain_.module(); }
  Domain& domain() const { return domain_; }
  cwyc_ep* get() const { return ep_; }
  const cwyc_ep_attr& attr() const { return attr_; }
  // The conduit's own answer, which need not say of a class what `attr` does.
  const cwyc_ep_attr& told() const { return told_; }
  // The table that serves the peers of the suite: where the conduit has classes, `attr` says of
  // theirs.
  uint32_t table() const { return table_; }
  // That table less the entries that this endpoint's capabilities do not cover.
  const cwyc_ops& usable_ops() const { return usable_; }
  bool can(uint64_t cap) const { return (attr_.caps & cap) != 0; }
  void address(Card& card, cwy_peer reader) const;
  // The wiring that a process in the place of `reader`, or beside it, needs to connect.
  void wire(Card& card, cwy_peer reader) const;

  // Requests and replies are told apart by bit 63 of the word (kReplyBit).
  std::function<void(const Message&)> on_request, on_reply;
  std::function<void*(const cwyc_arrival&)> on_place;
  std::function<void()> meanwhile;  // called by every step, for a second endpoint's progress
  uint64_t unexpected = 0;          // messages that nobody handled
  std::vector<PeerReport> peer_news;

  uint32_t progress(uint32_t budget = 64, uint32_t lane = CWYC_PROGRESS_ALL);
  // Progress, or yield the processor: for waiting loops on machines with fewer processors.
  void step();
  // Ends when `done`; throws Stuck that says `what` was awaited.
  void until(const std::function<bool()>& done, const std::string& what, double seconds = 10.0);
  // Repeats `post` while it answers RETRY, making progress. Any other answer is returned.
  cwy_status retry(const std::function<cwy_status()>& post, const char* what,
                   double seconds = 10.0);
  void finish(const Op& op, const char* what, double seconds = 10.0);

 private:
  static void deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                      const int32_t* args, uint32_t nargs, void* payload, size_t length);
  static void* place(void* core_ep, const cwyc_arrival* arrival);
  static void peer_state(void* core_ep, cwy_peer peer, cwy_peer_state state, const char* why);
  void take_class();
  Domain& domain_;
  cwyc_ep* ep_ = nullptr;
  uint32_t table_ = 0;
  cwyc_ops usable_{};
  cwyc_ep_attr attr_{}, told_{};
};

inline constexpr uint64_t kReplyBit = 1ull << 63;

// Memory of this process that peers may reach.
class Memory {
 public:
  enum class Source { alloc, registered };
  // Throws Skip when the conduit offers no such memory.
  Memory(Domain& domain, size_t length, Source source, size_t misalign = 0);
  // The caller's, registered.
  Memory(Domain& domain, uint8_t* at, size_t length, uint64_t key_wish = 0);
  static cwy_memref reference(void* at, size_t length);
  // mem_alloc if the conduit has it, else mem_reg.
  static std::unique_ptr<Memory> best(Domain& domain, uint64_t caps, size_t length);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  cwyc_mem* get() const { return mem_; }
  void pack(Card& card) const;

 private:
  void enter(uint64_t key_wish = 0);  // registers it
  Domain& domain_;
  uint8_t* data_ = nullptr;
  size_t size_;
  cwyc_mem* mem_ = nullptr;
  std::unique_ptr<uint8_t[]> own_;
};

class RemoteMemory {
 public:
  RemoteMemory(Endpoint& ep, const Card& owner, bool same_process);
  ~RemoteMemory();
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  cwyc_rkey* get() const { return rkey_; }
  uint64_t base() const { return base_; }
  size_t size() const { return size_; }

 private:
  Endpoint& ep_;
  cwyc_rkey* rkey_ = nullptr;
  uint64_t base_;
  size_t size_;
};

// The core's part of a connection, with the conduit's bytes behind it; free() ends it.
cwyc_conn* new_connection(Endpoint& ep, const Card& peer, void* core);

class Connection {
 public:
  // Waits until the conduit reports the connection usable. Throws Error/Stuck.
  Connection(Endpoint& ep, const Card& peer, bool same_process);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  cwyc_conn* get() const { return conn_; }
  const cwyc_ops& ops() const { return *conn_->ops; }
  Endpoint& ep() const { return ep_; }
  void purge() { ep_.module().purge(conn_); }

  // Posts with retries; failures other than RETRY throw.
  void send(uint64_t word, const int32_t* args, uint32_t nargs, uint32_t flags = 0);
  // Posts with retries and, unless complete at once, waits for the source to be free.
  void send_medium(uint64_t word, const int32_t* args, uint32_t nargs, const void* payload,
                   size_t length, uint32_t flags = 0);
  void put(const void* src, uint64_t raddr, const RemoteMemory& to, size_t length,
           cwyc_mem* lmem = nullptr);
  void get_data(void* dst, uint64_t raddr, const RemoteMemory& from, size_t length,
                cwyc_mem* lmem = nullptr);
  OpPool& ops_pool() { return pool_; }

 private:
  Endpoint& ep_;
  cwyc_conn* conn_ = nullptr;
  OpPool pool_;
};

// Throws Error with `what` unless the status is CWY_OK.
void require_ok(cwy_status status, const char* what);

}  // namespace causeway::conformance
