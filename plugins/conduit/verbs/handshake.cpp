// How links come up: a hello and its welcome, both datagrams, then a first frame on the queue pair
// itself. Datagrams get lost; the side that asks repeats its hello until it is answered, and both
// sides take a repeated one for what it is. Two sides that ask at once share one link: each hello
// says everything a welcome says.
#include <cstring>

#include "../../common/plugin_error.h"
#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr uint64_t first_gap = 10'000'000;

Hello make_hello(const cwyc_ep* ep, Step step, const Address& to) {
  Hello hello{};
  hello.who = introduce(ep, no_link, to.nonce);
  hello.who.step = step;
  hello.to_link = no_link;
  hello.from = ep->address;
  return hello;
}

void refuse(cwyc_ep* ep, const Hello& asked) {
  Hello answer = make_hello(ep, step_refuse, asked.from);
  answer.to_link = asked.who.link;
  send_datagram(ep, asked.from, answer);
}

// False: the local device refused, and the link is lost.
bool adopt(Link& link, const Hello& hello) {
  if (link.joined) return true;
  learn(link, hello.who);
  const int error = join(link, hello);
  if (error != 0) lose_link(link, strerrordesc_np(error));
  return error == 0;
}

void on_hello(cwyc_ep* ep, const Hello& hello) {
  Link* link = own_attempt(ep, hello.who);
  if (link == nullptr) {
    link = make_link(ep, {hello.who.rank, hello.who.epoch}, hello.from.nonce);
    if (link == nullptr) return refuse(ep, hello);
    link->to = hello.from;
    if (!provide_buffers(*link) || make_connected(*link) != 0) {
      log(CWY_LOG_WARN,
          "rank %u is refused: no receive buffers or queue pairs are left; see "
          "receive_buffers and ulimit -l",
          hello.who.rank);
      destroy_link(link);
      return refuse(ep, hello);
    }
    want_attention(link);
  }
  if (link->lost || link->qp == nullptr) return;  // a late repetition
  if (!adopt(*link, hello)) return refuse(ep, hello);
  send_hello(*link, step_welcome);
}

void on_welcome(cwyc_ep* ep, const Hello& hello) {
  Link* link = find_link(ep, hello.to_link);
  if (link == nullptr || link->nonce != hello.from.nonce || link->purged) return;
  if (link->state != LinkState::connecting) return;
  if (!adopt(*link, hello)) return;
  link->ready_due = true;
  finish_connect(*link, CWY_OK);
}

}  // namespace

void send_hello(Link& link, Step step) {
  const cwyc_ep* ep = link.ep;
  Hello hello = make_hello(ep, step, link.to);
  hello.who.link = link.index;
  hello.to_link = link.remote;
  hello.qpn = link.qp->qp_num;
  hello.psn = link.psn;
  for (uint32_t lane = 0; lane < lane_count; ++lane)
    hello.who.window[lane] = static_cast<uint16_t>(link.granted[lane]);
  // What cannot be sent now is asked for again by the side that waits.
  send_datagram(link.ep, link.to, hello);
}

cwy_status Network::begin_connect(Link& link, const Address& to, cwy_err* err) {
  cwyc_ep* ep = link.ep;
  link.to = to;
  const char* device = ep->domain->port.name.c_str();
  if (!provide_buffers(link))
    return report(
        err, CWY_ERR_NOMEM,
        "%s has no receive buffers left for another connection, %u of %u are taken; raise "
        "the option receive_buffers or lower credits%s",
        device, ep->wanted, ep->buffers_max, memlock_advice().c_str());
  if (const int error = make_connected(link); error != 0)
    return report(err, CWY_ERR_NOMEM, "%s cannot make a queue pair: %s%s", device,
                  std::strerror(error), memlock_advice().c_str());
  link.hello_gap = first_gap;
  link.next_hello = services->now() + first_gap;
  send_hello(link, step_hello);
  want_attention(&link);
  return CWY_INPROGRESS;
}

void on_datagram(cwyc_ep* ep, const char* data, size_t length) {
  Hello hello;
  if (length != sizeof hello) {
    ep->counters.dropped.add(1);
    return;
  }
  std::memcpy(&hello, data, sizeof hello);
  if (!is_sound(ep, hello.who) || hello.who.to != ep->nonce ||
      !admit_epoch(ep, {hello.who.rank, hello.who.epoch})) {
    ep->counters.dropped.add(1);
    return;
  }
  if (hello.who.step == step_hello) on_hello(ep, hello);
  if (hello.who.step == step_welcome) on_welcome(ep, hello);
  if (hello.who.step != step_refuse) return;
  Link* link = find_link(ep, hello.to_link);
  if (link != nullptr && link->state == LinkState::connecting && link->nonce == hello.from.nonce)
    lose_link(*link, "the peer has no room for another connection");
}

// Introductions travel as datagrams here, not as frames.
uint32_t Network::on_greeting(cwyc_ep* ep, const FrameHeader&, const char*) {
  ep->counters.dropped.add(1);
  return 0;
}

}  // namespace causeway::verbs
