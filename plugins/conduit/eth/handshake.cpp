// How connections come about: asked for by one side, introduced by both.
#include <linux/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "../../common/plugin_error.h"
#include "calls.h"

namespace causeway::eth {
namespace {

// A connection is introduced so soon, or closed.
constexpr uint64_t introduction_ns = 1'000'000'000;
// An address that does not answer so soon is left for the next one, if there is one.
constexpr uint64_t attempt_ns = 2'000'000'000;
constexpr size_t most_newcomers = 1024;
// Newcomers wait so long in the kernel's queue where descriptors are short, or where one could not
// be taken for another reason.
constexpr uint64_t short_ns = 1'000'000, refused_ns = 500'000'000;

void set(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

void set_options(const cwyc_ep* ep, int socket) {
  const Options& o = ep->domain->options;
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  const int third = static_cast<int>(std::max<uint64_t>(o.peer_timeout_ns / 3'000'000'000, 1));
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, third);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, third);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 2);
  if (o.socket_buffer == 0) return;
  set(socket, SOL_SOCKET, SO_SNDBUF, static_cast<int>(o.socket_buffer));
  set(socket, SOL_SOCKET, SO_RCVBUF, static_cast<int>(o.socket_buffer));
}

Introduction introduction_of(const Link& link, Step step) {
  Introduction i = introduce(link.ep, link.index, link.nonce);
  for (uint32_t lane = 0; lane < lane_count; ++lane)
    i.window[lane] = static_cast<uint16_t>(link.ep->window);
  i.step = step;
  return i;
}

// An introduction is the first that a socket takes: there is room for it.
bool introduce_to(int socket, const Introduction& i) {
  return send(socket, &i, sizeof i, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof i;
}

// Reads on towards an introduction. False: none will come.
bool hear(int socket, char* bytes, size_t& got) {
  while (got < sizeof(Introduction)) {
    const ssize_t n = recv(socket, bytes + got, sizeof(Introduction) - got, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n <= 0) return false;
    got += static_cast<size_t>(n);
  }
  return true;
}

// Accounts of a pair of links that was parked go on as they were.
void come_to_know(Link& link, const Introduction& i) {
  if (link.remote == i.link) return;
  learn(link, i);
  link.owed_limit = std::max(1u, link.ep->window / 2);
  link.acked = link.done = link.told = 0;
  for (uint32_t& owed : link.owed) owed = 0;
}

// ---- the side that asks

// The places where the peer may be found, the best one last. One on a wire that this side is on
// comes before all others.
std::vector<Place> route_to(const cwyc_domain& domain, const Address& to) {
  std::vector<Place> near, far;
  for (uint32_t n = 0; n < to.count; ++n) {
    const Place& place = to.places[n];
    bool neighbor = false, spoken = false;
    for (const Interface& i : domain.interfaces) {
      neighbor |= !i.loopback && share_prefix(i.place, place, std::max(i.prefix, to.prefix[n]));
      spoken |= is_v4(i.place) == is_v4(place);
    }
    if (spoken) (neighbor ? near : far).push_back(place);
  }
  near.insert(near.end(), far.begin(), far.end());
  std::reverse(near.begin(), near.end());
  return near;
}

// An interface that the configuration names is the one that the connection leaves by.
void leave_by_named(const cwyc_domain& domain, int socket, const Place& to) {
  if (!domain.named) return;
  for (const Interface& i : domain.interfaces) {
    if (is_v4(i.place) != is_v4(to)) continue;
    sockaddr_storage from{};
    const socklen_t length = socket_address(i.place, 0, from);
    if (bind(socket, reinterpret_cast<const sockaddr*>(&from), length) == 0) return;
  }
}

// True: it is under way, or waits for a descriptor.
bool start_attempt(Link& link, const Place& place) {
  set_socket(link, Descriptor());
  link.at = place;
  sockaddr_storage to{};
  const socklen_t length = socket_address(place, link.port, to);
  Descriptor socket(::socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) {
    link.why = strerrordesc_np(errno);
    if ((errno != EMFILE && errno != ENFILE) || !make_do(link.ep)) return false;
    link.route.push_back(place);
    link.attempt_began = 0;
    return true;
  }
  set_options(link.ep, socket.get());
  leave_by_named(*link.ep->domain, socket.get(), place);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), length) != 0 &&
      errno != EINPROGRESS) {
    link.why = strerrordesc_np(errno);
    return false;
  }
  if (!watch(link.ep, EPOLL_CTL_ADD, socket.get(), EPOLLIN | EPOLLOUT,
             name_of(Source::link, link.index)))
    return false;
  set_socket(link, std::move(socket));
  link.hello_sent = link.hello_late = false;
  link.greeted = 0;
  link.attempt_began = services->now();
  return true;
}

bool next_attempt(Link& link) {
  while (!link.route.empty()) {
    const Place place = link.route.back();
    link.route.pop_back();
    if (start_attempt(link, place)) return true;
  }
  return false;
}

void attempt_failed(Link& link, const char* why) {
  link.why = why;
  // A process that was busy between connection and hello was dismissed by the peer, which may live.
  if (link.hello_late && start_attempt(link, link.at)) return expect_answer(link);
  if (next_attempt(link)) return;
  log(CWY_LOG_DEBUG, "rank %u cannot be connected to: %s", link.peer.rank, link.why);
  lose_link(link, link.why);
}

void on_welcome(Link& link) {
  Introduction i;
  std::memcpy(&i, link.greeting, sizeof i);
  if (!is_sound(link.ep, i) || i.nonce != link.nonce || i.to != link.ep->nonce)
    return attempt_failed(link, "the peer answered with strange bytes");
  come_to_know(link, i);
  if (i.step == step_crossed) {  // its own attempt is on its way
    set_socket(link, Descriptor());
    link.route.clear();
    return expect_answer(link);
  }
  finish_connect(link, CWY_OK);
}

// ---- the side that is asked

// The stream becomes the link's.
void take_over(Link& link, Newcomer& from, const Introduction& hello) {
  set_socket(link, std::move(from.socket));
  link.route.clear();
  come_to_know(link, hello);
  watch(link.ep, EPOLL_CTL_MOD, link.socket.get(), EPOLLIN, name_of(Source::link, link.index));
  if (!introduce_to(link.socket.get(), introduction_of(link, step_welcome)))
    return lose_link(link, "the peer went away while it connected");
  finish_connect(link, CWY_OK);
}

// Both sides asked at once: the attempt of the endpoint with the smaller nonce serves both. True:
// nothing is left to do.
bool settle_crossing(cwyc_ep* ep, Newcomer& from, const Introduction& hello) {
  Link* const own = hello.nonce != ep->nonce ? own_attempt(ep, hello) : nullptr;
  if (own == nullptr) return false;
  if (own->state == LinkState::parking) park(*own);  // and its end has not been read yet
  if (own->state == LinkState::parked) unpark(*own);
  if (own->state != LinkState::connecting) return true;  // the other stream was faster
  if (ep->nonce < hello.nonce && own->socket)
    introduce_to(from.socket.get(), introduction_of(*own, step_crossed));
  else
    take_over(*own, from, hello);
  return true;
}

// As recv() answers of the next byte, which stays: 0 when the peer has given the attempt up while
// this process was busy, and tries again.
ssize_t peek(const Newcomer& from) {
  char next;
  return recv(from.socket.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
}

void admit(cwyc_ep* ep, Newcomer& from) {
  Introduction hello;
  std::memcpy(&hello, from.bytes, sizeof hello);
  const cwy_peer peer{hello.rank, hello.epoch};
  if (peek(from) == 0) return;
  if (!is_sound(ep, hello) || hello.to != ep->nonce || !admit_epoch(ep, peer)) {
    ep->counters.dropped.add(1);
    return;
  }
  if (settle_crossing(ep, from, hello)) return;
  if (Link* const link = make_link(ep, peer, hello.nonce)) take_over(*link, from, hello);
}

void stop_accepting(cwyc_ep* ep, uint64_t for_ns) {
  ep->accepts_at = services->now() + for_ns;
  watch(ep, EPOLL_CTL_MOD, ep->listener.get(), 0, name_of(Source::listener, 0));
}

// Whether a connection came in where this endpoint said that it listens.
bool is_expected(const cwyc_ep* ep, int socket) {
  Place here;
  if (!local_place(socket, here)) return false;
  const auto& all = ep->domain->interfaces;
  return !ep->domain->named || std::any_of(all.begin(), all.end(),
                                           [&](const Interface& i) { return same(i.place, here); });
}

}  // namespace

bool watch(const cwyc_ep* ep, int operation, int socket, uint32_t events, uint64_t name) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = name;
  return epoll_ctl(ep->epoll.get(), operation, socket, &event) == 0;
}

// A single socket serves both families where the kernel has both.
cwy_status open_listener(cwyc_ep& ep, cwy_err* err) {
  const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  sockaddr_storage any{};
  socklen_t length = socket_address(Place{}, 0, any);
  ep.listener = Descriptor(socket(AF_INET6, type, 0));
  if (ep.listener) set(ep.listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  auto* const address = reinterpret_cast<sockaddr*>(&any);
  if (!ep.listener || bind(ep.listener.get(), address, length) != 0) {
    any = {};
    any.ss_family = AF_INET;
    length = sizeof(sockaddr_in);
    ep.listener = Descriptor(socket(AF_INET, type, 0));
    if (ep.listener && bind(ep.listener.get(), address, length) != 0) ep.listener = Descriptor();
  }
  if (ep.listener)
    set_options(&ep, ep.listener.get());  // the size of a window is settled with the connection
  if (ep.listener && listen(ep.listener.get(), SOMAXCONN) == 0)
    ep.address.port = local_port(ep.listener.get());
  if (ep.address.port == 0)
    return report(err, CWY_ERR_UNREACHABLE, "no socket to listen at: %s", strerrordesc_np(errno));
  watch(&ep, EPOLL_CTL_ADD, ep.listener.get(), EPOLLIN, name_of(Source::listener, 0));
  return CWY_OK;
}

// While too many are not introduced yet, or there are no descriptors, the others wait in the
// kernel's queue.
void accept_newcomers(cwyc_ep* ep) {
  while (ep->newcomers.size() < most_newcomers && may_open(ep, Opening::taken)) {
    Descriptor socket(accept4(ep->listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if ((errno == EMFILE || errno == ENFILE) && make_do(ep)) break;
      log(CWY_LOG_ERROR, "a connection cannot be taken: %s", strerrordesc_np(errno));
      return stop_accepting(ep, refused_ns);
    }
    if (!is_expected(ep, socket.get())) continue;
    set_options(ep, socket.get());
    const auto number = static_cast<uint32_t>(socket.get());
    if (!watch(ep, EPOLL_CTL_ADD, socket.get(), EPOLLIN, name_of(Source::newcomer, number)))
      continue;
    Newcomer newcomer;
    newcomer.socket = std::move(socket);
    newcomer.deadline = services->now() + introduction_ns;
    ep->newcomers.push_back(std::move(newcomer));
  }
  stop_accepting(ep, short_ns);
}

void accept_again(cwyc_ep* ep) {
  if (services->now() < ep->accepts_at) return;
  ep->accepts_at = 0;
  watch(ep, EPOLL_CTL_MOD, ep->listener.get(), EPOLLIN, name_of(Source::listener, 0));
}

uint32_t hear_newcomer(cwyc_ep* ep, uint32_t socket) {
  const auto at = std::find_if(ep->newcomers.begin(), ep->newcomers.end(), [&](const Newcomer& n) {
    return static_cast<uint32_t>(n.socket.get()) == socket;
  });
  if (at == ep->newcomers.end()) return 0;
  const bool heard = hear(at->socket.get(), at->bytes, at->got);
  if (heard && at->got < sizeof(Introduction)) return 0;
  Newcomer newcomer = std::move(*at);
  ep->newcomers.erase(at);
  if (heard)
    admit(ep, newcomer);
  else
    ep->counters.dropped.add(1);
  return 1;
}

uint32_t dismiss_silent(cwyc_ep* ep, uint64_t now) {
  // Bytes that this process had no time to read are no silence.
  const size_t dismissed = std::erase_if(
      ep->newcomers, [&](const Newcomer& n) { return now > n.deadline && peek(n) <= 0; });
  ep->counters.dropped.add(dismissed);
  return static_cast<uint32_t>(dismissed);
}

cwy_status Network::begin_connect(Link& link, const Address& to, cwy_err* err) {
  link.port = to.port;
  link.route = route_to(*link.ep->domain, to);
  link.why = "none of its addresses is of a family that this rank has";
  if (!may_open(link.ep, Opening::own) || next_attempt(link)) {
    want_attention(&link);
    return CWY_INPROGRESS;
  }
  return report(err, CWY_ERR_UNREACHABLE, "rank %u cannot be connected to: %s", link.peer.rank,
                link.why);
}

uint32_t go_on_connecting(Link& link, uint32_t events) {
  if (!link.hello_sent) {
    if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) return 0;
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(link.socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    link.hello_late = services->now() > link.attempt_began + introduction_ns / 2;
    if (error == 0 && !introduce_to(link.socket.get(), introduction_of(link, step_hello)))
      error = ECONNRESET;
    if (error != 0) {
      attempt_failed(link, strerrordesc_np(error));
      return 1;
    }
    link.hello_sent = true;
    expect_answer(link);
    watch(link.ep, EPOLL_CTL_MOD, link.socket.get(), EPOLLIN, name_of(Source::link, link.index));
    return 1;
  }
  if (!hear(link.socket.get(), link.greeting, link.greeted))
    attempt_failed(link, "whoever listens at its address closed the connection");
  else if (link.greeted == sizeof(Introduction))
    on_welcome(link);
  return 1;
}

// Once the peer's kernel has taken the connection it speaks for the peer (look_for_silence), which
// may compute. A peer whose own attempt goes first and does not come is asked again.
uint32_t Network::push_connecting(Link& link, uint64_t now) {
  if (link.attempt_began == 0) {
    if (!may_open(link.ep, Opening::own)) return 0;
    expect_answer(link);
    if (!next_attempt(link)) lose_link(link, link.why);
    return 1;
  }
  if (link.socket && link.hello_sent) tell_silence(link, now);
  if (link.hello_sent && (link.socket || now <= link.deadline)) return 0;
  if (link.hello_sent) {
    start_attempt(link, link.at) ? expect_answer(link) : lose_link(link, link.why);
    return 1;
  }
  const bool late = now > link.deadline;
  const bool go_on = !link.route.empty() && now > link.attempt_began + attempt_ns;
  pollfd taken{link.socket.get(), POLLOUT, 0};
  if ((!late && !go_on) || poll(&taken, 1, 0) == 1) return 0;  // taken, as epoll is about to tell
  if (!late) {
    attempt_failed(link, "no answer");
  } else {
    if (link.connect_op == nullptr) lose_link(link, "no answer in connect_timeout");
    close_path(link);
    finish_connect(link, CWY_ERR_TIMEOUT);
  }
  return 1;
}

}  // namespace causeway::eth
