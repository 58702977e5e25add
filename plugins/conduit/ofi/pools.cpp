// Tickets, bounce buffers and receive buffers: taken and given back without the allocator, except
// where a pool grows.
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "calls.h"

namespace causeway::ofi {
namespace {

constexpr size_t line = 64;
constexpr size_t least_slab = 256 << 10;
constexpr uint32_t tickets_at_once = 256;
constexpr uint32_t bounces_at_once = 16;

size_t rounded(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

uint64_t pool_access() {
  return FI_READ | FI_WRITE | FI_SEND | FI_RECV;
}

ReceiveBuffer* make_buffer(cwyc_ep* ep) {
  void* unused = nullptr;
  char* place = ep->slabs->take(rounded(sizeof(ReceiveBuffer), line), &unused);
  if (place == nullptr) return nullptr;
  auto* buffer = new (place) ReceiveBuffer;
  buffer->data = ep->slabs->take(rounded(ep->buffer_bytes, line), &buffer->desc);
  buffer->ticket.work = Work::receive;
  if (buffer->data == nullptr) return nullptr;
  ep->buffers.push_back(buffer);
  return buffer;
}

// NULL: no memory.
ReceiveBuffer* idle_or_new(cwyc_ep* ep) {
  if (ep->idle_buffers.empty()) return make_buffer(ep);
  ReceiveBuffer* const buffer = ep->idle_buffers.back();
  ep->idle_buffers.pop_back();
  return buffer;
}

// False: the provider's queue is full; the buffer is kept for later.
bool post(cwyc_ep* ep, ReceiveBuffer* buffer) {
  fid_ep* to = buffer->owner != nullptr ? buffer->owner->endpoint
               : ep->srx != nullptr     ? ep->srx.get()
                                        : ep->datagram.get();
  iovec piece{buffer->data, ep->buffer_bytes};
  fi_msg message{};
  message.msg_iov = &piece;
  message.desc = &buffer->desc;
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

}  // namespace

Slabs::~Slabs() {
  for (Slab& slab : slabs_) {
    slab.mr.reset();
    munmap(slab.base, slab.bytes);
  }
}

void Slabs::unregister() {
  for (Slab& slab : slabs_) slab.mr.reset();
}

char* Slabs::take(size_t bytes, void** desc) {
  // Pieces are carved from the end of the newest slab; what is given back goes to free lists of
  // the kinds, never here. Pages come on first touch.
  const size_t need = rounded(bytes, line);
  if (slabs_.empty() || bytes_ < need) {
    const size_t size = rounded(std::max(need, least_slab), 4096);
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return nullptr;
    Slab slab{static_cast<char*>(base), size, nullptr};
    if (registered_ &&
        register_memory(domain_, base, size, pool_access(), CWY_MEM_HOST, -1, slab.mr) != 0) {
      munmap(base, size);
      return nullptr;
    }
    slabs_.push_back(std::move(slab));
    bytes_ = size;
  }
  Slab& slab = slabs_.back();
  char* place = slab.base + (slab.bytes - bytes_);
  bytes_ -= need;
  *desc = slab.mr != nullptr ? fi_mr_desc(slab.mr.get()) : nullptr;
  return place;
}

bool add_tickets(cwyc_ep* ep) {
  // The pool grows by many at once and never shrinks: later operations find it large enough.
  constexpr size_t each = (sizeof(Ticket) + line - 1) / line * line;
  for (uint32_t i = 0; i < tickets_at_once; ++i) {
    void* desc = nullptr;
    char* place = ep->slabs->take(each, &desc);
    if (place == nullptr) break;
    auto* ticket = new (place) Ticket;
    ticket->desc = desc;
    ticket->next = ep->free_tickets;
    ep->free_tickets = ticket;
  }
  return ep->free_tickets != nullptr;
}

Bounce* take_bounce(cwyc_ep* ep) {
  if (__builtin_expect(ep->free_bounces == nullptr, 0)) {
    constexpr size_t header = line;
    static_assert(sizeof(Bounce) <= header);
    for (uint32_t i = 0; i < bounces_at_once; ++i) {
      void* desc = nullptr;
      char* place = ep->slabs->take(header + ep->frame_max, &desc);
      if (place == nullptr) break;
      auto* bounce = new (place) Bounce;
      bounce->desc = desc;
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

void want_buffers(cwyc_ep* ep, Link* link, uint32_t n) {
  if (link != nullptr) link->buffers += n;
  if (ep->domain->path.msg && !ep->domain->path.shared_receive) {
    // A queue of its own: these buffers live and die with the link's endpoint.
    for (uint32_t i = 0; i < n; ++i) {
      ReceiveBuffer* const buffer = idle_or_new(ep);
      if (buffer == nullptr) return;
      buffer->owner = link;
      link->queue.push_back(buffer);
      if (!post(ep, buffer)) {
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

void post_wanted(cwyc_ep* ep) {
  while (ep->posted < ep->wanted) {
    ReceiveBuffer* const buffer = idle_or_new(ep);
    if (buffer == nullptr) return;
    if (!post(ep, buffer)) {
      ep->idle_buffers.push_back(buffer);
      return;
    }
  }
}

void repost(cwyc_ep* ep, ReceiveBuffer* buffer) {
  --ep->posted;
  if (buffer->owner != nullptr && !buffer->owner->purged && post(ep, buffer)) return;
  if (buffer->owner == nullptr && ep->posted < ep->wanted && post(ep, buffer)) return;
  buffer->owner = nullptr;
  ep->idle_buffers.push_back(buffer);
  if (ep->posted == 0) chores_due(ep);
}

}  // namespace causeway::ofi
