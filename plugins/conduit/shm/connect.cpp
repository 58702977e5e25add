// Finding, joining and leaving a peer's endpoint.
#include <unistd.h>

#include <new>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "address.h"
#include "endpoint.h"

namespace causeway::shm {
namespace {

cwy_status read_address(const cwyc_peer_desc* peer, EndpointAddress& out, cwy_err* err) {
  if (!take_travelling(peer->address, peer->address_len, out))
    return report(err, CWY_ERR_INVALID, "rank %u gave %llu bytes that are no address of this conduit",
                  peer->peer.rank, static_cast<unsigned long long>(peer->address_len));
  if (out.magic != layout_magic || out.version != layout_version)
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u uses another version of this conduit; install the same one everywhere",
                  peer->peer.rank);
  return CWY_OK;
}

bool header_is_sound(const ControlHeader& h, const EndpointAddress& address) {
  return h.magic == layout_magic && h.version == layout_version && h.nonce == address.nonce &&
         h.slot_count <= slots_max && h.first_count != 0 &&
         h.first_count <= h.slot_count && h.ring_bytes >= least_ring_bytes &&
         h.ring_bytes % ring_unit == 0 && h.ring_bytes <= (1ull << 28) &&
         h.medium_max == medium_max_of(h.ring_bytes) &&
         control_bytes(h.slot_count, h.ring_bytes) <= address.object.length;
}

// Takes the first free slot of a range, beginning at our own index so that ranks rarely collide.
uint32_t claim_slot(ControlHeader* control, uint32_t from, uint32_t count, cwy_peer self) {
  const uint64_t mine = pack({SlotState::claimed, self});
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = from + (services->job->local_index + i) % count;
    uint64_t expected = 0;
    // Acquire: the previous owner's traces have been wiped.
    if (slot_at(control, index)
            ->owner.compare_exchange_strong(expected, mine, std::memory_order_acquire,
                                            std::memory_order_relaxed))
      return index;
  }
  return UINT32_MAX;
}

void announce(ControlHeader* control, Slot* slot, SlotState state, cwy_peer self) {
  // Release: the slot's other members, and everything sent, come before the new state.
  slot->owner.store(pack({state, self}), std::memory_order_release);
  control->slot_generation.fetch_add(1, std::memory_order_release);
}

cwy_peer self_of_job() {
  return {services->job->rank, services->job->epoch & epoch_mask};
}

// Makes two lanes write into the rings of a slot that has been claimed.
Slot* open_lanes(ControlHeader* control, uint32_t index, TxLane (&lanes)[lane_count]) {
  Slot* slot = slot_at(control, index);
  for (uint32_t i = 0; i < lane_count; ++i)
    lanes[i].open(ring_at(control, index, i), control->ring_bytes, &slot->lane[i].head);
  return slot;
}

// Lets the receiver read what is written there.
void announce_open(const cwyc_ep* ep, ControlHeader* control, Slot* slot) {
  slot->sender_pid.store(static_cast<uint32_t>(getpid()), std::memory_order_relaxed);
  slot->sender_job.store(ep->domain->job, std::memory_order_relaxed);
  slot->sender_has_membarrier.store(ep->membarrier ? 1 : 0, std::memory_order_relaxed);
  announce(control, slot, SlotState::open, self_of_job());
}

// False: there can be no further way.
bool open_side_way(Connection& c) {
  ControlHeader* control = c.peer_control;
  const uint32_t open = c.ways() - 1;
  if (open == side_ways_max || c.has_failed()) return false;
  auto* way = new (std::nothrow) SideWay;
  if (way == nullptr) return false;
  const uint32_t index = claim_slot(control, control->first_count,
                                    control->slot_count - control->first_count, self_of_job());
  if (index == UINT32_MAX) {
    delete way;
    return false;
  }
  way->slot = open_lanes(control, index, way->lane);
  announce_open(c.conn->ep, control, way->slot);
  // Release: whoever sees the way sees its lanes.
  c.side[open].store(way, std::memory_order_release);
  return true;
}

void close_side_ways(Connection& c) {
  for (auto& side : c.side) {
    SideWay* way = side.exchange(nullptr, std::memory_order_acquire);
    if (way == nullptr) return;
    announce(c.peer_control, way->slot, SlotState::closing, self_of_job());
    delete way;
  }
}

}  // namespace

cwy_status Conduit::reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  if (peer->same_host == 0)
    return report(err, CWY_ERR_UNREACHABLE, "rank %u runs on host %s, not on this one",
                  peer->peer.rank, peer->hostname != nullptr ? peer->hostname : "(unknown)");
  if (peer->same_process != 0 || peer->address == nullptr) return CWY_OK;
  EndpointAddress address;
  const cwy_status status = read_address(peer, address, err);
  if (status != CWY_OK) return status;
  if (address.uid != geteuid())
    return report(err, CWY_ERR_UNREACHABLE, "rank %u runs as user %u, this rank as user %u",
                  peer->peer.rank, address.uid, geteuid());
  if (address.pid_namespace != domain->pid_namespace)
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u runs in another container (PID namespace) of this host; start all ranks "
                  "of a host in one container, or use a network conduit",
                  peer->peer.rank);
  return CWY_OK;
}

cwy_status Conduit::connect(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op*,
                   cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    cwy_status status = reach(ep->domain, peer, err);
    EndpointAddress address;
    if (status == CWY_OK) status = read_address(peer, address, err);
    Mapping mapping;
    if (status == CWY_OK) status = map_peer_object(address.object, mapping, err);
    if (status != CWY_OK) return status;
    auto* control = static_cast<ControlHeader*>(mapping.base());
    if (!header_is_sound(*control, address))
      return report(err, CWY_ERR_PEER_FAILED,
                    "rank %u: process %u is not the one that gave this "
                    "address",
                    peer->peer.rank, address.object.pid);
    const uint32_t index = claim_slot(control, 0, control->first_count, self_of_job());
    if (index == UINT32_MAX)
      return report(err, CWY_ERR_NOMEM,
                    "all %u message queues of rank %u are taken; raise the option 'connections'",
                    control->first_count, peer->peer.rank);

    auto* c = new (&connection(conn)) Connection;
    c->conn = conn;
    c->peer_control = control;
    c->mapping = std::move(mapping);
    c->slot = open_lanes(control, index, c->lane);
    c->peer_pid = address.object.pid;
    c->process = ProcessHandle(address.object.pid);
    {
      const std::lock_guard lock(ep->connections_mutex);
      ep->connections.push_back(c);
    }
    announce_open(ep, control, c->slot);
    return CWY_OK;
  });
}

void widen(Connection& c) {
  if (!c.widening.try_lock()) return;
  if (!open_side_way(c)) c.at_widest.store(true, std::memory_order_relaxed);
  c.widening.unlock();
}

void Conduit::disconnect(cwyc_conn* conn) {
  Connection& c = connection(conn);
  if (c.conn == nullptr) return;  // never connected
  cwyc_ep* ep = conn->ep;
  {
    const std::lock_guard lock(ep->connections_mutex);
    ep->retired.add(c);
    std::erase(ep->connections, &c);
  }
  close_side_ways(c);
  announce(c.peer_control, c.slot, SlotState::closing, self_of_job());
  c.~Connection();
  c.conn = nullptr;
}

void Conduit::purge(cwyc_conn* conn) {
  Connection& c = connection(conn);
  if (c.conn == nullptr) return;
  c.failed.store(true, std::memory_order_relaxed);
  reject_sender(conn->ep, conn->peer, c.process.gone());
}

}  // namespace causeway::shm
