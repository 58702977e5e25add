// Receive buffers: made, posted, and posted again.
#include "calls.h"

namespace causeway::ofi {

ReceiveBuffer* Network::make_buffer(cwyc_ep* ep) {
  ReceiveBuffer* const buffer = new_buffer(ep, ep->buffer_bytes);
  if (buffer == nullptr) return nullptr;
  buffer->ticket.work = Work::receive;
  ep->buffers.push_back(buffer);
  return buffer;
}

// False: the provider's queue is full; the buffer is kept for later.
bool Network::post_receive(cwyc_ep* ep, ReceiveBuffer* buffer) {
  fid_ep* to = buffer->owner != nullptr ? buffer->owner->endpoint
               : ep->srx != nullptr     ? ep->srx.get()
                                        : ep->datagram.get();
  iovec piece{buffer->data, ep->buffer_bytes};
  fi_msg message{};
  message.msg_iov = &piece;
  message.desc = &buffer->key;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &buffer->ticket;
  if (fi_recvmsg(to, &message, ep->shared_buffers ? FI_MULTI_RECV : 0) != 0) return false;
  buffer->released = false;
  if (ep->last_posted != nullptr) ep->last_posted->after = buffer;
  ep->last_posted = buffer;
  ++ep->posted;
  return true;
}

void want_buffers(cwyc_ep* ep, Link* link, uint32_t n) {
  if (link != nullptr) link->buffers += n;
  if (ep->domain->path.msg && !ep->domain->path.shared_receive) {
    // A queue of its own: these buffers live and die with the link's endpoint.
    for (uint32_t i = 0; i < n; ++i) {
      ReceiveBuffer* const buffer = idle_or_new(ep);
      if (buffer == nullptr) return;
      buffer->owner = link;
      link->queue.push_back(buffer);
      if (!Network::post_receive(ep, buffer)) {
        ep->idle_buffers.push_back(buffer);
        return;
      }
    }
    return;
  }
  ep->wanted += n;
  post_wanted(ep);
}

void unwant_buffers(cwyc_ep* ep, Link* link) {
  if (!ep->domain->path.msg || ep->domain->path.shared_receive) ep->wanted -= link->buffers;
  link->buffers = 0;
}

void repost(cwyc_ep* ep, ReceiveBuffer* buffer) {
  --ep->posted;
  if (buffer->owner != nullptr && !buffer->owner->purged && Network::post_receive(ep, buffer))
    return;
  if (buffer->owner == nullptr && ep->posted < ep->wanted && Network::post_receive(ep, buffer))
    return;
  buffer->owner = nullptr;
  ep->idle_buffers.push_back(buffer);
  if (ep->posted == 0) chores_due(ep);
}

}  // namespace causeway::ofi
