// Publication: what this process knows of the segment bound to one remote endpoint, and the rights
// it opened to that memory. Every local endpoint of a client may use what any of them learned
// (specification of gex_EP_PublishBoundSegment: per process and remote endpoint), so the client
// keeps it and its peers hold copies. Of a rank that it never meets it keeps what all ranks of a
// host share: the words of the last publication by the whole job.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bootstrap/card_table.h"
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

  // Takes in what was published for the endpoint `index` of `rank`; an empty text: nothing is bound
  // there. Replaces what was known when the segment is another one. The endpoint is idle
  // (specification of gex_EP_PublishBoundSegment). Windows are not republished. Throws Error.
  void learn(uint16_t index, uint32_t rank, std::string_view packed);
  // The same for every rank of the job, by rank; each word is one of for_each_published(). What is
  // said of endpoints that this process has not met is left in the words. Answers all words that
  // count now: with those of earlier publications, for endpoints that are not named this time.
  CardTable learn_all(std::vector<std::string> words);
  // The same words, in memory that other processes use too.
  void replace(const CardTable& words);
  // The segment that was published for the endpoint, met or not; nothing: none is known.
  std::optional<PackedSegment> published(uint16_t index, uint32_t rank);
  // The segment is gone. Windows are republished before its rights are closed.
  void forget(uint16_t index, uint32_t rank);
  // Maps what waits for its first use, and writes the windows' entries for it. A segment that its
  // owner has destroyed since stays unmapped. `last`: nobody looks again.
  void map(uint16_t index, uint32_t rank, bool last = false);
  // Gives a new peer what was published for it. With the mutex held, and the peer still private.
  void give_known(Peer& peer);

  // Memory of this process' own for endpoints that it has not met, for the report.
  uint64_t bytes_of_unmet();

  // Held, too, while a peer comes into being, so that it misses no publication.
  std::mutex& mutex() { return mutex_; }

 private:
  using Key = std::pair<uint16_t, uint32_t>;  // index, rank
  Publication* find(const Key& key) const;
  std::optional<PackedSegment> in_words(const Key& key) const;
  bool is_met(const Key& key) const;
  Publication& know(const Key& key, PackedSegment facts);
  void forget_locked(const Key& key);
  void map_locked(const Key& key, bool last = false);
  Client* client_;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<Publication>> known_;
  // By rank, for endpoints that are not in known_, which is newer where both say something. Empty:
  // there was no publication over all ranks. Equal on all of them.
  CardTable words_;
};

}  // namespace causeway
