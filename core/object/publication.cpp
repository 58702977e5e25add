#include "object/publication.h"

#include <sched.h>

#include <bitset>

#include "base/context.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "connection/conduit_set.h"
#include "connection/job.h"
#include "connection/peer_classes.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"
#include "object/client.h"
#include "object/connect.h"
#include "object/device_memory.h"
#include "object/endpoint.h"
#include "object/mappings.h"

namespace causeway {
namespace {

// Do the rules have every put, get and atomic to the peer done by conduits whose memory is mapped?
// Then the program's own loads and stores do what the file says. A peer that no rule serves is this
// process itself: nobody is asked for anything.
bool may_inline(const Peer& base) {
  try {
    const Choice choice = choice_for(base.rank);
    const auto maps = [&](OperationKind kind) {
      const Conduit* conduit = choice.only(kind);
      return conduit != nullptr && (base.ep->conduit_ep(conduit)->attr.caps & CWYC_CAP_DIRECT) != 0;
    };
    return maps(OperationKind::put) && maps(OperationKind::get) && maps(OperationKind::atomic);
  } catch (const Error&) {
    return true;
  }
}

void note_mapping(Peer& peer, const Publication& p) {
  peer.segment.delta = p.delta;
  peer.segment.inlined = p.inlined;
  const Mapped mapped = p.direct ? Mapped::yes : p.later ? Mapped::later : Mapped::no;
  // Release: whoever sees that it is mapped sees where.
  peer.segment.mapped.store(mapped, std::memory_order_release);
}

void give(Peer& peer, Publication& p) {
  peer.segment.number = p.facts.number;
  peer.segment.base = p.facts.base;
  peer.segment.lasting = p.facts.lasting;
  note_mapping(peer, p);
  peer.segment.publication = &p;
  peer.segment.device = p.device.get();
  // Release: readers test the size first.
  peer.segment.size.store(p.facts.size, std::memory_order_release);
  open_rights(peer);
}

void take(Peer& peer) {
  peer.segment.size.store(0, std::memory_order_release);
  peer.segment.mapped.store(Mapped::no, std::memory_order_release);
  peer.segment.inlined = false;
  peer.segment.publication = nullptr;
  peer.segment.device = nullptr;
  drop_rights(peer);
}

bool is_connected(const Peer& base) {
  const std::lock_guard lock(base.ep->connect_mutex());
  return base.connected;
}

// Is the rank on this host? Asked when a kind may open memory of another process.
bool on_this_host(uint32_t rank) {
  return context().job().locality(rank) != Locality::remote;
}

// Does it map memory for a thread that is inside of it only?
bool maps_inside(const ConduitEp& cep) {
  return cep.serial && (cep.caps & CWYC_CAP_DIRECT) != 0;
}

// Holds the endpoints of SERIAL conduits that map memory: what they map is asked for inside. Taken
// before every other lock, since who is inside may run a handler that needs those.
class InsideMappers {
 public:
  explicit InsideMappers(Endpoint& ep) {
    for (auto& cep : ep.conduit_eps())
      if (maps_inside(*cep)) held_.emplace_back(cep->mutex);
  }

  bool any() const { return !held_.empty(); }

 private:
  std::vector<std::unique_lock<EntryLock>> held_;
};

}  // namespace

constinit DeviceMemoryHooks device_memory;

Publication::Publication() = default;
Publication::~Publication() {
  remove_mapping(*this);
}

// Under the connect mutex.
static bool map_through(ConduitEp& cep, uint32_t rank, Publication& p) {
  if (!cep.maps_neighbors) return false;
  cwyc_rkey* rkey = p.right(cep, rank);
  if (rkey == nullptr) return false;
  // Not waited for, because of the locks held here: the next look may find it free. Segments that
  // are published come with the lock (InsideMappers).
  std::unique_lock<EntryLock> inside(cep.mutex, std::defer_lock);
  if (cep.serial && !inside.try_lock()) {
    p.busy = true;
    return false;
  }
  p.direct = cep.conduit->module().rkey_direct(rkey, &p.delta) == CWY_OK;
  if (p.direct)
    add_mapping({&p, rank, p.facts.number, p.facts.base + static_cast<uint64_t>(p.delta),
                 p.facts.size, p.facts.base});
  return p.direct;
}

void map_directly(const Peer& base, Publication& p) {
  if (base.rank == context().rank()) {
    p.direct = true;
    p.delta = 0;
    return;
  }
  if (context().job().locality(base.rank) != Locality::nbrhd) return;
  const Choice choice = choice_for(base.rank);
  const std::lock_guard lock(base.ep->connect_mutex());
  for (const auto& spans : choice.spans)
    for (const SizeSpan& span : spans)
      for (const Conduit* conduit : span.carrier.conduits)
        if (map_through(*base.ep->conduit_ep(conduit), base.rank, p)) return;
}

cwyc_rkey* Publication::right(ConduitEp& cep, uint32_t rank) {
  for (const Opened& o : opened)
    if (o.cep == &cep) return o.rkey;
  if (cep.conduit == nullptr) return nullptr;  // a split, whose members have rights of their own
  const std::string& name = cep.conduit->name();
  const std::string packed_right = facts.right(name);
  if (packed_right.empty()) return nullptr;
  const bool shares = (cep.caps & CWYC_CAP_SHARED_KEYS) != 0;
  const std::lock_guard lock(cep.rights_mutex);
  if (const auto known = cep.shared_rights.find(packed_right);
      shares && known != cep.shared_rights.end()) {
    ++known->second.users;
    opened.push_back({&cep, known->second.rkey});
    return opened.back().rkey;
  }
  const PeerFacts peer = context().job().facts_of(rank, cep.conduit);
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  cwyc_rkey* rkey = nullptr;
  const auto open = [&] {
    return cep.conduit->module().rkey_open(cep.ep, &peer.desc, packed_right.data(),
                                           packed_right.size(), &rkey, &err);
  };
  const cwy_status status = plugin_object({"conduit", name}, "rkey_open", rkey, err, open);
  if (status == CWY_ERR_UNSUPPORTED) {
    log_info("rank {}: conduit {} does not reach the segment ({}); using active messages", rank,
             name, reason(err, status));
    rkey = nullptr;
  } else if (status != CWY_OK) {
    throw Error(status, "rank {}: conduit {} cannot open the segment: {}", rank, name,
                reason(err, status));
  }
  opened.push_back({&cep, rkey});
  if (shares && rkey != nullptr) cep.shared_rights[packed_right] = {rkey, 1};
  return rkey;
}

// A right that other publications use too loses nothing but a user.
static void let_go(const Publication::Opened& o, const PackedSegment& facts) {
  const std::lock_guard lock(o.cep->rights_mutex);
  const auto known = o.cep->shared_rights.find(facts.right(o.cep->conduit->name()));
  if (known != o.cep->shared_rights.end()) {
    if (--known->second.users > 0) return;
    o.cep->shared_rights.erase(known);
  }
  o.cep->conduit->module().rkey_close(o.cep->ep, o.rkey);
}

void Publication::close() {
  remove_mapping(*this);
  for (const Opened& o : opened)
    if (o.rkey != nullptr) let_go(o, facts);
  opened.clear();
}

void Publications::clear() {
  const std::lock_guard lock(mutex_);
  for (auto& [key, publication] : known_) publication->close();
  known_.clear();
}

Publication* Publications::find(const Key& key) const {
  const auto found = known_.find(key);
  return found != known_.end() ? found->second.get() : nullptr;
}

// This process knows its own without words, and when it has none any more.
std::optional<PackedSegment> Publications::in_words(const Key& key) const {
  std::optional<PackedSegment> out;
  if (words_.text().empty() || key.second == context().rank()) return out;
  for_each_published(words_[key.second], [&](uint16_t index, std::string_view packed) {
    if (index == key.first && !packed.empty()) out = PackedSegment::unpack(packed);
  });
  return out;
}

Publication& Publications::know(const Key& key, PackedSegment facts) {
  const auto& [index, rank] = key;
  auto fresh = std::make_unique<Publication>();
  fresh->facts = std::move(facts);
  if (const std::string device = fresh->facts.right(kDeviceEntry); !device.empty()) {
    fresh->device = device_memory.know(DeviceFacts::unpack(device), rank, fresh->facts.number,
                                       on_this_host(rank));
  } else {
    fresh->later = rank == context().rank() || context().job().locality(rank) == Locality::nbrhd;
  }
  return *known_.emplace(key, std::move(fresh)).first->second;
}

void Publications::learn(uint16_t index, uint32_t rank, std::string_view packed) {
  Peer& base = context().base_endpoint().peer(rank);
  const InsideMappers inside(*base.ep);
  const std::lock_guard lock(mutex_);
  const Key key{index, rank};
  if (packed.empty()) return forget_locked(key);
  PackedSegment facts = PackedSegment::unpack(packed);
  Publication* p = find(key);
  if (p != nullptr && p->facts != facts) {
    forget_locked(key);
    p = nullptr;
  }
  if (p == nullptr) {
    p = &know(key, std::move(facts));
    client_->for_each_peer(index, rank, [p](Peer& peer) { give(peer, *p); });
  }
  // After that: a thread that connects now looks afterwards whether something waits to be mapped. A
  // SERIAL conduit is entered only here, where its lock is held.
  if (p->later && (rank == context().rank() || inside.any() || is_connected(base))) map_locked(key);
}

bool Publications::is_met(const Key& key) const {
  bool met = false;
  client_->for_each_peer(key.first, key.second, [&met](Peer&) { met = true; });
  return met;
}

CardTable Publications::learn_all(std::vector<std::string> words) {
  std::vector<std::pair<Key, std::string>> wanted;
  CardTable all;
  {
    const std::lock_guard lock(mutex_);
    const bool at_once = std::ranges::any_of(context().base_endpoint().conduit_eps(),
                                             [](const auto& cep) { return maps_inside(*cep); });
    for (uint32_t rank = 0; rank < words.size(); ++rank) {
      const bool maps = at_once && context().job().locality(rank) == Locality::nbrhd;
      std::bitset<GASNET_MAXEPS> named;
      for_each_published(words[rank], [&](uint16_t index, std::string_view packed) {
        if (!packed.empty()) PackedSegment::unpack(packed);  // or throws: nothing has changed yet
        named.set(index);
        // All else a peer that is met later finds in the words.
        const Key key{index, rank};
        if (maps || is_met(key) || find(key) != nullptr) wanted.emplace_back(key, packed);
      });
      if (words_.text().empty()) continue;
      for_each_published(words_[rank], [&](uint16_t index, std::string_view packed) {
        if (!named[index]) put_published(words[rank], index, packed);
      });
    }
    words_ = all = CardTable(words);
  }
  for (const auto& [key, packed] : wanted) learn(key.first, key.second, packed);
  return all;
}

void Publications::replace(const CardTable& words) {
  const std::lock_guard lock(mutex_);
  words_ = words;
}

std::optional<PackedSegment> Publications::published(uint16_t index, uint32_t rank) {
  const std::lock_guard lock(mutex_);
  const Publication* const p = find({index, rank});
  return p != nullptr ? p->facts : in_words({index, rank});
}

void Publications::map_locked(const Key& key, bool last) {
  Publication* const found = find(key);
  if (found == nullptr || !found->later) return;
  Publication& p = *found;
  const Peer& base = context().base_endpoint().peer(key.second);
  try {
    map_directly(base, p);
    p.inlined = p.direct && may_inline(base);
  } catch (const Error& e) {
    log_info("{}; using active messages", e.text());
  }
  // Some conduits map for whom they are connected to.
  p.later = !p.direct && !last && (p.busy || !is_connected(base));
  p.busy = false;
  client_->for_each_endpoint([&](Endpoint& ep) {
    Peer* const peer = ep.met(key.first, key.second);
    if (peer == nullptr) return;
    note_mapping(*peer, p);
    ep.publish_member(*peer);
  });
}

void Publications::map(uint16_t index, uint32_t rank, bool last) {
  const std::lock_guard lock(mutex_);
  map_locked({index, rank}, last);
}

bool map_now(const Peer& peer) {
  Publications& known = peer.ep->client()->publications();
  known.map(peer.ep_index, peer.rank);
  // While another thread is inside a conduit, which leaves it within microseconds.
  constexpr int kTries = 100;
  // Acquire, here and below: the distance is written.
  const auto waits = [&] {
    return peer.segment.mapped.load(std::memory_order_acquire) == Mapped::later;
  };
  for (int i = 0; i < kTries && waits(); ++i) {
    if (i != 0) ::sched_yield();
    try {
      if (connect_peer(base_peer(peer)) == CWY_OK) known.map(peer.ep_index, peer.rank);
    } catch (const Error& e) {
      log_info("{}; it is not mapped", e.text());
      known.map(peer.ep_index, peer.rank, true);
    }
  }
  return peer.segment.mapped.load(std::memory_order_acquire) == Mapped::yes;
}

void Publications::forget_locked(const Key& key) {
  const auto found = known_.find(key);
  if (found == known_.end()) return;
  client_->for_each_peer(key.first, key.second, take);
  client_->publish_windows();
  found->second->close();
  known_.erase(found);
}

void Publications::forget(uint16_t index, uint32_t rank) {
  const std::lock_guard lock(mutex_);
  forget_locked({index, rank});
}

uint64_t Publications::bytes_of_unmet() {
  const std::lock_guard lock(mutex_);
  uint64_t sum = words_.own_bytes();
  for (const auto& [key, p] : known_) {
    if (is_met(key)) continue;
    sum += 4 * sizeof(void*) + sizeof key + sizeof p + sizeof *p + p->facts.rights.capacity() +
           p->opened.capacity() * sizeof(Publication::Opened);
  }
  return sum;
}

void Publications::give_known(Peer& peer) {
  const Key key{peer.ep_index, peer.rank};
  Publication* p = find(key);
  if (p == nullptr)
    if (auto facts = in_words(key)) p = &know(key, std::move(*facts));
  if (p != nullptr) give(peer, *p);
}

}  // namespace causeway
