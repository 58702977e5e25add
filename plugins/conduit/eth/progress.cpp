// Moving things forward, and sleeping until there is something to move.
#include <sys/epoll.h>

#include <algorithm>

#include "cables.h"
#include "calls.h"

namespace causeway::eth {
namespace {

constexpr int most_events = 32;
// A link that was heard of last is asked first, and epoll every so many passes; after so many
// passes in which it had nothing, epoll alone.
constexpr uint32_t epoll_every = 8, lone_epoll_every = 64, misses_most = 64;
// A hot link leaves epoll's set at each so many reads that found something, where no thread may
// sleep there: the kernel tells epoll of each packet, at 3 % of a round trip.
constexpr uint32_t unwatched_after = 64;
// Passes between two looks at datagrams that are under way, while there is something to do.
constexpr uint32_t datagrams_every = 16;
// Passes between two looks at the clock, and the time between two at what nobody announces.
constexpr uint32_t clock_every = 256;
constexpr uint64_t look_every_ns = 500'000'000;

// The hot link is in epoll's set again. False: the kernel has no room for it there.
bool watch_hot(cwyc_ep* ep) {
  Link* const link = find_link(ep, ep->hot);
  if (link == nullptr) return true;
  Datagrams& d = link->datagrams;
  if (d.unwatched)
    d.unwatched =
        !watch(ep, EPOLL_CTL_ADD, d.socket.get(), EPOLLIN, name_of(Source::datagrams, link->index));
  if (link->unwatched)
    link->unwatched =
        !watch(ep, EPOLL_CTL_ADD, link->socket.get(), EPOLLIN, name_of(Source::link, link->index));
  return !link->unwatched && !d.unwatched;
}

// The hot link is hot no more, or stays so because epoll does not take it.
bool cool(cwyc_ep* ep) {
  if (!watch_hot(ep)) return false;
  ep->hot = no_link;
  return true;
}

// A read of the hot link has found something.
void heard_of(cwyc_ep* ep) {
  ep->missed = 0;
  if (++ep->heard % unwatched_after != 0 || !ep->sleepers.empty()) return;
  Link* const link = find_link(ep, ep->hot);
  if (link == nullptr || !link->socket) return;
  Datagrams& d = link->datagrams;
  if (ep->hot_datagrams) {
    if (d.socket && !d.unwatched) d.unwatched = watch(ep, EPOLL_CTL_DEL, d.socket.get(), 0, 0);
    return;
  }
  if (link->unwatched || link->out.blocked) return;
  link->unwatched = watch(ep, EPOLL_CTL_DEL, link->socket.get(), 0, 0);
}

// The link, or its datagrams, have been heard of: they are asked first from now on.
void heat(cwyc_ep* ep, uint32_t index, bool datagrams) {
  if ((ep->hot != index || ep->hot_datagrams != datagrams) && cool(ep)) {
    ep->hot = index;
    ep->hot_datagrams = datagrams;
    ep->heard = 0;
  }
  ep->missed = 0;
}

uint32_t on_event(cwyc_ep* ep, const epoll_event& event, uint32_t budget, uint32_t lane) {
  const auto number = static_cast<uint32_t>(event.data.u64);
  const auto source = static_cast<Source>(event.data.u64 >> 32);
  switch (source) {
    case Source::listener:
      accept_newcomers(ep);
      return 0;
    case Source::newcomer:
      return hear_newcomer(ep, number);
    case Source::cables:
      hear_of_cables(ep);
      return 0;
    case Source::alarm:
      on_alarm(ep);
      return 0;
    case Source::datagrams:
    case Source::link:
      break;
  }
  Link* const link = find_link(ep, number);
  if (link == nullptr || !link->socket) return 0;
  if (source == Source::datagrams) {
    bool found = false;
    heat(ep, number, true);
    return read_datagram(ep, *link, budget, lane, found);
  }
  if (link->state == LinkState::connecting) return go_on_connecting(*link, event.events);
  if ((event.events & EPOLLOUT) != 0) flush(*link, true);
  if ((event.events & ~uint32_t{EPOLLOUT}) == 0) return 0;
  heat(ep, number, false);
  return read_link(ep, number, budget, lane);
}

uint32_t ask_epoll(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  epoll_event events[most_events];
  const int got = epoll_wait(ep->epoll.get(), events, most_events, 0);
  uint32_t done = 0;
  for (int i = 0; i < got && done < budget; ++i)
    done += on_event(ep, events[i], budget - done, lane);
  return done;
}

uint32_t ask_hot(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  Link* const link = find_link(ep, ep->hot);
  if (link == nullptr || !link->socket || link->state == LinkState::connecting) {
    cool(ep);
    return 0;
  }
  bool found = false;
  const uint32_t events = ep->hot_datagrams ? read_datagram(ep, *link, budget, lane, found)
                                            : read_link(ep, ep->hot, budget, lane);
  if (events != 0 || found)
    heard_of(ep);
  else if (++ep->missed >= misses_most)
    cool(ep);
  return events;
}

// Units that an earlier budget left, and datagrams of peers whose streams have ended.
uint32_t take_unread(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  uint32_t events = 0;
  for (size_t left = ep->unread.size(); left != 0 && events < budget && !ep->unread.empty();
       --left) {
    const uint32_t index = ep->unread.front();
    ep->unread.erase(ep->unread.begin());
    Link* const link = find_link(ep, index);
    if (link == nullptr) continue;
    link->unread = false;
    bool found = false;
    events += read_datagram(ep, *link, budget - events, lane, found);
    events += read_link(ep, index, budget - events, lane);
  }
  return events;
}

// May another thread's posts be kept for company?
enum class Company {
  judged,  // at the beginning of a pass: while that thread goes on, and for a time at most
  kept,    // at its end, which has judged already
  none
};

// A pass that sent the single units of a thread that is still posting would cost it more than it
// moves on. Such units leave with the first pass that finds no more than the one before, or after
// `longest_ns`.
bool stays(Link& link, Company company) {
  constexpr uint64_t longest_ns = 20000;
  if (link.collector == pthread_t{} || link.collector == pthread_self()) return false;
  if (company != Company::judged) return company == Company::kept;
  const uint64_t now = services->now();
  if (link.kept_since == 0) link.kept_since = now;
  return std::exchange(link.looked, link.out.bytes) != link.out.bytes &&
         now - link.kept_since < longest_ns;
}

// Sends the units that this pass, and the posts before it, have left to leave together.
void flush_dirty(cwyc_ep* ep, Company company) {
  size_t kept = 0;
  for (size_t i = 0; i < ep->dirty.size(); ++i) {
    Link* const link = find_link(ep, ep->dirty[i]);
    if (link == nullptr) continue;
    if (stays(*link, company)) {
      ep->dirty[kept++] = link->index;
      continue;
    }
    link->dirty = false;
    link->collector = {};
    flush(*link);
  }
  ep->dirty.resize(kept);
}

// Passes from one look at epoll to the next, while a link is hot. Beside a lone link that has no
// datagrams epoll has no data.
uint32_t epoll_due(const cwyc_ep* ep) {
  const Link* const link = ep->links.size() == 1 ? ep->links.front().get() : nullptr;
  return link != nullptr && !link->datagrams.socket ? lone_epoll_every : epoll_every;
}

__attribute__((noinline)) uint32_t look_around(cwyc_ep* ep) {
  const uint64_t now = services->now();
  if (now < ep->next_look) return 0;
  ep->next_look = now + look_every_ns;
  look_for_silence(ep);
  return dismiss_silent(ep, now);
}

}  // namespace

uint32_t Network::progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  const Pass pass(ep->domain->gate, std::try_to_lock);
  if (__builtin_expect(pass.refused(), 0)) return 0;
  ++ep->inside;
  if (__builtin_expect(!ep->sleepers.empty(), 0)) std::erase(ep->sleepers, pthread_self());
  if (!ep->dirty.empty()) flush_dirty(ep, Company::judged);  // posts that waited for company
  uint32_t events = 0;
  if (__builtin_expect(!ep->deferred.empty(), 0) && lane == CWYC_PROGRESS_ALL)
    events += deliver_deferred(ep, budget);
  if (__builtin_expect(ep->datagrams.left != 0, 0) && events < budget)
    events += take_datagram(ep, budget - events, lane);
  if (__builtin_expect(!ep->unread.empty(), 0)) events += take_unread(ep, budget, lane);
  ++ep->passes;
  if (events < budget && ep->hot != no_link) events += ask_hot(ep, budget - events, lane);
  const bool due = ep->hot == no_link || ep->full != 0 || ep->passes % epoll_due(ep) == 0;
  if (due && events < budget) events += ask_epoll(ep, budget - events, lane);
  if (__builtin_expect(!ep->todo.empty(), 0)) events += push_todo(ep);
  if (__builtin_expect(ep->passes % clock_every == 0, 0)) events += look_around(ep);
  if (__builtin_expect(ep->accepts_at != 0, 0)) accept_again(ep);
  --ep->inside;
  if (!ep->dirty.empty()) flush_dirty(ep, Company::kept);
  if (!ep->datagrams.owing.empty()) tell_taken(ep, false);
  if (!ep->datagrams.waiting.empty() && (events == 0 || ep->passes % datagrams_every == 0))
    look_after_datagrams(ep);
  return events;
}

cwy_status Conduit::wait_fd(cwyc_ep* ep, int* fd) {
  *fd = ep->epoll.get();
  return CWY_OK;
}

// Epoll reports what is there, not what has come: nothing can arrive unseen.
cwy_status Conduit::arm(cwyc_ep* ep) {
  const Pass pass(ep->domain->gate);
  flush_dirty(ep, Company::none);
  if (!watch_hot(ep) || !sleep_beside_datagrams(ep)) return CWY_RETRY;
  if (std::ranges::find(ep->sleepers, pthread_self()) == ep->sleepers.end())
    ep->sleepers.push_back(pthread_self());
  return ep->deferred.empty() && ep->unread.empty() && ep->todo.empty() ? CWY_OK : CWY_RETRY;
}

}  // namespace causeway::eth
