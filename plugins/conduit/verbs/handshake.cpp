// How links come up: a hello and its welcome, both datagrams, then a first frame on the queue pair
// itself. Datagrams get lost; the side that asks repeats its hello until it is answered, and both
// sides take a repeated one for what it is. Two sides that ask at once share one link: each hello
// says everything a welcome says.
#include <cerrno>
#include <cstring>

#include "../common/plugin_error.h"
#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr uint64_t first_gap = 10'000'000;

bool is_sound(const cwyc_ep* ep, const Hello& hello) {
  return hello.magic == wire_magic && hello.version == wire_version && hello.job == ep->job &&
         hello.rank < ep->params.max_peers && hello.to == ep->nonce;
}

Hello make_hello(const cwyc_ep* ep, Step step, const Address& to) {
  Hello hello{};
  hello.magic = wire_magic;
  hello.version = wire_version;
  hello.step = step;
  hello.job = ep->job;
  hello.rank = services->job->rank;
  hello.epoch = services->job->epoch;
  hello.link = hello.to_link = no_link;
  hello.to = to.nonce;
  hello.from = ep->address;
  return hello;
}

void refuse(cwyc_ep* ep, const Hello& asked) {
  Hello answer = make_hello(ep, Step::refuse, asked.from);
  answer.to_link = asked.link;
  send_datagram(ep, asked.from, answer);
}

// A link of this side's that the peer's hello crosses, or that it repeats.
Link* own_attempt(cwyc_ep* ep, const Hello& hello) {
  for (const auto& link : ep->links) {
    if (link == nullptr || link->address.nonce != hello.from.nonce || link->purged) continue;
    const bool crossed = link->state == LinkState::connecting && link->remote == no_link;
    if (crossed || link->remote == hello.link) return link.get();
  }
  return nullptr;
}

// False: the local device refused.
bool adopt(Link& link, const Hello& hello) {
  if (link.joined) return true;
  link.remote = hello.link;
  for (uint32_t lane = 0; lane < lane_count; ++lane) link.credit[lane] = hello.window[lane];
  const int error = join(link, hello);
  if (error == 0) return true;
  log(CWY_LOG_WARN, "rank %u cannot be joined: %s", hello.rank, std::strerror(error));
  return false;
}

void on_hello(cwyc_ep* ep, const Hello& hello) {
  Link* link = own_attempt(ep, hello);
  if (link == nullptr) {
    link = make_link(ep, {hello.rank, hello.epoch}, hello.from);
    if (link == nullptr) return refuse(ep, hello);
    if (!provide_buffers(*link) || make_connected(ep, link->qp) != 0) {
      log(CWY_LOG_WARN,
          "rank %u is refused: no receive buffers or queue pairs are left; see "
          "receive_buffers and ulimit -l",
          hello.rank);
      destroy_link(link);
      return refuse(ep, hello);
    }
    want_attention(link);
  }
  if (link->lost || link->qp == nullptr) return;  // a late repetition
  if (!adopt(*link, hello)) {
    lose_link(*link, "the local device refuses the connection");
    return refuse(ep, hello);
  }
  send_hello(*link, Step::welcome);
}

void on_welcome(cwyc_ep* ep, const Hello& hello) {
  Link* link = find_link(ep, hello.to_link);
  if (link == nullptr || link->address.nonce != hello.from.nonce || link->purged) return;
  if (link->state != LinkState::connecting) return;
  if (!adopt(*link, hello)) return lose_link(*link, "the local device refuses the connection");
  link->ready_due = true;
  finish_connect(*link, CWY_OK);
}

}  // namespace

void send_hello(Link& link, Step step) {
  const cwyc_ep* ep = link.ep;
  Hello hello = make_hello(ep, step, link.address);
  hello.link = link.index;
  hello.to_link = link.remote;
  hello.qpn = link.qp->qp_num;
  hello.psn = link.psn;
  for (uint32_t lane = 0; lane < lane_count; ++lane)
    hello.window[lane] = static_cast<uint16_t>(link.granted[lane]);
  // What cannot be sent now is asked for again by the side that waits.
  send_datagram(link.ep, link.address, hello);
}

cwy_status begin_connect(Link& link, cwy_err* err) {
  cwyc_ep* ep = link.ep;
  const char* device = ep->domain->port.name.c_str();
  if (!provide_buffers(link))
    return report(
        err, CWY_ERR_NOMEM,
        "%s has no receive buffers left for another connection, %u of %u are taken; raise "
        "the option receive_buffers or lower credits%s",
        device, ep->wanted, ep->buffers_max, memlock_advice().c_str());
  if (const int error = make_connected(ep, link.qp); error != 0)
    return report(err, CWY_ERR_NOMEM, "%s cannot make a queue pair: %s%s", device,
                  std::strerror(error), memlock_advice().c_str());
  link.active = true;
  link.hello_gap = first_gap;
  link.next_hello = services->now() + first_gap;
  send_hello(link, Step::hello);
  want_attention(&link);
  return CWY_INPROGRESS;
}

void on_datagram(cwyc_ep* ep, const char* data, size_t length) {
  Hello hello;
  if (length != sizeof hello) {
    ++ep->counters.dropped;
    return;
  }
  std::memcpy(&hello, data, sizeof hello);
  if (!is_sound(ep, hello) || !admit_epoch(ep, {hello.rank, hello.epoch})) {
    ++ep->counters.dropped;
    return;
  }
  if (hello.step == Step::hello) on_hello(ep, hello);
  if (hello.step == Step::welcome) on_welcome(ep, hello);
  if (hello.step != Step::refuse) return;
  Link* link = find_link(ep, hello.to_link);
  if (link != nullptr && link->state == LinkState::connecting &&
      link->address.nonce == hello.from.nonce)
    lose_link(*link, "the peer has no room for another connection");
}

void on_first_frame(Link& link) {
  finish_connect(link, CWY_OK);
}

}  // namespace causeway::verbs
