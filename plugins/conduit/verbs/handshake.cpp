// How links come up: a hello and its welcome, both datagrams, then a first frame on the queue pair
// itself. Datagrams get lost; the side that asks repeats its hello until it is answered, and both
// sides take a repeated one for what it is. Two sides that ask at once share one link: each hello
// says everything a welcome says.
#include <cstring>

#include "../../common/plugin_error.h"
#include "calls.h"

namespace causeway::verbs {
namespace {

// Calls of the core are completed in `progress` only, not by the thread that answers hellos.
enum class Caller { progress, greeter };

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

// False: of a process that has been replaced. The question comes when the link is about to be made:
// news of the newer process may have come since the hello was read.
bool is_current(cwyc_ep* ep, const Hello& hello) {
  const bool current = admit_epoch(ep, {hello.who.rank, hello.who.epoch});
  if (!current) ep->counters.dropped.add(1);
  return current;
}

// 0, or how the local device refused.
int adopt(Link& link, const Hello& hello) {
  if (link.joined || link.refused != 0) return link.refused;
  learn(link, hello.who);
  return link.refused = join(link, hello);
}

// The link of this side that an introduction names; NULL: there is none.
Link* named_link(cwyc_ep* ep, const Hello& hello) {
  Link* const link = find_link(ep, hello.to_link);
  return link != nullptr && link->nonce == hello.from.nonce ? link : nullptr;
}

// A link that the peer asks for. NULL: there is no room for it.
Link* make_passive(cwyc_ep* ep, const Hello& hello) {
  Link* link = make_link(ep, {hello.who.rank, hello.who.epoch}, hello.from.nonce);
  if (link == nullptr) return nullptr;
  link->to = hello.from;
  if (provide_buffers(*link) && make_connected(*link) == 0) {
    want_attention(link);
    return link;
  }
  log(CWY_LOG_WARN,
      "rank %u is refused: no receive buffers or queue pairs are left; see receive_buffers and "
      "ulimit -l",
      hello.who.rank);
  destroy_link(link);
  return nullptr;
}

// The link of this side that a hello is about, made if need be. NULL: there is no room, or the link
// that the hello names has gone, to which the sender's end belongs.
Link* link_for(cwyc_ep* ep, const Hello& hello) {
  if (hello.to_link == no_link) {
    Link* const link = own_attempt(ep, hello.who);
    return link != nullptr ? link : make_passive(ep, hello);
  }
  Link* const link = named_link(ep, hello);
  return link != nullptr && !link->purged ? link : nullptr;
}

// False: the link is lost, which `progress` tells when it tries the same.
bool on_hello(cwyc_ep* ep, const Hello& hello, Caller caller) {
  Link* const link = link_for(ep, hello);
  if (link == nullptr) {
    refuse(ep, hello);
    return true;
  }
  if (link->lost || link->qp == nullptr) return true;  // a late repetition
  const bool waits = link->refused != 0;               // an earlier hello does, for `progress`
  if (adopt(*link, hello) == 0) {
    send_hello(*link, step_welcome);
    return true;
  }
  if (caller == Caller::greeter) return waits;
  lose_link(*link, strerrordesc_np(link->refused));
  refuse(ep, hello);
  return true;
}

void on_welcome(cwyc_ep* ep, const Hello& hello) {
  Link* const link = named_link(ep, hello);
  if (link == nullptr || link->purged || link->state != LinkState::connecting) return;
  if (const int error = adopt(*link, hello); error != 0)
    return lose_link(*link, strerrordesc_np(error));
  link->ready_due = true;
  finish_connect(*link, CWY_OK);
}

void on_refusal(cwyc_ep* ep, const Hello& hello) {
  Link* const link = named_link(ep, hello);
  if (link != nullptr && link->state == LinkState::connecting)
    lose_link(*link, "the peer has no room for another connection");
}

void collect(cwyc_ep* ep, const ibv_wc& wc) {
  if (!names_buffer(wc.wr_id)) return end_datagram(ep, ticket_of(wc.wr_id));
  ReceiveBuffer* const buffer = buffer_of(wc.wr_id);
  if (wc.status != IBV_WC_SUCCESS) return;  // flushed with its queue pair
  Hello hello;
  const bool whole = wc.byte_len == route_header + sizeof hello;
  if (whole) std::memcpy(&hello, buffer->data + route_header, sizeof hello);
  repost(ep, buffer);
  if (whole && is_sound(ep, hello.who) && hello.who.to == ep->nonce)
    ep->introductions.push_back(hello);
  else
    ep->counters.dropped.add(1);
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
  wait_for_answer(link, services->now());
  send_hello(link, step_hello);
  want_attention(&link);
  return CWY_INPROGRESS;
}

bool collect_datagrams(cwyc_ep* ep) {
  ibv_wc some[16];
  int got = 0;
  while ((got = ibv_poll_cq(ep->datagram_cq.get(), 16, some)) > 0)
    for (int i = 0; i < got; ++i) collect(ep, some[i]);
  return got == 0;
}

void answer_hellos(cwyc_ep* ep) {
  std::erase_if(ep->introductions, [ep](const Hello& hello) {
    return hello.who.step == step_hello &&
           (!is_current(ep, hello) || on_hello(ep, hello, Caller::greeter));
  });
}

uint32_t take_datagrams(cwyc_ep* ep) {
  if (!collect_datagrams(ep)) fail_device(ep->domain, "its completion queue is broken");
  uint32_t events = 0;
  // The core may begin another connection inside, and make progress.
  for (; !ep->introductions.empty(); ++events) {
    const Hello hello = ep->introductions.front();
    ep->introductions.pop_front();
    if (!is_current(ep, hello)) continue;
    if (hello.who.step == step_hello) on_hello(ep, hello, Caller::progress);
    if (hello.who.step == step_welcome) on_welcome(ep, hello);
    if (hello.who.step == step_refuse) on_refusal(ep, hello);
  }
  return events;
}

// Introductions travel as datagrams here, not as frames.
uint32_t Network::on_greeting(cwyc_ep* ep, const FrameHeader&, const char*) {
  ep->counters.dropped.add(1);
  return 0;
}

}  // namespace causeway::verbs
