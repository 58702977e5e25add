// How staged units leave over a stream.
#include "outbox.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

#include "calls.h"

namespace causeway::eth {
namespace {

constexpr size_t most_pieces_at_once = 64;

void drained(Link& link) {
  Outbox& out = link.out;
  out.pieces.clear();
  out.first = out.bytes = out.counted = out.fill = 0;
  out.copies.clear();
  if (Chunk* chunk = std::exchange(out.chunk, nullptr)) give_back_chunk(link.ep, chunk);
}

}  // namespace

void consume(Link& link, size_t sent) {
  Outbox& out = link.out;
  out.bytes -= sent;
  out.counted -= std::min(sent, out.counted);
  while (!out.empty()) {
    Piece& piece = out.pieces[out.first];
    const size_t part = std::min(sent, piece.length);
    piece.data += part;
    piece.length -= part;
    sent -= part;
    if (piece.length != 0) return;
    ++out.first;
    if (piece.chunk != nullptr) give_back_chunk(link.ep, piece.chunk);
    if (piece.ticket != nullptr && --piece.ticket->unsent == 0) left_here(link.ep, piece.ticket);
  }
  drained(link);
}

namespace {

ssize_t send_pieces_of(Link& link) {
  const Outbox& out = link.out;
  iovec pieces[most_pieces_at_once];
  size_t count = 0;
  for (size_t i = out.first; i < out.pieces.size() && count < most_pieces_at_once; ++i)
    pieces[count++] = {const_cast<char*>(out.pieces[i].data), out.pieces[i].length};
  ++link.ep->sends;
  constexpr int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
  if (count == 1) return ::send(link.socket.get(), pieces[0].iov_base, pieces[0].iov_len, flags);
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  return sendmsg(link.socket.get(), &message, flags);
}

// Epoll tells when a socket that is full has room again.
void set_blocked(Link& link, bool blocked) {
  if (std::exchange(link.out.blocked, blocked) == blocked) return;
  link.ep->full += blocked ? 1 : -1;
  link.ep->blocked += blocked ? 1 : 0;
  const int operation = link.unwatched ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  const uint32_t events = blocked ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (watch(link.ep, operation, link.socket.get(), events, name_of(Source::link, link.index)))
    link.unwatched = false;
  else
    break_off(link);  // epoll would not tell of room
}

}  // namespace

// The chunk that is full goes back behind its last piece.
char* stage_in_fresh(Link& link, size_t bytes) {
  Chunk* const fresh = take_chunk(link.ep);
  if (fresh == nullptr) return nullptr;
  Outbox& out = link.out;
  if (out.chunk != nullptr) out.pieces.push_back({nullptr, 0, nullptr, out.chunk});
  out.chunk = fresh;
  out.fill = bytes;
  out.bytes += bytes;
  out.pieces.push_back({fresh->data, bytes});
  return fresh->data;
}

// Once a socket takes nothing more, what is read from it tells why.
void flush(Link& link, bool again) {
  if ((link.out.blocked && !again) || link.out.broken || !link.socket) return;
  if (link.told != link.done) stage_ack(link);
  if (leave_by_datagram(link)) return;
  while (!link.out.empty() && !link.out.broken) {
    const ssize_t sent = send_pieces_of(link);
    if (sent >= 0) {
      link.used = true;
      consume(link, static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      set_blocked(link, true);
      return;
    } else if (errno != EINTR) {
      break_off(link);
    }
  }
  set_blocked(link, false);
}

void clear_outbox(Link& link) {
  Outbox& out = link.out;
  for (size_t i = out.first; i < out.pieces.size(); ++i)
    if (Chunk* chunk = out.pieces[i].chunk) give_back_chunk(link.ep, chunk);
  drained(link);
  set_blocked(link, false);
  out.broken = false;
}

// Half a unit has been promised, or the peer hears nothing any more: what is read from the socket
// tells that it has ended.
void break_off(Link& link) {
  link.out.broken = true;
  shutdown(link.socket.get(), SHUT_RDWR);
}

static void attach(Link& link, const Piece& piece) {
  const size_t padding = padding_of(piece.length);
  link.out.pieces.push_back(piece);
  link.out.bytes += piece.length;
  if (padding == 0) return;
  if (char* const place = stage(link, padding))
    std::memset(place, 0, padding);
  else
    break_off(link);
}

void attach_payload(Link& link, Ticket* ticket, const void* data, size_t length) {
  ++ticket->unsent;
  attach(link, {static_cast<const char*>(data), length, ticket});
}

void attach_segment(Link& link, const char* data, size_t length) {
  attach(link, {data, length, nullptr, nullptr, true});
}

void save_segments(Link& link, uint64_t base, uint64_t length) {
  Outbox& out = link.out;
  for (size_t i = out.first; i < out.pieces.size(); ++i) {
    Piece& piece = out.pieces[i];
    const auto at = reinterpret_cast<uint64_t>(piece.data);
    if (!piece.segment || at + piece.length <= base || at >= base + length) continue;
    out.copies.push_back(std::make_unique<char[]>(piece.length));
    std::memcpy(out.copies.back().get(), piece.data, piece.length);
    piece.data = out.copies.back().get();
    piece.segment = false;
  }
}

// ---- frames

// A header in front of a frame, of which the first `copied` bytes are staged with it.
static bool stage_frame(Link& link, size_t length, const char* frame, size_t copied) {
  char* const place = stage(link, sizeof(Unit) + copied);
  if (place == nullptr) return false;
  const Unit unit{static_cast<uint32_t>(length), UnitKind::frame, 0, 0, 0, 0, 0};
  std::memcpy(place, &unit, sizeof unit);
  std::memcpy(place + sizeof unit, frame, copied);
  return true;
}

// The frame begins with the `copied` bytes of its ticket's buffer. The rest, `data`, leaves from
// where it lies.
static cwy_status send_frame(Link& link, Ticket* ticket, size_t length, size_t copied,
                             const void* data, size_t rest) {
  if (!link.socket || !stage_frame(link, length, ticket->bounce->data, copied)) {
    give_back_ticket(link.ep, ticket);
    return CWY_RETRY;
  }
  ticket->unsent = 0;
  attach_pending(link, ticket);
  attach_payload(link, ticket, data, rest);
  push(link, true);
  return CWY_OK;
}

cwy_status Network::may_control(Link& link) {
  if (link.state == LinkState::parking) return may_send_later(link);
  return link.socket && link.state == LinkState::up ? CWY_OK : CWY_ERR_PEER_FAILED;
}

// Frames are padded already.
cwy_status Network::send_at_once(Link& link, const char* frame, size_t length) {
  if (!stage_frame(link, length, frame, length)) return CWY_RETRY;
  push(link, true);
  return CWY_OK;
}

cwy_status Network::send(Link& link, Ticket* ticket, const char* data, size_t length, NoKey) {
  return send_reserved(link, ticket, length) && data != nullptr ? CWY_OK : CWY_RETRY;
}

// Without memory for the header the link cannot go on, and nobody can be asked to try again.
bool Network::send_reserved(Link& link, Ticket* ticket, size_t length) {
  return send_frame(link, ticket, length, 0, ticket->bounce->data, length) == CWY_OK;
}

cwy_status Network::send_pieces(Link& link, Ticket* ticket, size_t head, size_t padding,
                                const Local& payload, size_t length) {
  return send_frame(link, ticket, head + length + padding, head, payload.data, length);
}

}  // namespace causeway::eth
