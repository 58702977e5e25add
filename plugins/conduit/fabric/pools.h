// Tickets and bounce buffers: taken and given back without the allocator, except where a pool
// grows.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "objects.h"

namespace causeway::fabric {

inline constexpr size_t cache_line = 64;

inline constexpr size_t rounded(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Memory of the conduit's own in a few large pieces, registered where the network wants that.
template <class N>
class Slabs {
 public:
  explicit Slabs(cwyc_domain* domain) : domain_(domain) {}
  ~Slabs() {
    for (Slab& slab : slabs_) {
      slab.registration = {};
      munmap(slab.base, slab.bytes);
    }
  }
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  // Zeroed, 64-byte aligned, for the life of this object. NULL when there is no memory, or no more
  // of it may be locked. Pieces are carved from the end of the newest slab; what is given back goes
  // to free lists of the kinds, never here. Pages come on first touch.
  char* take(size_t bytes, typename N::LocalKey* key) {
    const size_t need = rounded(bytes, cache_line);
    if ((slabs_.empty() || left_ < need) && !grow(need)) return nullptr;
    Slab& slab = slabs_.back();
    char* const place = slab.base + (slab.bytes - left_);
    left_ -= need;
    *key = N::key_of(slab.registration);
    return place;
  }
  uint64_t total() const { return total_; }
  // Ends the registrations; the memory stays. Nothing of it may be in the network's hands.
  void unregister() {
    for (Slab& slab : slabs_) slab.registration = {};
  }

 private:
  struct Slab {
    char* base;
    size_t bytes;
    typename N::Registration registration;
  };
  bool grow(size_t need) {
    constexpr size_t least = 256 << 10;
    const size_t size = rounded(std::max(need, least), static_cast<size_t>(getpagesize()));
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return false;
    Slab slab{static_cast<char*>(base), size, {}};
    if (!N::register_slab(domain_, base, size, slab.registration)) {
      munmap(base, size);
      return false;
    }
    slabs_.push_back(std::move(slab));
    left_ = size;
    total_ += size;
    return true;
  }

  cwyc_domain* domain_;
  std::vector<Slab> slabs_;
  size_t left_ = 0;  // in the newest slab
  uint64_t total_ = 0;
};

// The pools grow by many at once and never shrink: later operations find them large enough.
// False: no memory.
template <class Ep>
bool add_tickets(Ep* ep) {
  using Ticket = typename Ep::Network::Ticket;
  constexpr int at_once = 256;
  for (int i = 0; i < at_once; ++i) {
    typename Ep::Network::LocalKey key{};
    char* place = ep->slabs->take(sizeof(Ticket), &key);
    if (place == nullptr) break;
    auto* ticket = new (place) Ticket;
    ticket->key = key;
    ticket->next = ep->free_tickets;
    ep->free_tickets = ticket;
  }
  return ep->free_tickets != nullptr;
}

template <class Ep>
bool add_bounces(Ep* ep) {
  using Bounce = fabric::Bounce<typename Ep::Network>;
  constexpr int at_once = 16;
  static_assert(sizeof(Bounce) <= cache_line);
  for (int i = 0; i < at_once; ++i) {
    typename Ep::Network::LocalKey key{};
    char* place = ep->slabs->take(cache_line + ep->bounce_bytes, &key);
    if (place == nullptr) break;
    auto* bounce = new (place) Bounce;
    bounce->key = key;
    bounce->data = place + cache_line;
    bounce->next = ep->free_bounces;
    ep->free_bounces = bounce;
  }
  return ep->free_bounces != nullptr;
}

// NULL: no memory.
template <class Ep>
inline auto* take_ticket(Ep* ep) {
  using Ticket = typename Ep::Network::Ticket;
  if (__builtin_expect(ep->free_tickets == nullptr, 0) && !add_tickets(ep))
    return static_cast<Ticket*>(nullptr);
  Ticket* const ticket = ep->free_tickets;
  ep->free_tickets = ticket->next;
  ticket->next = ticket->previous = nullptr;
  ticket->op = nullptr;
  ticket->bounce = nullptr;
  ticket->lease = nullptr;
  ticket->copy_to = nullptr;
  return ticket;
}

// NULL: no memory.
template <class Ep>
inline auto* take_bounce(Ep* ep) {
  using Bounce = fabric::Bounce<typename Ep::Network>;
  if (__builtin_expect(ep->free_bounces == nullptr, 0) && !add_bounces(ep))
    return static_cast<Bounce*>(nullptr);
  Bounce* const bounce = ep->free_bounces;
  ep->free_bounces = bounce->next;
  return bounce;
}

template <class Ep, class B>
inline void give_back_bounce(Ep* ep, B* bounce) {
  bounce->next = ep->free_bounces;
  ep->free_bounces = bounce;
}

// With what it carries.
template <class Ep, class Ticket>
inline void give_back_ticket(Ep* ep, Ticket* ticket) {
  if (ticket->bounce != nullptr) give_back_bounce(ep, ticket->bounce);
  if (__builtin_expect(ticket->lease != nullptr, 0)) ep->domain->leases->give_back(ticket->lease);
  ticket->next = ep->free_tickets;
  ep->free_tickets = ticket;
}

// A ticket of a frame, whose sending nobody waits for, with a bounce buffer; NULL: not both.
template <class Ep>
inline auto* take_both(Ep* ep) {
  typename Ep::Network::Ticket* ticket = nullptr;
  auto* const bounce = take_bounce(ep);
  if (bounce == nullptr) return ticket;
  ticket = take_ticket(ep);
  if (ticket == nullptr) {
    give_back_bounce(ep, bounce);
    return ticket;
  }
  ticket->bounce = bounce;
  ticket->work = Work::send;
  ticket->report = 0;
  return ticket;
}

// Receive buffers beside those for the credits of both lanes. Credit is returned on its own once
// half a window is owed, so at most two such frames per lane are under way; then ready, bye and
// gone.
inline constexpr uint32_t control_buffers = 8;

// NULL: no memory.
template <class Ep>
auto* new_buffer(Ep* ep, size_t bytes) {
  using Buffer = typename Ep::Network::ReceiveBuffer;
  typename Ep::Network::LocalKey unused{};
  char* const place = ep->slabs->take(sizeof(Buffer), &unused);
  if (place == nullptr) return static_cast<Buffer*>(nullptr);
  auto* const buffer = new (place) Buffer;
  buffer->data = ep->slabs->take(bytes, &buffer->key);
  return buffer->data != nullptr ? buffer : nullptr;
}

// A receive buffer to be posted; NULL: no memory.
template <class Ep>
auto* idle_or_new(Ep* ep) {
  if (ep->idle_buffers.empty()) return Ep::Network::make_buffer(ep);
  auto* const buffer = ep->idle_buffers.back();
  ep->idle_buffers.pop_back();
  return buffer;
}

// Posts receive buffers to the endpoint's own queue; a link's queue is the network's business.
template <class Ep>
void post_wanted(Ep* ep) {
  using N = typename Ep::Network;
  while (ep->posted < ep->wanted) {
    auto* const buffer = idle_or_new(ep);
    if (buffer == nullptr) return;
    if (!N::post_receive(ep, buffer)) {
      ep->idle_buffers.push_back(buffer);
      return;
    }
  }
}

}  // namespace causeway::fabric
