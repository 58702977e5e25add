// Publication: what this process knows of the segment bound to one remote endpoint, and the rights
// it opened to that memory. Every local endpoint of a client may use what any of them learned
// (specification of gex_EP_PublishBoundSegment: per process and remote endpoint), so the client
// keeps it and its peers hold copies.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "connection/peer.h"
#include "object/segment.h"

namespace causeway {

class Client;
class RemoteDevice;

struct Publication {
  Publication();
  ~Publication();
  PackedSegment facts;  // as published
  bool later = false;   // may be mapped, at the first use
  bool busy = false;    // another thread was inside the conduit that maps
  bool direct = false;  // mapped here at facts.base + delta
  intptr_t delta = 0;
  bool inlined = false;                  // RemoteSegment::inlined
  std::shared_ptr<RemoteDevice> device;  // of device memory; never direct
  // One right per conduit, shared by all connections to the rank, and by every publication with the
  // same packed bytes where keys serve all peers (ConduitEp::shared_rights). Under the connect
  // mutex.
  struct Opened {
    ConduitEp* cep;
    cwyc_rkey* rkey;
  };
  std::vector<Opened> opened;

  // The right for connections in `cep` to `rank`, opened if need be; NULL when the conduit has
  // none. Under the connect mutex. Throws Error.
  cwyc_rkey* right(ConduitEp& cep, uint32_t rank);
  void close();
};

// Asks the conduits in the rule's order whether the peer's memory is mapped here, and writes
// `direct` and `delta`. Throws Error.
void map_directly(const Peer& base, Publication& p);

// Is the segment bound to the peer's remote endpoint mapped here? A neighbor's is mapped when it is
// first asked for, or when the peer is connected, so that what was published costs nothing by
// itself. Any thread, any context, without the mutexes of publications and of connecting.
[[gnu::cold]] bool map_now(const Peer& peer);
inline bool is_mapped(const Peer& peer) {
  const Mapped mapped = peer.segment.mapped.load(std::memory_order_acquire);
  return mapped == Mapped::yes || (mapped == Mapped::later && map_now(peer));
}

// Its mutex orders three things: what is known changes, and peers' copies of it with it (give and
// take in the source); what is bound here changes (Client::bind); windows are written from those
// copies (Team::publish_window). Who changes writes all windows afterwards, and a team's or a
// TM-pair's first window, which any thread may write at any time, is written after the team is
// among those (Endpoint::add_team). So whichever comes last has seen the change, and no window
// holds a distance of memory that is let go: the rights are closed after the windows were written
// without it. Nothing is waited for with the mutex held but the connect mutex.
class Publications {
 public:
  explicit Publications(Client* client) : client_(client) {}
  // Closes every right. The peers are not told: they go too.
  void clear();

  // Takes in what was published for the endpoint `index` of `rank`; an empty text: nothing is
  // bound there. Replaces what was known when the segment is another one. The endpoint is idle
  // (specification of gex_EP_PublishBoundSegment). Windows are not republished. Throws Error.
  void learn(uint16_t index, uint32_t rank, const std::string& packed);
  // The segment is gone. Windows are republished before its rights are closed.
  void forget(uint16_t index, uint32_t rank);
  // Maps what waits for its first use, and writes the windows' entries for it. A segment that its
  // owner has destroyed since stays unmapped. `last`: nobody looks again.
  void map(uint16_t index, uint32_t rank, bool last = false);
  // Gives a table of new peers what is known already. Called with the table still private.
  void fill(std::vector<Peer>& peers);

  // Memory of all that is known, for the report.
  uint64_t bytes();

  // Held, too, while tables of peers come into being, so that none misses a publication.
  std::mutex& mutex() { return mutex_; }

 private:
  using Key = std::pair<uint16_t, uint32_t>;  // index, rank
  void forget_locked(const Key& key);
  void map_locked(const Key& key, bool last = false);
  Client* client_;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<Publication>> known_;
};

}  // namespace causeway
