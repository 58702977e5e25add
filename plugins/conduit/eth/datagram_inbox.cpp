// Datagrams that come.
#include <sys/socket.h>

#include <cstring>

#include "calls.h"

namespace causeway::eth {
namespace {

// Room for another datagram. Frames of those before may be held. False: no memory.
bool make_room(cwyc_ep* ep) {
  EndpointDatagrams& in = ep->datagrams;
  if (in.chunk != nullptr && in.chunk->held == 0) in.fill = 0;
  if (in.chunk != nullptr && ep->chunk_bytes - in.fill >= datagram_bytes) return true;
  Chunk* const fresh = take_chunk(ep);
  if (fresh == nullptr) return false;
  if (in.chunk != nullptr) give_back_chunk(ep, in.chunk);
  in.chunk = fresh;
  in.fill = 0;
  return true;
}

// Only the peer knows the token, and only what is next is taken: what came before has been brought
// by the stream, and what is missing will be.
void accept(Link& link, size_t got) {
  cwyc_ep* const ep = link.ep;
  EndpointDatagrams& in = ep->datagrams;
  Datagrams& d = link.datagrams;
  DatagramHead head{};
  if (got >= sizeof head) std::memcpy(&head, in.chunk->data + in.fill, sizeof head);
  const bool sound = got >= sizeof head && got <= datagram_bytes && head.token == d.token_here;
  if (!sound || link.purged || !hear_taken(link, head.taken)) {
    ep->counters.dropped.add(1);
    return;
  }
  link.used = true;
  on_step(link, head.step);
  if (got == sizeof head) return;
  owe_taken(link);
  d.repeats |= head.offset < d.taken;
  if (head.offset != d.taken) return;
  in.link = link.index;
  in.at = in.fill + sizeof head;
  in.left = got - sizeof head;
  in.offset = head.offset;
  in.fill = aligned(in.fill + got);
}

// Puts the payload that stands behind the head of a unit where it belongs.
void place(Link& link, const char* payload) {
  Inbox& in = link.in;
  if (in.to != nullptr && in.left != 0) std::memcpy(in.to, payload, in.left);
  in.placing = false;
  placed(link);
}

// The next unit of the datagram that is there. A delivery may take the others within. False: none
// is left, or the stream brings the rest.
bool take_next(cwyc_ep* ep, uint32_t lane, uint32_t& events) {
  EndpointDatagrams& shared = ep->datagrams;
  Link* const link = find_link(ep, shared.link);
  const size_t left = std::exchange(shared.left, 0);
  if (left < sizeof(Unit) || link == nullptr || !link->socket || link->purged) return false;
  Datagrams& d = link->datagrams;
  if (link->in.placing || d.taken != shared.offset) return false;
  char* const head = shared.chunk->data + shared.at;
  Unit unit;
  std::memcpy(&unit, head, sizeof unit);
  const size_t whole = whole_of(unit);
  if (!is_sound(ep, unit) || unit.kind == UnitKind::sync || whole > left) {
    lose_link(*link, "the peer sends what cannot be understood");
    return false;
  }
  shared.at += whole;
  shared.left = left - whole;
  shared.offset += whole;
  d.taken = shared.offset;
  if (__builtin_expect(link->state == LinkState::parking, 0) && unparks(unit.kind)) stay_up(*link);
  events += take_unit(*link, shared.chunk, head, unit, lane);
  if (is_placed(unit) && link->in.placing) place(*link, head + head_of(unit));
  return true;
}

}  // namespace

uint32_t take_datagram(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  uint32_t events = 0;
  while (ep->datagrams.left != 0 && events < budget && take_next(ep, lane, events)) {
  }
  return events;
}

uint32_t read_datagram(cwyc_ep* ep, Link& link, uint32_t budget, uint32_t lane, bool& found) {
  EndpointDatagrams& in = ep->datagrams;
  found = false;
  if (in.left != 0 || !link.datagrams.socket || !make_room(ep)) return 0;
  constexpr int flags = MSG_DONTWAIT | MSG_TRUNC;
  ++ep->receives;
  char* const place = in.chunk->data + in.fill;
  const ssize_t got = recv(link.datagrams.socket.get(), place, datagram_bytes, flags);
  found = got >= 0;  // else there is none, or the peer did not take one of this side's
  if (found) accept(link, static_cast<size_t>(got));
  return take_datagram(ep, budget, lane);
}

// Datagrams of a peer that died have come, as a rule, before the end of its stream.
bool awaits_datagrams(Link& link) {
  if (!link.datagrams.socket) return false;
  // Errors come first: what this side sent last found nobody.
  for (int tries = 0; tries != 3; ++tries) {
    char next;
    if (recv(link.datagrams.socket.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT) < 0) continue;
    if (!std::exchange(link.unread, true)) link.ep->unread.push_back(link.index);
    return true;
  }
  return false;
}

}  // namespace causeway::eth
