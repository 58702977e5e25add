// Small units by datagrams beside the stream: a third of a round trip goes into TCP, and a lost
// packet of it costs 200 ms.
//
// The stream stays the one that repairs. A datagram carries the offset of its units, and is taken
// only in its place; the sender keeps a copy until the peer tells that it has taken the units.
// Where anything leaves over the stream, all copies do before it, behind a `sync` that says where
// they stand; units that have been taken already are skipped there. So the stream alone brings
// every unit in order, and datagrams only bring some of them sooner. A copy that is too old leaves
// over the stream for that reason alone. A datagram is sent only where the peer is known to have
// taken all that the stream carries: a datagram that overtakes a unit of the stream is dropped.
#include "datagrams.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "calls.h"

namespace causeway::eth {
namespace {

// A copy waits for four round trips of the network, as the stream's kernel has measured them.
constexpr uint64_t least_patience_ns = 1'000'000, most_patience_ns = 200'000'000;
// Where this side or the other was away for so long, the stream is used for as long, a second at
// most. A process that computes repairs nothing, and kernels do.
constexpr uint64_t absence_ns = 100'000'000, most_absence_ns = 1'000'000'000;
// Between two questions whether datagrams arrive: from the first to the last while none is
// answered.
constexpr uint64_t first_ask_ns = 1'000'000, last_ask_ns = 1'000'000'000;
constexpr uint32_t most_given_up = 5;  // in a row, as far as it counts
// A path on which nothing of so many has arrived has none.
constexpr uint32_t most_unanswered = 16;
// Peers that exchange a few small messages do without.
constexpr uint32_t worth_a_socket = 16;
constexpr size_t small_bytes = 1024;
// Peers are told of taken units by whatever leaves anyway, or after so many passes without.
constexpr uint32_t passes_owed = 4;

constexpr size_t slot_bytes = (datagram_bytes + 63) / 64 * 64;

char* slot(const Datagrams& d, uint32_t number) {
  return d.copies.get() + (number % most_under_way) * slot_bytes;
}

DatagramHead head_for(const Link& link, DatagramStep step) {
  const Datagrams& d = link.datagrams;
  return {d.token_there, step, d.left, d.taken, 0};
}

bool transmit(Link& link, const void* bytes, size_t length) {
  Datagrams& d = link.datagrams;
  if (!d.ready) return false;
  ++link.ep->sends;
  if (send(d.socket.get(), bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    if (errno == EMSGSIZE) d.most = 0;
    return false;
  }
  d.told = d.taken;
  d.repeats = false;
  return true;
}

void say(Link& link, DatagramStep step) {
  const DatagramHead head = head_for(link, step);
  transmit(link, &head, sizeof head);
}

void close_socket(Link& link) {
  Datagrams& d = link.datagrams;
  d.ready = d.proven = d.unwatched = false;
  d.small = worth_a_socket;
  if (d.socket) --link.ep->datagrams.sockets;
  d.socket = Descriptor();
}

// Tells the peer where this side takes datagrams, if it does.
void offer_port(Link& link) {
  Datagrams& d = link.datagrams;
  Unit unit{};
  unit.kind = UnitKind::port;
  if (d.socket) {
    d.token_here = static_cast<uint32_t>(random_word());
    unit.key = d.token_here;
    unit.count = local_port(d.socket.get());
  }
  stage_unit(link, unit);
  push(link, false);
}

// Without an answer nothing but the question is lost: the units leave over the stream meanwhile.
void ask(Link& link) {
  Datagrams& d = link.datagrams;
  const uint64_t now = services->now();
  const bool hears = d.taken != d.asked_taken;  // else the peer may compute
  if (now < d.ask_at || (!hears && now < d.asked_at + last_ask_ns)) return;
  if (d.unanswered == most_unanswered && !d.arrives) {
    log(CWY_LOG_DEBUG, "no datagram to rank %u is answered: all goes over the connection",
        link.peer.rank);
    close_socket(link);
    return offer_port(link);
  }
  d.ask_at = now + std::min(first_ask_ns << std::min(d.unanswered, 10u), last_ask_ns);
  if (hears && d.unanswered < most_unanswered) ++d.unanswered;
  d.asked_at = now;
  d.asked_taken = d.taken;
  say(link, DatagramStep::ask);
}

uint64_t patience_on(int stream) {
  tcp_info info{};
  socklen_t length = sizeof info;
  getsockopt(stream, IPPROTO_TCP, TCP_INFO, &info, &length);
  // The shortest: others include the time that a peer took for its answer. Kernels before 4.9 tell
  // the average alone.
  const uint64_t round_trip_us = info.tcpi_min_rtt != 0 ? info.tcpi_min_rtt : info.tcpi_rtt;
  return std::clamp(4000 * round_trip_us, least_patience_ns, most_patience_ns);
}

bool is_overdue(const Datagrams& d, uint64_t now) {
  return now > d.sent_at[d.oldest % most_under_way] + d.patience_ns;
}

// The oldest datagram is not under way any more. True: the way took a long time.
bool heed_absence(Datagrams& d) {
  const uint64_t now = services->now(), away = now - d.sent_at[d.oldest % most_under_way];
  if (away < d.patience_ns + absence_ns) return false;
  d.proven = false;
  d.ask_at = now + std::min(away, most_absence_ns);
  return true;
}

// The peer has not told in time that it has taken the oldest of them, so the stream brings them
// all. Where that goes on, because it computes, or long datagrams do not arrive, it happens ever
// more rarely.
void give_up(Link& link) {
  Datagrams& d = link.datagrams;
  if (!heed_absence(d) && d.given_up != 0)
    d.ask_at = services->now() + (first_ask_ns << 2 * d.given_up);
  d.given_up = std::min(d.given_up + 1, most_given_up);
  d.proven = false;
  ++link.ep->datagrams.given_up;
}

void set_alarm(cwyc_ep* ep) {
  EndpointDatagrams& shared = ep->datagrams;
  if (std::exchange(shared.alarm_set, true)) return;
  itimerspec when{};
  when.it_value.tv_nsec = 2 * least_patience_ns;
  timerfd_settime(shared.alarm.get(), 0, &when, nullptr);
}

// Copies all that waits in the outbox, and sends it. False: nothing has left.
bool send_datagram(Link& link) {
  Datagrams& d = link.datagrams;
  Outbox& out = link.out;
  char* const datagram = slot(d, d.next);
  const DatagramHead head = head_for(link, DatagramStep::units);
  std::memcpy(datagram, &head, sizeof head);
  char* end = datagram + sizeof head;
  for (size_t i = out.first; i < out.pieces.size(); ++i) {
    if (out.pieces[i].length != 0) std::memcpy(end, out.pieces[i].data, out.pieces[i].length);
    end += out.pieces[i].length;
  }
  if (!transmit(link, datagram, static_cast<size_t>(end - datagram))) {
    d.proven = d.proven && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS);
    return false;
  }
  if (!std::exchange(d.waits, true)) link.ep->datagrams.waiting.push_back(link.index);
  if (__builtin_expect(!link.ep->sleepers.empty(), 0)) set_alarm(link.ep);
  d.left += out.bytes;
  d.ends[d.next % most_under_way] = d.left;
  d.sent_at[d.next % most_under_way] = services->now();
  ++d.next;
  d.behind = true;
  link.used = true;
  ++link.ep->datagrams.sent;
  out.counted = out.bytes;
  consume(link, out.bytes);
  return true;
}

Unit sync_of(Datagrams& d, uint64_t offset) {
  Unit unit{};
  unit.kind = UnitKind::sync;
  unit.key = static_cast<uint32_t>(offset / 16);
  unit.count = static_cast<uint32_t>(d.taken / 16);
  d.told = d.taken;
  return unit;
}

// Puts in front of what waits: where that stands, and the copies of what the peer may lack. Their
// slots are free again when those have left, and no datagram leaves before.
void lead_back(Link& link) {
  Datagrams& d = link.datagrams;
  Outbox& out = link.out;
  std::array<Piece, 1 + most_under_way> pieces{};
  size_t count = 0;
  pieces[count++] = {reinterpret_cast<const char*>(&d.sync), sizeof d.sync};
  uint64_t from = d.left;
  if (d.under_way()) {
    DatagramHead head;
    std::memcpy(&head, slot(d, d.oldest), sizeof head);
    from = head.offset;
  }
  d.sync = sync_of(d, from);
  uint64_t offset = from;
  for (; d.under_way(); ++d.oldest) {
    const uint64_t end = d.ends[d.oldest % most_under_way];
    pieces[count++] = {slot(d, d.oldest) + sizeof(DatagramHead), end - offset};
    offset = end;
  }
  out.pieces.insert(out.pieces.begin() + static_cast<ptrdiff_t>(out.first), pieces.begin(),
                    pieces.begin() + static_cast<ptrdiff_t>(count));
  out.bytes += sizeof d.sync + (offset - from);
  d.behind = false;
}

// Counts the outbox as leaving over the stream. The peer is told of taken units where that costs
// little.
void join_stream(Link& link, bool small) {
  Datagrams& d = link.datagrams;
  Outbox& out = link.out;
  const size_t fresh = out.bytes - out.counted;
  if (fresh == 0 && !d.under_way()) return;
  if (d.behind) lead_back(link);
  d.left += fresh;
  d.streamed = d.left;
  if (small && d.ready && d.told != d.taken) stage_unit(link, sync_of(d, d.left));
  out.counted = out.bytes;
}

bool open_alarm(cwyc_ep* ep) {
  EndpointDatagrams& shared = ep->datagrams;
  if (shared.alarm) return true;
  shared.alarm = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (shared.alarm &&
      !watch(ep, EPOLL_CTL_ADD, shared.alarm.get(), EPOLLIN, name_of(Source::alarm, 0)))
    shared.alarm = Descriptor();
  return static_cast<bool>(shared.alarm);
}

// A socket at the stream's own place. False: there is none.
bool open_socket(Link& link) {
  cwyc_ep* const ep = link.ep;
  Datagrams& d = link.datagrams;
  Place here;
  const bool wished = ep->datagrams.sockets < ep->datagrams.most_sockets;
  if (!wished || !local_place(link.socket.get(), here) || !open_alarm(ep)) return false;
  sockaddr_storage at{};
  const socklen_t length = socket_address(here, 0, at);
  d.socket = Descriptor(socket(at.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!d.socket) return false;
  ++ep->datagrams.sockets;
  // The outbox may refer to those of an earlier socket.
  if (d.copies == nullptr) d.copies.reset(new (std::nothrow) char[most_under_way * slot_bytes]);
  const uint64_t name = name_of(Source::datagrams, link.index);
  if (d.copies != nullptr &&
      bind(d.socket.get(), reinterpret_cast<const sockaddr*>(&at), length) == 0 &&
      watch(ep, EPOLL_CTL_ADD, d.socket.get(), EPOLLIN, name))
    return true;
  close_socket(link);
  return false;
}

// Whether one more may be sent, behind those that are under way.
bool has_room(Link& link) {
  Datagrams& d = link.datagrams;
  if (!d.under_way()) return true;
  const bool late = is_overdue(d, services->now());
  if (late) give_up(link);
  return !late && d.next - d.oldest < most_under_way;
}

// Makes the peer's place and port the only ones that the socket hears, and speaks to.
bool lead_to_peer(Link& link, const Unit& port) {
  Datagrams& d = link.datagrams;
  Place peer;
  if (!remote_place(link.socket.get(), peer)) return false;
  sockaddr_storage to{};
  const socklen_t length = socket_address(peer, static_cast<uint16_t>(port.count), to);
  if (connect(d.socket.get(), reinterpret_cast<const sockaddr*>(&to), length) != 0) return false;
  // A datagram's own header is smaller than that of TCP, whose packets carry so much here.
  int segment = 0;
  socklen_t size = sizeof segment;
  getsockopt(link.socket.get(), IPPROTO_TCP, TCP_MAXSEG, &segment, &size);
  const size_t room =
      std::max<size_t>(static_cast<size_t>(std::max(segment, 0)), 2 * sizeof(DatagramHead));
  d.most = static_cast<uint32_t>(std::min(room - sizeof(DatagramHead), most_units));
  d.token_there = port.key;
  d.ready = true;
  return true;
}

// The link may be worth a socket for datagrams: the offer leaves with what waits.
void consider(Link& link) {
  Datagrams& d = link.datagrams;
  if (++d.small != worth_a_socket || d.socket) return;
  if (open_socket(link))
    offer_port(link);
  else
    d.small = 0;  // another link may have given one back by then
}

}  // namespace

void end_datagrams(Link& link) {
  close_socket(link);
  link.datagrams = {};
}

void bring_back(Link& link) {
  if (!link.datagrams.under_way()) return;
  join_stream(link, true);
  flush(link);
}

bool give_back_sockets(cwyc_ep* ep) {
  if (ep->datagrams.sockets == 0) return false;
  ep->datagrams.most_sockets = 0;
  for (const auto& link : ep->links) {
    if (link == nullptr || !link->datagrams.socket || link->state != LinkState::up) continue;
    close_socket(*link);
    offer_port(*link);
  }
  return true;
}

void on_port(Link& link, const Unit& unit) {
  Datagrams& d = link.datagrams;
  const bool wanted = unit.count != 0 && unit.count <= UINT16_MAX && !d.ready;
  const bool first = wanted && !d.socket;
  if (wanted && (d.socket || open_socket(link)) && lead_to_peer(link, unit)) {
    if (first) offer_port(link);
    return;
  }
  if (unit.count == 0) return close_socket(link);
  close_socket(link);
  if (wanted) offer_port(link);
}

// Questions whether the connection may be closed are the stream's last, and so are the last words
// of a process: nobody is there to give up a copy.
bool leave_by_datagram(Link& link) {
  Datagrams& d = link.datagrams;
  const Outbox& out = link.out;
  if (out.bytes == out.counted) return false;
  const bool streams = link.state != LinkState::up || link.ep->closes_at != 0;
  // Beside many operations throughput counts, which is the stream's strength.
  const bool few = link.in_flight <= few_under_way;
  const bool small = few && out.bytes <= d.most && out.counted == 0 && !streams;
  if (!d.ready) {
    if (out.bytes <= small_bytes && d.small < worth_a_socket && !streams) consider(link);
  } else if (small && (!d.proven || d.known < d.streamed)) {
    ask(link);
  } else if (small && has_room(link) && send_datagram(link)) {
    return true;
  }
  join_stream(link, small);
  return false;
}

bool hear_taken(Link& link, uint64_t taken) {
  Datagrams& d = link.datagrams;
  if (taken > d.left) return false;
  d.known = std::max(d.known, taken);
  if (!d.under_way() || d.ends[d.oldest % most_under_way] > d.known) return true;
  heed_absence(d);
  d.given_up = 0;
  while (d.under_way() && d.ends[d.oldest % most_under_way] <= d.known) ++d.oldest;
  return true;
}

bool on_sync(Link& link, const Unit& unit) {
  Datagrams& d = link.datagrams;
  // Whole offsets, from their lower parts: both are behind what this side knows.
  const auto behind = [](uint64_t here, uint32_t there) {
    return uint64_t{static_cast<uint32_t>(here / 16) - there} * 16;
  };
  const uint64_t repeated = behind(d.taken, unit.key), missing = behind(d.left, unit.count);
  if (repeated > d.taken || missing > d.left) return false;
  d.at = d.taken - repeated;
  return hear_taken(link, d.left - missing);
}

void on_step(Link& link, DatagramStep step) {
  Datagrams& d = link.datagrams;
  if (step == DatagramStep::ask) say(link, DatagramStep::answer);
  if (step != DatagramStep::answer) return;
  if (!std::exchange(d.arrives, true))
    log(CWY_LOG_DEBUG, "datagrams of %u bytes arrive at rank %u", d.most, link.peer.rank);
  d.patience_ns = patience_on(link.socket.get());
  if (services->now() > d.asked_at + d.patience_ns) return;  // they would all be given up
  d.proven = true;
  d.unanswered = 0;
}

void owe_taken(Link& link) {
  Datagrams& d = link.datagrams;
  if (d.told == d.taken) d.owes_since = link.ep->passes;
  if (!std::exchange(d.owes, true)) link.ep->datagrams.owing.push_back(link.index);
}

void tell_taken(cwyc_ep* ep, bool now) {
  std::erase_if(ep->datagrams.owing, [&](uint32_t index) {
    Link* const link = find_link(ep, index);
    if (link == nullptr || !link->socket) return true;
    Datagrams& d = link->datagrams;
    const bool owes = d.told != d.taken || d.repeats;
    if (owes && !now && ep->passes - d.owes_since < passes_owed) return false;
    d.owes = false;
    if (owes) say(*link, DatagramStep::units);
    return true;
  });
}

void look_after_datagrams(cwyc_ep* ep) {
  const uint64_t now = services->now();
  std::vector<uint32_t>& waiting = ep->datagrams.waiting;
  size_t kept = 0;
  for (size_t i = 0; i < waiting.size(); ++i) {
    Link* const link = find_link(ep, waiting[i]);
    if (link == nullptr) continue;
    Datagrams& d = link->datagrams;
    if (d.under_way() && !is_overdue(d, now)) {
      waiting[kept++] = link->index;
      continue;
    }
    d.waits = false;
    if (!d.under_way()) continue;
    give_up(*link);
    bring_back(*link);
  }
  waiting.resize(kept);
}

bool sleep_beside_datagrams(cwyc_ep* ep) {
  EndpointDatagrams& shared = ep->datagrams;
  if (!shared.owing.empty()) tell_taken(ep, true);
  if (!shared.waiting.empty()) set_alarm(ep);
  return shared.left == 0;
}

void on_alarm(cwyc_ep* ep) {
  uint64_t times;
  ep->datagrams.alarm_set = false;
  if (read(ep->datagrams.alarm.get(), &times, sizeof times) > 0) look_after_datagrams(ep);
  if (!ep->datagrams.waiting.empty() && !ep->sleepers.empty()) set_alarm(ep);
}

}  // namespace causeway::eth
