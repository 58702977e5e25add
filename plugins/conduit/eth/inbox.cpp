// The incoming side of a stream: read in large pieces, looked at where it lies, put in place.
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "calls.h"

namespace causeway::eth {
namespace {

// Reads of one link in one pass, so that the others get their turn.
constexpr int most_reads = 16;
// Bytes of units that nobody has seen yet, in one read. More would be payloads that are copied
// instead of being read into their places.
constexpr size_t unseen_bytes = 16 << 10;

// Where in a chunk the next bytes go, so that all units begin at multiples of 16: behind what is
// still to come of the one before.
size_t start_of(const Inbox& in) {
  return in.placing ? padding_of(in.padding + (in.to == nullptr ? in.left : 0)) : 0;
}

// Room for what a unit needs that is not complete. False: no memory.
bool make_room(cwyc_ep* ep, Inbox& in) {
  const size_t have = in.tail - in.head;
  const size_t start = start_of(in);
  const size_t unit = sizeof(Unit) + ep->frame_max + fabric::frame_overhead;
  Chunk* const old = in.chunk;
  const bool own = old != nullptr && old->held == 0;
  if (own && (have == 0 || ep->chunk_bytes - in.head < unit)) {
    std::memmove(old->data + start, old->data + in.head, have);
  } else if (old != nullptr && ep->chunk_bytes - in.head >= unit + 16) {
    if (have == 0) in.head = in.tail = aligned(in.tail) + start;
    return true;
  } else {
    Chunk* const fresh = take_chunk(ep);
    if (fresh == nullptr) return false;
    in.chunk = fresh;
    if (have != 0) std::memcpy(in.chunk->data + start, old->data + in.head, have);
    if (old != nullptr) give_back_chunk(ep, old);
  }
  in.head = start;
  in.tail = start + have;
  return true;
}

// Moves what has come of a payload to its place. True: all of it, and its padding, is there.
bool go_on_placing(Inbox& in) {
  const size_t part = std::min(in.left, in.tail - in.head);
  if (in.to != nullptr && part != 0) {
    std::memcpy(in.to, in.chunk->data + in.head, part);
    in.to += part;
  }
  in.head += part;
  in.left -= part;
  if (in.left != 0) return false;
  const size_t padding = std::min(in.padding, in.tail - in.head);
  in.head += padding;
  in.padding -= padding;
  return in.padding == 0;
}

// Bytes from the socket, the rest of a payload straight into its place. 0: there are none.
size_t fill(Link& link) {
  cwyc_ep* const ep = link.ep;
  Inbox& in = link.in;
  if (!make_room(ep, in)) {
    lose_link(link, "no memory for what the peer sends");
    return 0;
  }
  const bool begun = in.head != in.tail || (in.placing && in.to == nullptr);
  const size_t room = std::min(ep->chunk_bytes - in.tail, begun ? ep->chunk_bytes : unseen_bytes);
  const bool direct = in.placing && in.to != nullptr && in.left != 0 && in.head == in.tail;
  iovec pieces[] = {{in.to, in.left}, {in.chunk->data + in.tail, room}};
  ++ep->receives;
  const ssize_t got = direct ? readv(link.socket.get(), pieces, 2)
                             : recv(link.socket.get(), pieces[1].iov_base, room, MSG_DONTWAIT);
  in.emptied = got < static_cast<ssize_t>(room + (direct ? in.left : 0));
  if (got > 0) {
    link.used = true;
    const size_t placed = direct ? std::min(in.left, static_cast<size_t>(got)) : 0;
    if (placed != 0) in.to += placed;
    in.left -= placed;
    in.tail += static_cast<size_t>(got) - placed;
    return static_cast<size_t>(got);
  }
  const int error = got < 0 ? errno : 0;
  if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR) return 0;
  const bool parks = link.state == LinkState::parking && !link.asked && in.head == in.tail;
  if (got == 0 && parks && !link.out.broken)
    park(link);
  else if (!awaits_datagrams(link))
    lose_link(link, got == 0 ? "the connection was closed by the peer" : strerrordesc_np(error));
  return 0;
}

// A long whose payload was refused goes with it.
bool is_void(Link& link, const char* frame) {
  FrameHeader h;
  std::memcpy(&h, frame, sizeof h);
  return h.kind == FrameKind::am_long && std::exchange(link.part_refused, false);
}

uint32_t take_frame(Link& link, Chunk* chunk, char* frame, const Unit& unit, uint32_t lane) {
  cwyc_ep* const ep = link.ep;
  if (__builtin_expect(link.part_refused, 0) && is_void(link, frame)) {
    ep->counters.dropped.add(1);
    return 1;
  }
  ++chunk->held;  // so that a nested progress leaves it alone
  const uint32_t events = on_frame(ep, chunk, frame, unit.length, lane, link.index);
  Network::kept_done(ep, chunk);
  return events;
}

}  // namespace

uint32_t take_unit(Link& link, Chunk* chunk, char* head, const Unit& unit, uint32_t lane) {
  if (unit.kind == UnitKind::frame) return take_frame(link, chunk, head + sizeof unit, unit, lane);
  if (!serve(link, unit, head)) lose_link(link, "the peer sends what nobody asked for");
  return 1;
}

bool is_sound(const cwyc_ep* ep, const Unit& unit) {
  if (head_of(unit) == 0) return false;
  return unit.kind != UnitKind::frame ||
         (unit.length % 16 == 0 && unit.length >= sizeof(FrameHeader) &&
          unit.length <= ep->frame_max + fabric::frame_overhead);
}

namespace {

// Datagrams have brought a unit before the stream did.
void skip(Link& link, const Unit& unit, size_t whole) {
  Inbox& in = link.in;
  link.datagrams.at += whole;
  in.unit = unit;
  in.unit.kind = UnitKind::sync;  // whose end is nobody's
  in.placing = true;
  in.to = nullptr;
  in.left = whole;
  in.padding = 0;
}

// Looks at the units that are there. A delivery may end the link.
uint32_t take_units(cwyc_ep* ep, uint32_t index, uint32_t budget, uint32_t lane) {
  uint32_t events = 0;
  while (events < budget) {
    Link* const link = find_link(ep, index);
    if (link == nullptr || !link->socket) break;
    Inbox& in = link->in;
    if (__builtin_expect(link->purged, 0)) {  // of an older epoch
      in.head = in.tail;
      in.placing = false;
      break;
    }
    if (in.placing) {
      if (!go_on_placing(in)) break;
      in.placing = false;
      if (in.unit.kind != UnitKind::sync) {
        link->datagrams.taken = link->datagrams.at;
        placed(*link);
      }
      ++events;
      continue;
    }
    const size_t have = in.tail - in.head;
    Unit unit;
    if (have < sizeof unit) break;
    std::memcpy(&unit, in.chunk->data + in.head, sizeof unit);
    const size_t need = head_of(unit) + (unit.kind == UnitKind::frame ? unit.length : size_t{0});
    if (!is_sound(ep, unit)) {
      lose_link(*link, "the peer sends what cannot be understood");
      break;
    }
    if (have < need) break;
    if (__builtin_expect(link->state == LinkState::parking, 0) && unparks(unit.kind))
      stay_up(*link);
    char* const head = in.chunk->data + in.head;
    Datagrams& account = link->datagrams;
    if (__builtin_expect(unit.kind != UnitKind::sync, 1)) {
      const size_t whole = whole_of(unit);
      if (__builtin_expect(account.at != account.taken, 0)) {
        skip(*link, unit, whole);
        continue;
      }
      account.at += whole;
      if (!is_placed(unit)) account.taken = account.at;
    }
    in.head += need;
    events += take_unit(*link, in.chunk, head, unit, lane);
  }
  return events;
}

}  // namespace

Chunk* Network::make_buffer(cwyc_ep* ep) {
  return fabric::new_buffer(ep, ep->chunk_bytes);
}

Chunk* take_chunk(cwyc_ep* ep) {
  Chunk* const chunk = fabric::idle_or_new(ep);
  if (chunk != nullptr) chunk->released = false;
  return chunk;
}

void give_back_chunk(cwyc_ep* ep, Chunk* chunk) {
  chunk->released = true;
  if (chunk->held == 0) ep->idle_buffers.push_back(chunk);
}

void Network::kept_done(cwyc_ep* ep, Chunk* chunk) {
  if (--chunk->held == 0 && chunk->released) ep->idle_buffers.push_back(chunk);
}

void clear_inbox(Link& link) {
  if (link.in.chunk != nullptr) give_back_chunk(link.ep, link.in.chunk);
  link.in = {};
}

uint32_t read_link(cwyc_ep* ep, uint32_t index, uint32_t budget, uint32_t lane) {
  uint32_t events = 0;
  for (int reads = 0;; ++reads) {
    events += take_units(ep, index, budget - events, lane);
    Link* const link = find_link(ep, index);
    if (link == nullptr || !link->socket) return events;
    if (link->state == LinkState::connecting) return events;  // anew, within a delivery
    if (events >= budget) {
      if (!link->unread) ep->unread.push_back(index);
      link->unread = true;
      return events;
    }
    Inbox& in = link->in;
    const bool emptied = reads != 0 && in.emptied;
    if (!emptied && reads != most_reads && fill(*link) != 0) continue;
    if (in.chunk != nullptr && in.head == in.tail) {
      give_back_chunk(ep, std::exchange(in.chunk, nullptr));
      in.head = in.tail = 0;
    }
    return events;
  }
}

}  // namespace causeway::eth
