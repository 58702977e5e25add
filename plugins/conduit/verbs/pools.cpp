// Tickets, bounce buffers and receive buffers: taken and given back without the allocator, except
// where a pool grows.
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr size_t line = 64;
constexpr size_t least_slab = 256 << 10;
constexpr uint32_t tickets_at_once = 256;
constexpr uint32_t bounces_at_once = 16;
constexpr size_t route_header = 40;  // before every datagram
constexpr uint32_t least_window = 2;
// Frames beside the credits of both lanes. Credit is returned on its own once half a window is
// owed, so at most two such frames per lane are under way; then ready, bye and gone.
constexpr uint32_t control_buffers = 8;

size_t rounded(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

ReceiveBuffer* make_buffer(cwyc_ep* ep, size_t bytes) {
  uint32_t unused = 0;
  char* place = ep->slabs->take(sizeof(ReceiveBuffer), &unused);
  if (place == nullptr) return nullptr;
  auto* buffer = new (place) ReceiveBuffer;
  buffer->data = ep->slabs->take(bytes, &buffer->lkey);
  return buffer->data != nullptr ? buffer : nullptr;
}

// False: the queue is full; the buffer is kept for later.
bool post_receive(cwyc_ep* ep, ReceiveBuffer* buffer) {
  const size_t bytes = buffer->datagram ? route_header + sizeof(Hello) : ep->frame_max;
  ibv_sge piece{reinterpret_cast<uint64_t>(buffer->data), static_cast<uint32_t>(bytes),
                buffer->lkey};
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

}  // namespace

Slabs::~Slabs() {
  for (Slab& slab : slabs_) {
    slab.mr.reset();
    munmap(slab.base, slab.bytes);
  }
}

char* Slabs::take(size_t bytes, uint32_t* lkey) {
  // Pieces are carved from the end of the newest slab; what is given back goes to free lists of
  // the kinds, never here.
  const size_t need = rounded(bytes, line);
  if (slabs_.empty() || left_ < need) {
    const size_t size = rounded(std::max(need, least_slab), 4096);
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return nullptr;
    Slab slab{static_cast<char*>(base), size, nullptr};
    slab.mr.reset(ibv_reg_mr(domain_->pd.get(), base, size, local_access));
    if (slab.mr == nullptr) {
      munmap(base, size);
      return nullptr;
    }
    slabs_.push_back(std::move(slab));
    left_ = size;
    total_ += size;
  }
  Slab& slab = slabs_.back();
  char* place = slab.base + (slab.bytes - left_);
  left_ -= need;
  *lkey = slab.mr->lkey;
  return place;
}

Ticket* take_ticket(cwyc_ep* ep) {
  if (__builtin_expect(ep->free_tickets == nullptr, 0)) {
    // The pool grows by many at once and never shrinks: later operations find it large enough.
    for (uint32_t i = 0; i < tickets_at_once; ++i) {
      uint32_t lkey = 0;
      char* place = ep->slabs->take(sizeof(Ticket), &lkey);
      if (place == nullptr) break;
      auto* ticket = new (place) Ticket;
      ticket->lkey = lkey;
      ticket->next = ep->free_tickets;
      ep->free_tickets = ticket;
    }
    if (ep->free_tickets == nullptr) return nullptr;
  }
  Ticket* ticket = ep->free_tickets;
  ep->free_tickets = ticket->next;
  ticket->next = ticket->previous = nullptr;
  ticket->link = nullptr;
  ticket->op = nullptr;
  ticket->bounce = nullptr;
  ticket->lease = nullptr;
  ticket->ah = nullptr;
  ticket->copy_to = nullptr;
  ticket->report = 0;
  ticket->work = Work::send;
  return ticket;
}

void give_back_ticket(cwyc_ep* ep, Ticket* ticket) {
  if (ticket->bounce != nullptr) give_back_bounce(ep, ticket->bounce);
  if (ticket->lease != nullptr) ep->domain->leases->give_back(ticket->lease);
  if (ticket->ah != nullptr) ibv_destroy_ah(ticket->ah);
  ticket->next = ep->free_tickets;
  ep->free_tickets = ticket;
}

Bounce* take_bounce(cwyc_ep* ep) {
  if (__builtin_expect(ep->free_bounces == nullptr, 0)) {
    constexpr size_t header = line;
    static_assert(sizeof(Bounce) <= header);
    for (uint32_t i = 0; i < bounces_at_once; ++i) {
      uint32_t lkey = 0;
      char* place = ep->slabs->take(header + ep->bounce_bytes, &lkey);
      if (place == nullptr) break;
      auto* bounce = new (place) Bounce;
      bounce->lkey = lkey;
      bounce->data = place + header;
      bounce->next = ep->free_bounces;
      ep->free_bounces = bounce;
    }
    if (ep->free_bounces == nullptr) return nullptr;
  }
  Bounce* bounce = ep->free_bounces;
  ep->free_bounces = bounce->next;
  return bounce;
}

void give_back_bounce(cwyc_ep* ep, Bounce* bounce) {
  bounce->next = ep->free_bounces;
  ep->free_bounces = bounce;
}

bool take_both(cwyc_ep* ep, Ticket*& ticket, Bounce*& bounce) {
  bounce = take_bounce(ep);
  ticket = bounce != nullptr ? take_ticket(ep) : nullptr;
  if (ticket != nullptr) {
    ticket->bounce = bounce;
    return true;
  }
  if (bounce != nullptr) give_back_bounce(ep, bounce);
  return false;
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
    ReceiveBuffer* buffer = make_buffer(ep, route_header + sizeof(Hello));
    if (buffer == nullptr) return false;
    buffer->datagram = true;
    if (!post_receive(ep, buffer)) return false;
  }
  return true;
}

void post_wanted(cwyc_ep* ep) {
  while (ep->posted < ep->wanted) {
    ReceiveBuffer* buffer = nullptr;
    if (ep->idle_buffers.empty()) {
      buffer = make_buffer(ep, ep->frame_max);
    } else {
      buffer = ep->idle_buffers.back();
      ep->idle_buffers.pop_back();
    }
    if (buffer == nullptr) return;
    if (!post_receive(ep, buffer)) {
      ep->idle_buffers.push_back(buffer);
      return;
    }
  }
}

void repost(cwyc_ep* ep, ReceiveBuffer* buffer) {
  if (buffer->datagram) {
    post_receive(ep, buffer);
    return;
  }
  --ep->posted;
  if (ep->posted < ep->wanted && post_receive(ep, buffer)) return;
  ep->idle_buffers.push_back(buffer);
}

}  // namespace causeway::verbs
