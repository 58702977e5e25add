// Queue pairs: made, joined to a peer's, ended.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr uint32_t datagram_key = 0x0c5eba11;
constexpr uint32_t datagram_depth = 64;
// Retransmissions until the peer counts as dead: not 7, which soft-RoCE takes for ever. And waits
// for a receive buffer: those are always there, so a wait is an accident and may be repeated for
// ever.
constexpr uint8_t retries = 6, receiver_retries = 7;
constexpr uint8_t receiver_wait = 12;  // 0.64 ms
constexpr uint64_t end_limit_ns = 500'000'000;

ibv_qp_init_attr connected_attr(ibv_cq* cq, ibv_srq* srq, uint32_t depth, uint32_t inline_bytes) {
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.srq = srq;
  attr.cap.max_send_wr = depth;
  attr.cap.max_send_sge = 2;
  attr.cap.max_inline_data = inline_bytes;
  attr.qp_type = IBV_QPT_RC;
  return attr;
}

int access_of(const cwyc_domain& d) {
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (d.port.device.atomic_cap != IBV_ATOMIC_NONE) access |= IBV_ACCESS_REMOTE_ATOMIC;
  return access;
}

ibv_ah_attr path_to(const cwyc_domain& d, const Address& to) {
  ibv_ah_attr path{};
  path.dlid = to.lid;
  path.sl = static_cast<uint8_t>(d.options.service_level);
  path.port_num = d.port.number;
  // Always with a route header: RoCE needs it, and InfiniBand crosses routers with it.
  path.is_global = 1;
  std::memcpy(path.grh.dgid.raw, to.gid, sizeof to.gid);
  path.grh.sgid_index = d.port.gid_index;
  path.grh.hop_limit = 64;
  path.grh.traffic_class = static_cast<uint8_t>(d.options.traffic_class);
  return path;
}

int to_init(const cwyc_domain& d, ibv_qp* qp) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.pkey_index = static_cast<uint16_t>(d.options.pkey_index);
  attr.port_num = d.port.number;
  attr.qp_access_flags = static_cast<unsigned>(access_of(d));
  return ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

uint32_t datagram_receives(const cwyc_ep* ep) {
  return std::clamp(ep->params.max_peers, 32u, 512u);
}

// Signaled work requests of `link` whose completions have been read.
uint32_t count_read(const Link& link) {
  const cwyc_ep* ep = link.ep;
  const auto is_of_link = [&](const ibv_wc& wc) {
    return !names_buffer(wc.wr_id) && wc.wr_id != 0 && ticket_of(wc.wr_id)->link == &link;
  };
  const auto from = ep->batch + ep->batch_head, to = ep->batch + ep->batch_tail;
  return static_cast<uint32_t>(std::count_if(from, to, is_of_link) +
                               std::count_if(ep->backlog.begin(), ep->backlog.end(), is_of_link));
}

// What a queue pair flushed without a ticket says its number only, and the next one may get that.
// Those of the batch become completions in order, which are nobody's.
void forget_unsignaled(cwyc_ep* ep, uint32_t number) {
  const auto is_old = [number](const ibv_wc& wc) { return wc.wr_id == 0 && wc.qp_num == number; };
  std::erase_if(ep->backlog, is_old);
  for (uint32_t i = ep->batch_head; i < ep->batch_tail; ++i)
    if (is_old(ep->batch[i])) ep->batch[i].status = IBV_WC_SUCCESS;
}

}  // namespace

int probe_queue_pair(cwyc_domain* d) {
  ibv_context* context = d->port.context.get();
  const Owned<ibv_cq> cq(ibv_create_cq(context, 16, nullptr, nullptr, 0));
  if (cq == nullptr) return errno;
  ibv_srq_init_attr shared{};
  shared.attr.max_wr = 16;
  shared.attr.max_sge = 1;
  const Owned<ibv_srq> srq(ibv_create_srq(d->pd.get(), &shared));
  if (srq == nullptr) return errno;
  uint32_t depth = std::min(static_cast<uint32_t>(d->options.tx_depth),
                            static_cast<uint32_t>(std::max(d->port.device.max_qp_wr, 8)));
  auto inline_bytes = static_cast<uint32_t>(d->options.inline_bytes);
  while (true) {
    ibv_qp_init_attr attr = connected_attr(cq.get(), srq.get(), depth, inline_bytes);
    const Owned<ibv_qp> qp(ibv_create_qp(d->pd.get(), &attr));
    if (qp != nullptr) break;
    const int error = errno;
    if (error != EINVAL && error != ENOMEM) return error;
    // Inline room and depth compete for the same ring in some devices.
    if (inline_bytes > 0)
      inline_bytes = inline_bytes >= 32 ? inline_bytes / 2 : 0;
    else if (depth > 8)
      depth /= 2;
    else
      return error;
  }
  d->tx_depth = depth;
  d->inline_max = inline_bytes;
  return 0;
}

int make_connected(Link& link) {
  cwyc_ep* const ep = link.ep;
  const cwyc_domain& d = *ep->domain;
  // Packets of an earlier queue pair of the same number must not fit in.
  link.psn = static_cast<uint32_t>((ep->nonce >> 16) * (link.index + 1)) & 0xffffff;
  ibv_qp_init_attr attr = connected_attr(ep->cq.get(), ep->srq.get(), d.tx_depth, d.inline_max);
  link.qp.reset(ibv_create_qp(d.pd.get(), &attr));
  if (link.qp == nullptr) return errno;
  const int error = to_init(d, link.qp.get());
  if (error != 0)
    link.qp.reset();
  else
    ep->by_queue_pair[link.qp->qp_num] = &link;
  return error;
}

int join(Link& link, const Hello& peer) {
  const cwyc_domain& d = *link.ep->domain;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.ah_attr = path_to(d, peer.from);
  attr.path_mtu = static_cast<ibv_mtu>(std::clamp<int>(peer.from.mtu, IBV_MTU_256, d.port.mtu));
  attr.dest_qp_num = peer.qpn;
  attr.rq_psn = peer.psn;
  attr.max_dest_rd_atomic = d.rd_atomic;
  attr.min_rnr_timer = receiver_wait;
  int error = ibv_modify_qp(link.qp.get(), &attr,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return error;
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = d.ack_timeout;
  attr.retry_cnt = retries;
  attr.rnr_retry = receiver_retries;
  attr.sq_psn = link.psn;
  attr.max_rd_atomic = std::clamp<uint8_t>(peer.from.rd_atomic, 1, d.rd_initiate);
  error = ibv_modify_qp(link.qp.get(), &attr,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (error == 0) link.joined = true;
  return error;
}

uint32_t datagram_completions(const cwyc_ep* ep) {
  return datagram_depth + datagram_receives(ep);
}

int make_datagram(cwyc_ep* ep) {
  const cwyc_domain& d = *ep->domain;
  const uint32_t receives = datagram_receives(ep);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = ep->datagram_cq.get();
  attr.cap.max_send_wr = datagram_depth;
  attr.cap.max_recv_wr = receives;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  attr.qp_type = IBV_QPT_UD;
  ep->datagram.reset(ibv_create_qp(d.pd.get(), &attr));
  if (ep->datagram == nullptr) return errno;
  ibv_qp* qp = ep->datagram.get();
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.pkey_index = static_cast<uint16_t>(d.options.pkey_index);
  state.port_num = d.port.number;
  state.qkey = datagram_key;
  int error =
      ibv_modify_qp(qp, &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  if (error == 0 && !provide_datagram_buffers(ep, receives)) error = ENOMEM;
  state.qp_state = IBV_QPS_RTR;
  if (error == 0) error = ibv_modify_qp(qp, &state, IBV_QP_STATE);
  state.qp_state = IBV_QPS_RTS;
  state.sq_psn = static_cast<uint32_t>(ep->nonce) & 0xffffff;
  if (error == 0) error = ibv_modify_qp(qp, &state, IBV_QP_STATE | IBV_QP_SQ_PSN);
  return error;
}

bool send_datagram(cwyc_ep* ep, const Address& to, const Hello& hello) {
  if (ep->datagrams.size() >= datagram_depth) return false;
  Ticket* const ticket = take_both(ep);
  if (ticket == nullptr) return false;
  const Bounce* const bounce = ticket->bounce;
  ibv_ah_attr path = path_to(*ep->domain, to);
  ticket->ah = ibv_create_ah(ep->domain->pd.get(), &path);
  bool sent = false;
  if (ticket->ah != nullptr) {
    std::memcpy(bounce->data, &hello, sizeof hello);
    ibv_sge piece = piece_of(bounce->data, sizeof hello, bounce->key);
    ibv_send_wr request = request_of(IBV_WR_SEND, &piece, 1);
    request.wr_id = name_of(ticket);
    // The thread that answers hellos sleeps through everything else.
    request.send_flags =
        hello.who.step == step_hello ? IBV_SEND_SIGNALED | IBV_SEND_SOLICITED : IBV_SEND_SIGNALED;
    request.wr.ud.ah = ticket->ah;
    request.wr.ud.remote_qpn = to.qpn;
    request.wr.ud.remote_qkey = datagram_key;
    ibv_send_wr* bad = nullptr;
    sent = ibv_post_send(ep->datagram.get(), &request, &bad) == 0;
  }
  if (sent) {
    ep->datagrams.push_back(ticket);
    ++ep->hellos;
  } else {
    free_datagram(ep, ticket);
  }
  return sent;
}

void end_datagram(cwyc_ep* ep, Ticket* ticket) {
  std::erase(ep->datagrams, ticket);
  free_datagram(ep, ticket);
}

void free_datagram(cwyc_ep* ep, Ticket* ticket) {
  if (ticket->ah != nullptr) ibv_destroy_ah(std::exchange(ticket->ah, nullptr));
  give_back_ticket(ep, ticket);
}

void stop_queue_pair(Link& link) {
  if (link.qp == nullptr) return;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(link.qp.get(), &attr, IBV_QP_STATE);
}

void end_queue_pair(Link& link) {
  if (link.qp == nullptr) return;
  stop_queue_pair(link);
  // The device flushes what it has. What completed must be read before the queue pair goes, since
  // some devices sweep their completions away with it, receive buffers of the shared queue among
  // them. The limit is for a device that is stuck; it lets go of buffers with the queue pair. One
  // that is known to have failed is not waited for, since that would be once per peer.
  const uint64_t end = services->now() + (link.ep->domain->failed ? 0 : end_limit_ns);
  stash_completions(link.ep);
  while (count_read(link) < link.in_flight && services->now() < end) stash_completions(link.ep);
  forget_unsignaled(link.ep, link.qp->qp_num);
  link.ep->by_queue_pair.erase(link.qp->qp_num);
  link.qp.reset();
  // Nothing of it can come to the completion queue any more.
  link.ep->unsignaled -= link.unsignaled;
  link.unsignaled = 0;
}

}  // namespace causeway::verbs
