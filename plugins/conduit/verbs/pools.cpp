// Receive buffers: made, posted, promised to peers, and posted again.
#include <algorithm>

#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr uint32_t least_window = 2;

}  // namespace

ReceiveBuffer* Network::make_buffer(cwyc_ep* ep) {
  return new_buffer(ep, ep->frame_max);
}

// False: the queue is full; the buffer is kept for later.
bool Network::post_receive(cwyc_ep* ep, ReceiveBuffer* buffer) {
  const size_t bytes = buffer->datagram ? route_header + sizeof(Hello) : ep->frame_max;
  ibv_sge piece = piece_of(buffer->data, bytes, buffer->key);
  ibv_recv_wr request{};
  request.wr_id = name_of(buffer);
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (buffer->datagram) return ibv_post_recv(ep->datagram.get(), &request, &bad) == 0;
  if (ibv_post_srq_recv(ep->srq.get(), &request, &bad) != 0) return false;
  ++ep->posted;
  return true;
}

// A window is halved, and halved again, when few buffers are left, so that late peers find some.
bool provide_buffers(Link& link) {
  cwyc_ep* ep = link.ep;
  if (link.buffers != 0) return true;
  const uint32_t left = ep->buffers_max - std::min(ep->wanted, ep->buffers_max);
  uint32_t window = ep->window;
  while (window > least_window && 4 * (2 * window + control_buffers) > left)
    window = std::max(window / 2, least_window);
  const uint32_t need = 2 * window + control_buffers;
  if (need > left) return false;
  link.buffers = need;
  for (uint32_t& granted : link.granted) granted = window;
  link.owed_limit = (window + 1) / 2;
  ep->wanted += need;
  post_wanted(ep);
  if (ep->posted >= ep->wanted) return true;
  withdraw_buffers(link);  // no memory: credit without a buffer behind it must not be granted
  return false;
}

void withdraw_buffers(Link& link) {
  link.ep->wanted -= link.buffers;
  link.buffers = 0;
}

bool provide_datagram_buffers(cwyc_ep* ep, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    ReceiveBuffer* buffer = new_buffer(ep, route_header + sizeof(Hello));
    if (buffer == nullptr) return false;
    buffer->datagram = true;
    if (!Network::post_receive(ep, buffer)) return false;
  }
  return true;
}

void repost(cwyc_ep* ep, ReceiveBuffer* buffer) {
  if (buffer->datagram) {
    Network::post_receive(ep, buffer);
    return;
  }
  --ep->posted;
  if (ep->posted < ep->wanted && Network::post_receive(ep, buffer)) return;
  ep->idle_buffers.push_back(buffer);
}

}  // namespace causeway::verbs
