// Peer: one remote endpoint as seen from one local endpoint, and its connections.
//
// A peer starts with a stub connection whose operations connect first and then forward; when the
// real connections are up, the four pointers are swapped with release. Readers load them with
// acquire and never see NULL.
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/waits.h"
#include "connection/selector.h"
#include "connection/split.h"
#include "thread/op.h"

namespace causeway {

class Endpoint;
struct ConduitEp;
struct Peer;

// The report of a connection that is being made: it is up, or why it is not. Runs inside the
// conduit's progress; read by the next thread that asks.
struct ConnectOp {
  cwyc_op op{};  // first: report() finds the object by its address
  // Release by the report, acquire by the reader: the connection behind it is complete.
  std::atomic<cwy_status> status{CWY_INPROGRESS};
  std::string why;  // of a failure, as the conduit says it; empty: it says nothing
  // When its silence is told of, once. Under the connect mutex.
  uint64_t patience_until_ns = UINT64_MAX;
  static void report(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail*);
};

// A connection of a peer in one conduit. The conduit's bytes follow the structure.
//
// A process has one endpoint in each conduit, and one connection per conduit and rank: those of
// the primordial endpoints of the first client. A peer that is another pair of endpoints has
// *aliases* of these: connections of the core's own, whose operations forward to `base` and put
// the pair into the word of every message. The primordial pair pays nothing for that.
//
// Where a rule directs sizes to different conduits, or names a rail, the peer's pointer for that
// operation names a *split*: a connection of the core's own too, over others of the same peer.
struct alignas(kEventAlignment) Connection {
  Peer* peer = nullptr;
  ConduitEp* cep = nullptr;
  const cwyc_class_attr* attr = nullptr;  // of its class: one of cep->classes
  // The conduit cannot reach the peer's memory itself (no registration, or the attempt answered
  // UNSUPPORTED): put, get and long messages go over active messages. Relaxed: a late reader
  // tries once more and learns the same.
  std::atomic<bool> rma_over_am{false};
  // One of the two endpoints is bound to device memory: an alias whose table is the one of
  // staging/transfer.h, or a split over such.
  bool device_end = false;
  std::atomic<uint32_t> long_id{0};  // numbers emulated long messages; relaxed counter
  // The right to the peer's bound segment; release/acquire. Owned by its Publication.
  std::atomic<cwyc_rkey*> rkey{nullptr};
  cwyc_conn* base = nullptr;     // an alias: what it forwards to
  uint64_t route = 0;            // and the bits it adds to each word (connection/word.h)
  std::unique_ptr<Split> split;  // a split: what it stands for; its `cep` has no conduit
  ConnectOp connect_op;
  // It is, or has been: from then on it stays until its peer's end, since a thread may be inside of
  // `purge`, and is disconnected then. Under the connect mutex.
  bool purged = false;
  alignas(64) cwyc_conn conn{};

  static Connection& of(cwyc_conn* c) { return *static_cast<Connection*>(c->core); }
  // `conn_size` further zeroed bytes stand behind the object.
  static Connection* make(Peer* peer, ConduitEp* cep);
  static Connection* make_alias(Peer* peer, Connection& base);
  static Connection* make_split(Peer* peer, ConduitEp* cep, std::unique_ptr<Split> split);
  void destroy();
};

struct Publication;
class RemoteDevice;

// The facts known of the segment bound to the remote endpoint. Written before `size` is stored with
// release; valid when size (acquire) is non-zero.
//
// It is what was published last: its owner may have destroyed the segment since, and bound or put
// other memory at the same addresses, of which nobody was told. A client may name such memory with
// GEX_FLAG_PEER_SEG_SOME and GEX_FLAG_PEER_SEG_UNKNOWN: then only a segment that lasts is used
// (object/local.h). The library names some, too, on its own account: in collectives and in staged
// transfers. Invariant: an address that the library names to another rank
// travels with the number of the owner's segment that it lies in now, and what is known here (the
// distance, the rights) is used for it under that number only.
enum class Mapped : uint8_t { no, later, yes };  // later: at the first use (object/publication.h)

struct RemoteSegment {
  std::atomic<uint64_t> size{0};
  uint64_t number = 0;   // Segment::number()
  uint64_t base = 0;     // owner's address
  bool lasting = false;  // its owner never destroys it: what is known here stays true
  // Here, at base + delta. Release once `delta` is written; acquire before it is read.
  std::atomic<Mapped> mapped{Mapped::no};
  bool inlined = false;  // and the rules have puts, gets and atomics done through that mapping
  intptr_t delta = 0;
  Publication* publication = nullptr;  // what this is a copy of (object/publication.h)
  RemoteDevice* device = nullptr;      // it is device memory (staging/remote.h)

  // Is the owner's segment of that number the one that is known here?
  bool is(uint64_t owners) const {
    // Acquire: the members behind the size are valid once it is not zero.
    return size.load(std::memory_order_acquire) != 0 && number == owners;
  }
};

// Every operation reads it, so it lies in cache lines of its own.
struct alignas(64) Peer {
  std::atomic<cwyc_conn*> am{nullptr};
  std::atomic<cwyc_conn*> put{nullptr};
  std::atomic<cwyc_conn*> get{nullptr};
  std::atomic<cwyc_conn*> atomic{nullptr};
  Endpoint* ep = nullptr;
  uint32_t rank = 0;               // job rank
  std::atomic<uint32_t> epoch{1};  // changes when the rank is replaced (renew_peer)
  uint16_t ep_index = 0;
  bool connected = false;  // under the endpoint's connect mutex
  cwyc_conn stub{};        // core points to this Peer
  RemoteSegment segment;
  // Largest payloads of messages to and from the peer, once asked for (am/limits); 0 before.
  mutable std::atomic<uint32_t> medium_max{0}, long_max{0};
  // Distinct ones, in order of creation; owned: what the rule names, the adapter of atomic domains,
  // and splits. Under the endpoint's connect mutex.
  std::vector<Connection*> connections;
  // Those to earlier processes of the rank, and those that never came up: purged, and kept because
  // a thread may be in one.
  std::vector<Connection*> former;
};

// For a wait that the peer ends.
inline WaitSubject wait_for(const char* call, const Peer& peer) {
  return {call,
          [](const void* p) { return "rank " + std::to_string(static_cast<const Peer*>(p)->rank); },
          &peer};
}

}  // namespace causeway
