// Peers: made when first contacted or heard of, and how they are introduced.
#include <unistd.h>

#include <cstring>

#include "calls.h"

namespace causeway::failover {
namespace {

// Endpoints of one process that speak to one of ours; more are a damaged peer's.
constexpr int most_names = 256;

std::unique_ptr<Flow> make_flow(Endpoint& ep, cwy_peer peer, uint32_t name) {
  auto flow = std::make_unique<Flow>();
  flow->ep = &ep;
  flow->peer = peer;
  flow->name = name;
  for (Lane& lane : flow->lane) lane.kept.resize(ep.front->options.window);
  for (uint8_t p = 0; p < paths; ++p) {
    flow->path[p].connect_op.flow = flow.get();
    flow->path[p].connect_op.path = p;
    if (ep.of[p] == nullptr) flow->path[p].state = PathState::none;
  }
  return flow;
}

// The core may still have connections to it, which it purges and disconnects.
void retire(Endpoint& ep, std::unique_ptr<Flow> flow) {
  for (Flow* each = flow.get(); each != nullptr; each = each->next.get()) {
    finish_connect(*each, CWY_ERR_PEER_FAILED);
    if (each->conn != nullptr) each->conn->priv = nullptr;
    each->conn = nullptr;
    each->purged = true;
    drop_kept(*each);
  }
  ep.retired.push_back(std::move(flow));
}

bool is_here(const Flow& flow) {
  return flow.peer.rank == services->job->rank && flow.peer.epoch == services->job->epoch;
}

// Bytes of `what` (an address, a wiring) of each path, one behind the other.
template <class Write>
void append(std::vector<std::byte>& out, uint32_t& length, uint64_t room, Write&& write) {
  const size_t before = out.size();
  out.resize(before + room);
  uint64_t written = room;
  if (room != 0 && write(out.data() + before, &written) != CWY_OK) written = 0;
  out.resize(before + written);
  length = static_cast<uint32_t>(written);
}

}  // namespace

Flow* flow_to(Endpoint& ep, cwy_peer peer, uint32_t name) try {
  if (peer.rank >= ep.flows.size()) return nullptr;
  std::unique_ptr<Flow>& first = ep.flows[peer.rank];
  if (first != nullptr && first->peer.epoch > peer.epoch) return nullptr;
  const bool current = first != nullptr && first->peer.epoch == peer.epoch;
  int names = 0;
  for (Flow* flow = current ? first.get() : nullptr; flow != nullptr; flow = flow->next.get()) {
    if (flow->name == name) return flow;
    if (++names == most_names) return nullptr;
  }
  std::unique_ptr<Flow> fresh = make_flow(ep, peer, name);
  if (current)
    fresh->next = std::move(first);
  else if (first != nullptr)
    retire(ep, std::move(first));
  first = std::move(fresh);
  return first.get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

void want_attention(Flow& flow) {
  if (std::exchange(flow.on_todo, true)) return;
  flow.ep->todo.push_back(&flow);
}

void owe_acknowledgement(Flow& flow) {
  if (flow.owed == 0 || std::exchange(flow.ack_due, true)) return;
  flow.ep->owing.push_back(&flow);
}

void watch(Flow& flow) {
  if (std::exchange(flow.watched, true)) return;
  flow.ep->watched.push_back(&flow);
}

void describe(Flow& flow, const cwyc_peer_desc& peer) {
  flow.same_process = peer.same_process;
  flow.same_host = peer.same_host;
  flow.local_index = peer.local_index;
  flow.pid = peer.pid;
  flow.hostname = peer.hostname != nullptr ? peer.hostname : "";
  for (int p = 0; p < paths; ++p) {
    Path& path = flow.path[p];
    const auto address = part_of(peer.address, peer.address_len, p);
    const auto wiring = part_of(peer.wiring, peer.wiring_len, p);
    path.address.assign(address.begin(), address.end());
    path.wiring.assign(wiring.begin(), wiring.end());
    if (path.address.empty()) path.state = PathState::none;
  }
  flow.described = true;
}

bool describe(Flow& flow, const void* bytes, size_t length) {
  Hello hello;
  if (length < sizeof hello) return false;
  std::memcpy(&hello, bytes, sizeof hello);
  uint64_t whole = sizeof hello + uint64_t{hello.name_length};
  for (int p = 0; p < paths; ++p)
    whole += uint64_t{hello.address_length[p]} + hello.wiring_length[p];
  if (whole != length) return false;
  const auto* at = static_cast<const std::byte*>(bytes) + sizeof hello;
  const auto take = [&at](uint32_t count) {
    at += count;
    return std::vector<std::byte>(at - count, at);
  };
  flow.same_process = is_here(flow) ? 1 : 0;
  flow.same_host = hello.host_id == services->job->host_id ? 1 : 0;
  flow.local_index = hello.local_index;
  flow.pid = hello.pid;
  const std::vector<std::byte> name = take(hello.name_length);
  flow.hostname.assign(reinterpret_cast<const char*>(name.data()), name.size());
  for (int p = 0; p < paths; ++p) {
    flow.path[p].address = take(hello.address_length[p]);
    flow.path[p].wiring = take(hello.wiring_length[p]);
    if (flow.path[p].address.empty()) flow.path[p].state = PathState::none;
  }
  flow.described = true;
  return true;
}

cwyc_peer_desc seen_by(const Flow& flow, int path) {
  const Path& its = flow.path[path];
  const auto bytes = [](const std::vector<std::byte>& of) {
    return of.empty() ? nullptr : of.data();
  };
  return {CWY_HEAD(cwyc_peer_desc), flow.peer,         flow.same_process,     flow.same_host,
          flow.local_index,         flow.pid,          flow.hostname.c_str(), bytes(its.address),
          its.address.size(),       bytes(its.wiring), its.wiring.size()};
}

void choose_paths(Flow& flow) {
  if (std::exchange(flow.chosen, true)) return;
  Endpoint& ep = *flow.ep;
  for (int p = 0; p < paths; ++p) {
    const cwyc_peer_desc its = seen_by(flow, p);
    Path& path = flow.path[p];
    if (path.state == PathState::none) continue;
    if (ep.behind(p).reach(ep.domain->of[p], &its, nullptr) != CWY_OK) path.state = PathState::none;
  }
}

void make_hello(Flow& flow, int path) {
  Endpoint& ep = *flow.ep;
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  Hello hello{};
  hello.host_id = services->job->host_id;
  hello.local_index = services->job->local_index;
  hello.pid = static_cast<uint32_t>(getpid());
  hello.name_length = static_cast<uint32_t>(std::strlen(name));
  std::vector<std::byte> bytes(sizeof hello + hello.name_length);
  std::memcpy(bytes.data() + sizeof hello, name, hello.name_length);
  for (int p = 0; p < paths; ++p) {
    append(bytes, hello.address_length[p], ep.attr[p].ep_address_max, [&](void* to, uint64_t* n) {
      return ep.behind(p).ep_address(ep.of[p], to, n, nullptr);
    });
    const bool wired = (ep.attr[p].caps & CWYC_CAP_WIRING) != 0;
    append(bytes, hello.wiring_length[p], wired ? ep.attr[p].ep_address_max : 0,
           [&](void* to, uint64_t* n) {
             return ep.behind(p).wiring(ep.of[p], flow.peer, to, n, nullptr);
           });
  }
  std::memcpy(bytes.data(), &hello, sizeof hello);
  flow.path[path].hello = std::move(bytes);
}

}  // namespace causeway::failover
