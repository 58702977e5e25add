// The functions that the files of this conduit call of each other.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "objects.h"

namespace causeway::eth {

// ---- inbox.cpp
// Whether any peer sends such a unit.
bool is_sound(const cwyc_ep* ep, const Unit& unit);
// A unit whose head, with the payload of a frame, is there in a chunk. The delivery of a frame may
// end the link.
uint32_t take_unit(Link& link, Chunk* chunk, char* head, const Unit& unit, uint32_t lane);
// NULL: no memory.
Chunk* take_chunk(cwyc_ep* ep);
void give_back_chunk(cwyc_ep* ep, Chunk* chunk);
void clear_inbox(Link& link);
// Takes what waits in the link's inbox, and what its socket has, within the budget.
uint32_t read_link(cwyc_ep* ep, uint32_t index, uint32_t budget, uint32_t lane);

inline void Network::frame_kept(Chunk* chunk) {
  ++chunk->held;
}
inline bool Network::came_by(const Link& link, uint32_t index) {
  return link.index == index;
}

// ---- outbox.cpp
// Most bytes that a link takes over before its socket has room for them.
inline constexpr size_t outbox_limit = 4 << 20;
// Operations behind others wait for each other until so much is there.
inline constexpr size_t batch_bytes = 64 << 10;
// Vectors and payloads that are not copied leave at once beside fewer operations of their link. Few
// are no stream, and the program may be about to compute.
inline constexpr uint32_t few_under_way = 8;
// Payloads up to here are copied; longer ones are sent from where they are.
inline constexpr size_t copied_payload = 4096;

// Another chunk; NULL: no memory.
char* stage_in_fresh(Link& link, size_t bytes);
// So many bytes of what waits have left.
void consume(Link& link, size_t sent);
// `again`: the socket may have room again.
void flush(Link& link, bool again = false);
void clear_outbox(Link& link);
// A piece of the caller's memory, whose ticket hears when it has left, with its padding.
void attach_payload(Link& link, Ticket* ticket, const void* data, size_t length);
// The same of memory that peers may read.
void attach_segment(Link& link, const char* data, size_t length);
// Ends the stream; the link is lost when that has been read.
void break_off(Link& link);
// Copies what waits to leave of memory that is given away.
void save_segments(Link& link, uint64_t base, uint64_t length);

// Room behind all that waits, in one piece; NULL: no memory.
inline char* stage(Link& link, size_t bytes) {
  Outbox& out = link.out;
  if (__builtin_expect(out.chunk == nullptr || out.fill + bytes > link.ep->chunk_bytes, 0))
    return stage_in_fresh(link, bytes);
  char* const place = out.chunk->data + out.fill;
  out.fill += bytes;
  out.bytes += bytes;
  if (!out.empty()) {
    Piece& last = out.pieces.back();
    if (last.data + last.length == place && last.ticket == nullptr && !last.segment) {
      last.length += bytes;
      return place;
    }
  }
  out.pieces.push_back({place, bytes});
  return place;
}

// Staged units may leave. `now`: nothing is about to follow them. Inside of progress everything
// waits for its end.
inline void push(Link& link, bool now) {
  if (link.ep->inside == 0 && !link.out.blocked && (now || link.out.bytes >= batch_bytes))
    return flush(link);
  if (link.dirty) {
    // Units that a pass or another thread adds do not wait for the first thread's company.
    if (link.collector != pthread_t{} && (link.ep->inside != 0 || link.collector != pthread_self()))
      link.collector = {};
    return;
  }
  const bool collects = link.ep->inside == 0 && link.ep->domain->gate.several();
  link.collector = collects ? pthread_self() : pthread_t{};
  link.kept_since = link.looked = 0;
  link.dirty = true;
  link.ep->dirty.push_back(link.index);
}

// For a link that is not up: one that was parked for quiet comes back.
cwy_status may_send_later(Link& link);

inline cwy_status Network::may_send(Link& link) {
  if (__builtin_expect(link.state != LinkState::up, 0)) return may_send_later(link);
  return link.out.bytes < outbox_limit ? CWY_OK : CWY_RETRY;
}
inline cwy_status Network::may_post(Link& link, uint32_t count) {
  if (const cwy_status may = may_send(link); may != CWY_OK) return may;
  return link.ep->in_flight + count <= link.ep->in_flight_max ? CWY_OK : CWY_RETRY;
}

// ---- link.cpp
inline void attach_pending(Link& link, Ticket* ticket) {
  join_pending(link, ticket);
  ++link.ep->in_flight;
}
inline void Network::retired(Link& link, const Ticket&) {
  --link.ep->in_flight;
}
// The link's socket from now on; the one before is closed.
void set_socket(Link& link, Descriptor socket);
// Closes the socket, and drops what waits.
void close_path(Link& link);
// Hosts whose kernels are silent.
void look_for_silence(cwyc_ep* ep);

// ---- datagrams.cpp
// The connection ends.
void end_datagrams(Link& link);
// The process has no more descriptors: all links do without. False: none is open.
bool give_back_sockets(cwyc_ep* ep);
// The peer takes datagrams, or does not.
void on_port(Link& link, const Unit& unit);
// Sends the outbox by a datagram. False: the stream has to take what waits.
bool leave_by_datagram(Link& link);
// The stream brings what datagrams under way may not.
void bring_back(Link& link);
// The peer has taken so much. False: more than there is.
bool hear_taken(Link& link, uint64_t taken);
bool on_sync(Link& link, const Unit& unit);
void on_step(Link& link, DatagramStep step);
// The peer is to be told what has been taken of a datagram's units.
void owe_taken(Link& link);
// Tells the peers that have waited long enough, or all.
void tell_taken(cwyc_ep* ep, bool now);
// Gives up what the peers have not told of in time.
void look_after_datagrams(cwyc_ep* ep);
// Before a thread sleeps. False: something has come.
bool sleep_beside_datagrams(cwyc_ep* ep);
void on_alarm(cwyc_ep* ep);

// ---- datagram_inbox.cpp
// Takes units of the datagram that is there.
uint32_t take_datagram(cwyc_ep* ep, uint32_t budget, uint32_t lane);
// Reads another one, and takes its units. `found`: there was one.
uint32_t read_datagram(cwyc_ep* ep, Link& link, uint32_t budget, uint32_t lane, bool& found);
// The stream has ended: are datagrams read first?
bool awaits_datagrams(Link& link);

// ---- parking.cpp
void choose_most_sockets(cwyc_ep& ep);
// May another connection be opened, or taken? If not, quiet links are asked to close.
enum class Opening { own, taken };
bool may_open(cwyc_ep* ep, Opening opening);
// The process has no more descriptors. False: no link of the endpoint could give one back.
bool make_do(cwyc_ep* ep);
// The peer says that it wants to close, that this side may, or not. False: it could not.
bool on_park(Link& link, uint32_t step);
// Closes the stream, over which nothing is under way.
void park(Link& link);
// From `parking` the link is up again, and tells credit that it could not tell meanwhile.
void stay_up(Link& link);
// The link is about to connect again.
void unpark(Link& link);

inline void Network::reserve(Link& link) {
  ++link.reserved;
}
inline void Network::unreserve(cwyc_ep*, Link* link) {
  if (link != nullptr) --link->reserved;
}

// ---- handshake.cpp
// Where an event of epoll belongs.
enum class Source : uint32_t { link, newcomer, listener, cables, datagrams, alarm };
inline uint64_t name_of(Source source, uint32_t number) {
  return uint64_t{static_cast<uint32_t>(source)} << 32 | number;
}
bool watch(const cwyc_ep* ep, int operation, int socket, uint32_t events, uint64_t name);
cwy_status open_listener(cwyc_ep& ep, cwy_err* err);
void accept_newcomers(cwyc_ep* ep);
// Watches the listener again, if it is time.
void accept_again(cwyc_ep* ep);
uint32_t hear_newcomer(cwyc_ep* ep, uint32_t socket);
uint32_t dismiss_silent(cwyc_ep* ep, uint64_t now);
// An event of a socket that connects.
uint32_t go_on_connecting(Link& link, uint32_t events);

// ---- rma.cpp
void complete(cwyc_ep* ep, Ticket* ticket, cwy_status status);
// All of a ticket's memory has left.
void left_here(cwyc_ep* ep, Ticket* ticket);
void prepare_ticket(Ticket* ticket);
bool fetches(uint32_t operation);
// A put, a get, or a piece of either, which `ticket` reports for.
cwy_status post_piece(Link& link, Ticket* ticket, UnitKind kind, void* local, size_t length,
                      uint64_t raddr, uint32_t key);

// ---- serve.cpp
// A unit whose head, at `head`, is there. False: no unit is like that.
bool serve(Link& link, const Unit& unit, const char* head);
// The payload of link.in.unit is in place.
void placed(Link& link);
void stage_unit(Link& link, const Unit& unit);
// Tells the peer that its puts are done.
void stage_ack(Link& link);

// The table.
struct Conduit : fabric::Engine<Network> {
  static constexpr uint64_t most_pieces = 256;  // of a vector's lists
  static cwy_status putv(cwyc_conn*, const cwyc_vector*, uint32_t flags, cwyc_op*);
  static cwy_status getv(cwyc_conn*, const cwyc_vector*, uint32_t flags, cwyc_op*);
  static void mem_release(cwyc_domain*, cwyc_mem*);
  static void ep_close(cwyc_ep*);
  static cwy_status wait_fd(cwyc_ep*, int*);
  static cwy_status arm(cwyc_ep*);
};

}  // namespace causeway::eth
