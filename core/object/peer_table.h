// PeerTable: the endpoints of one index, as one local endpoint sees them, by job rank. A peer comes
// into being at the first call that asks for it: a rank that this one never meets costs a pointer.
#pragma once

#include <cstdint>

#include "base/lazy_table.h"
#include "connection/peer.h"

namespace causeway {

class PeerTable {
 public:
  PeerTable(Endpoint* ep, uint16_t index);
  // Ends the connections of its peers. These stay as long as the table: a conduit that closes may
  // deliver once more.
  void close();

  // Any thread; handlers of messages too, but not those of signals, and not where a conduit may
  // hold its lock. Not with a connect mutex held, nor with that of the publications unless the peer
  // has been met.
  Peer& operator[](uint32_t rank) {
    Peer* const peer = peers_.find(rank);
    return __builtin_expect(peer != nullptr, 1) ? *peer : meet(rank);
  }
  // NULL: nothing has asked for it.
  Peer* met(uint32_t rank) const { return peers_.find(rank); }
  template <typename Fn>
  void for_each(Fn&& fn) const {
    peers_.for_each(fn);
  }

 private:
  [[gnu::cold, gnu::noinline]] Peer& meet(uint32_t rank);
  Endpoint* ep_;
  uint16_t index_;
  LazyTable<Peer> peers_;
};

}  // namespace causeway
