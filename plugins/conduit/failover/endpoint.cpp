// Domains, endpoints and connections: two of each, seen as one.
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cstring>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "../common/ep_answers.h"
#include "calls.h"
#include "module.h"

namespace causeway::failover {
namespace {

// ---- what the conduits behind can do

uint64_t medium_of(const Endpoint& ep, int p) {
  if (ep.behind(p).class_query == nullptr) return ep.attr[p].am_medium_max;
  uint64_t least = UINT64_MAX;
  for (uint32_t table = 0; table < ep.attr[p].ops_tables; ++table) {
    cwyc_class_attr one{};
    one.head = CWY_HEAD(cwyc_class_attr);
    ep.behind(p).class_query(ep.of[p], table, &one);
    least = std::min(least, one.am_medium_max);
  }
  return least;
}

bool all_can(const Endpoint& ep, uint64_t cap) {
  for (int p = 0; p < paths; ++p)
    if (ep.of[p] != nullptr && (ep.attr[p].caps & cap) == 0) return false;
  return true;
}

// Sleeps end by either conduit, and by the timer. Without `epoll` nobody sleeps on a descriptor.
void open_sleep(Endpoint& ep) {
  if (!all_can(ep, CWYC_CAP_WAIT_FD)) return;
  ep.epoll = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  ep.timer = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  bool all = ep.epoll && ep.timer && add_to_epoll(ep.epoll, ep.timer.get());
  for (int p = 0; all && p < paths; ++p) {
    if (ep.of[p] == nullptr) continue;
    int fd = -1;
    all = ep.behind(p).wait_fd(ep.of[p], &fd) == CWY_OK && add_to_epoll(ep.epoll, fd);
  }
  if (!all) ep.epoll = Descriptor();
}

template <int path>
void note_state(void* core_ep, cwy_peer peer, cwy_peer_state state, const char* why) {
  if (state == CWY_PEER_ALIVE) return;
  Endpoint& ep = endpoints.by_core_ep(core_ep);
  {
    const std::lock_guard lock(ep.news_mutex);
    ep.news.push_back({path, peer, why != nullptr ? why : "", state == CWY_PEER_FAILED});
    ep.has_news.store(true, std::memory_order_release);
  }
  services->wake(core_ep);
}

constexpr cwyc_deliver_fn deliveries[paths] = {deliver<0>, deliver<1>};
constexpr decltype(cwyc_ep_params::peer_state) notes[paths] = {note_state<0>, note_state<1>};

cwy_status open_behind(Endpoint& ep, int p, cwy_err* err) {
  const wrapping::TableCopy<cwyc_ep_params> ours(&ep.params);
  ours.table().deliver = deliveries[p];
  ours.table().place = nullptr;  // payloads have something in front
  ours.table().peer_state = notes[p];
  cwy_status status = ep.behind(p).ep_open(ep.domain->of[p], &ours.table(), &ep.of[p], err);
  if (status == CWY_OK) {
    ep.attr[p].head = CWY_HEAD(cwyc_ep_attr);
    status = ep.behind(p).ep_query(ep.of[p], &ep.attr[p]);
    if (status == CWY_OK) return CWY_OK;
    ep.behind(p).ep_close(ep.of[p]);
    report(err, status, "ep_query fails");
  }
  ep.of[p] = nullptr;
  return status;
}

void close_behind(Endpoint& ep) {
  for (int p = 0; p < paths; ++p)
    if (ep.of[p] != nullptr) ep.behind(p).ep_close(ep.of[p]);
}

// A conduit that cannot be opened, as where its cable is out when the job starts, is done without.
template <class Open>
cwy_status open_those_that_can(const Front& front, cwy_err* err, Open&& open) {
  cwy_err why[paths] = {{CWY_HEAD(cwy_err), CWY_OK, 0, ""}, {CWY_HEAD(cwy_err), CWY_OK, 0, ""}};
  cwy_status status[paths];
  for (int p = 0; p < paths; ++p) status[p] = open(p, &why[p]);
  if (status[0] != CWY_OK && status[1] != CWY_OK)
    return report(err, status[0], "%s: %s; %s: %s", front.behind[0]->name.c_str(), why[0].text,
                  front.behind[1]->name.c_str(), why[1].text);
  for (int p = 0; p < paths; ++p)
    if (status[p] != CWY_OK && why[p].text[0] != '\0' && services->job->local_index == 0)
      log(CWY_LOG_WARN, "%s cannot be opened (%s); everything goes over %s alone",
          front.behind[p]->name.c_str(), why[p].text, front.behind[1 - p]->name.c_str());
  return CWY_OK;
}

cwy_status open_endpoints(Endpoint& ep, cwy_err* err) {
  const auto open = [&ep](int p, cwy_err* why) -> cwy_status {
    if (ep.domain->of[p] == nullptr) return CWY_ERR_UNSUPPORTED;  // has been told
    return open_behind(ep, p, why);
  };
  const cwy_status status = open_those_that_can(*ep.front, err, open);
  if (status != CWY_OK) return status;
  uint64_t least = UINT64_MAX;
  for (int p = 0; p < paths; ++p)
    if (ep.of[p] != nullptr) least = std::min(least, medium_of(ep, p));
  constexpr uint64_t wanted = 512;
  if (least < wanted + most_before_payload)
    return report(err, CWY_ERR_UNSUPPORTED,
                  "a conduit behind sends %llu bytes in a message; at least %llu are needed",
                  static_cast<unsigned long long>(least),
                  static_cast<unsigned long long>(wanted + most_before_payload));
  // Ranks that can open one conduit only have the same limit as the others.
  ep.medium_max = std::min(ep.front->options.am_medium, (least - most_before_payload) / 16 * 16);
  return CWY_OK;
}

// ---- pairs of texts

template <class Write>
cwy_status write_pair(const Endpoint& ep, void* buf, uint64_t* len, cwy_err* err, Write&& write) {
  const uint64_t room = *len;
  uint64_t used = sizeof(Pair);
  for (const cwyc_ep_attr& attr : ep.attr) used += attr.ep_address_max;
  if (room < used) {
    *len = used;
    return report(err, CWY_ERR_INVALID, "an address of this conduit needs %llu bytes",
                  static_cast<unsigned long long>(used));
  }
  Pair head{{}, ep.name};
  auto* at = static_cast<std::byte*>(buf) + sizeof head;
  for (int p = 0; p < paths; ++p) {
    if (ep.of[p] == nullptr) continue;
    uint64_t length = ep.attr[p].ep_address_max;
    if (const cwy_status status = write(p, at, &length); status != CWY_OK) return status;
    head.length[p] = static_cast<uint32_t>(length);
    at += length;
  }
  std::memcpy(buf, &head, sizeof head);
  *len = static_cast<uint64_t>(at - static_cast<std::byte*>(buf));
  return CWY_OK;
}

// `peer` as the conduit behind sees it; its own address in place of the pair.
cwyc_peer_desc seen_by(const cwyc_peer_desc& peer, int p) {
  cwyc_peer_desc its = peer;
  its.head = CWY_HEAD(cwyc_peer_desc);
  its.wiring = nullptr;
  its.wiring_len = 0;
  if (peer.address == nullptr) return its;
  const auto address = part_of(peer.address, peer.address_len, p);
  its.address = address.empty() ? nullptr : address.data();
  its.address_len = address.size();
  return its;
}

}  // namespace

// ---- domains

cwy_status Conduit::domain_open(const cwy_options* opts, const cwyc_domain_params* params,
                                cwyc_domain** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    if (*params->device != '\0')
      return report(
          err, CWY_ERR_INVALID,
          "failover has no device '%s'; devices are named at the conduits of over and spare",
          params->device);
    auto domain = std::make_unique<cwyc_domain>();
    domain->front = front_of(opts);
    const auto open = [&](int p, cwy_err* why) {
      Behind& behind = *domain->front->behind[p];
      const wrapping::TableCopy<cwyc_domain_params> theirs(params);
      theirs.table().device = behind.wrapped.device;
      const cwy_status status =
          behind.module().domain_open(behind.wrapped.options, &theirs.table(), &domain->of[p], why);
      if (status != CWY_OK) domain->of[p] = nullptr;
      return status;
    };
    const cwy_status status = open_those_that_can(*domain->front, err, open);
    if (status == CWY_OK) *out = domain.release();
    return status;
  });
}

void Conduit::domain_close(cwyc_domain* domain) {
  for (int p = paths - 1; p >= 0; --p)
    if (domain->of[p] != nullptr) domain->front->behind[p]->module().domain_close(domain->of[p]);
  delete domain;
}

// ---- endpoints

cwy_status Conduit::ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                            cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    auto ep = std::make_unique<cwyc_ep>();
    ep->front = domain->front;
    ep->domain = domain;
    ep->params = wrapping::TableCopy<cwyc_ep_params>(params).table();
    ep->params.head = CWY_HEAD(cwyc_ep_params);
    ep->flows.resize(params->max_peers);
    static std::atomic<uint32_t> names{0};  // relaxed: it orders nothing
    ep->name = names.fetch_add(1, std::memory_order_relaxed);
    if (!endpoints.add(params->core_ep, ep.get()))
      return report(err, CWY_ERR_NOMEM, "failover: too many endpoints in one process");
    const cwy_status status = open_endpoints(*ep, err);
    if (status != CWY_OK) {
      close_behind(*ep);
      endpoints.remove(ep.get());
      return status;
    }
    open_sleep(*ep);
    *out = ep.release();
    return CWY_OK;
  });
}

void Conduit::ep_close(cwyc_ep* ep) {
  drain(*ep);
  const auto end = [](Flow& flow) {
    for (int p = 0; p < paths; ++p)
      close_path(flow, p, flow.ep->reading == 0 && !flow.path[p].broken && !flow.purged);
    drop_kept(flow);
  };
  for_each_flow(*ep, end);
  ep->flows.swap(ep->retired);
  for_each_flow(*ep, end);
  close_behind(*ep);  // what they still read of frames is read when they have closed
  endpoints.remove(ep);
  delete ep;
}

cwy_status Conduit::ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  cwyc_ep_attr all{};
  if (ep->epoll) all.caps |= CWYC_CAP_WAIT_FD;
  if (all_can(*ep, CWYC_CAP_PEER_FAILURE)) all.caps |= CWYC_CAP_PEER_FAILURE;
  all.caps |= (ep->attr[0].caps | ep->attr[1].caps) & CWYC_CAP_WIRING;
  all.ep_address_max = sizeof(Pair) + ep->attr[0].ep_address_max + ep->attr[1].ep_address_max;
  all.am_medium_max = ep->medium_max;
  all.speed = ep->attr[ep->of[0] != nullptr ? 0 : 1].speed;
  all.ops_tables = 1;
  return give_attributes(all, attr);
}

cwy_status Conduit::ep_address(cwyc_ep* ep, void* buf, uint64_t* len, cwy_err* err) {
  return write_pair(*ep, buf, len, err, [&](int p, void* to, uint64_t* length) {
    return ep->behind(p).ep_address(ep->of[p], to, length, err);
  });
}

cwy_status Conduit::wiring(cwyc_ep* ep, cwy_peer peer, void* buf, uint64_t* len, cwy_err* err) {
  return write_pair(*ep, buf, len, err, [&](int p, void* to, uint64_t* length) -> cwy_status {
    if ((ep->attr[p].caps & CWYC_CAP_WIRING) != 0)
      return ep->behind(p).wiring(ep->of[p], peer, to, length, err);
    *length = 0;
    return CWY_OK;
  });
}

cwy_status Conduit::ep_threads(cwyc_ep* ep, uint32_t multithreaded) {
  for (int p = 0; p < paths; ++p) {
    if (ep->of[p] == nullptr || ep->behind(p).ep_threads == nullptr) continue;
    const cwy_status status = ep->behind(p).ep_threads(ep->of[p], multithreaded);
    if (status != CWY_OK) return status;
  }
  return CWY_OK;
}

cwy_status Conduit::wait_fd(cwyc_ep* ep, int* fd) {
  if (!ep->epoll) return CWY_ERR_UNSUPPORTED;
  *fd = ep->epoll.get();
  return CWY_OK;
}

// ---- counters

namespace {

struct Prefixed {
  cwyc_stat_fn fn;
  void* arg;
  const char* prefix;
};

void tell_prefixed(void* arg, const char* name, uint64_t value) {
  const auto& to = *static_cast<Prefixed*>(arg);
  to.fn(to.arg, (std::string(to.prefix) + name).c_str(), value);
}

}  // namespace

void Conduit::ep_stats(cwyc_ep* ep, cwyc_stat_fn fn, void* arg) {
  constexpr const char* prefixes[paths] = {"over_", "spare_"};
  for (int p = 0; p < paths; ++p) {
    Prefixed to{fn, arg, prefixes[p]};
    if (ep->of[p] != nullptr && ep->behind(p).ep_stats != nullptr)
      ep->behind(p).ep_stats(ep->of[p], tell_prefixed, &to);
  }
  fn(arg, "switches", ep->switches);
  fn(arg, "returns", ep->returns);
  fn(arg, "sent_again", ep->resent);
  fn(arg, "duplicates", ep->duplicates);
  fn(arg, "probes", ep->probes);
}

void Conduit::ep_traffic(cwyc_ep* ep, cwyc_traffic_fn fn, void* arg) {
  for (int p = 0; p < paths; ++p)
    if (ep->of[p] != nullptr && ep->behind(p).ep_traffic != nullptr)
      ep->behind(p).ep_traffic(ep->of[p], fn, arg);
}

// ---- connections

cwy_status Conduit::reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  cwy_err first{CWY_HEAD(cwy_err), CWY_OK, 0, ""}, second = first;
  cwy_err* const texts[paths] = {&first, &second};
  for (int p = 0; p < paths; ++p) {
    const cwyc_peer_desc its = seen_by(*peer, p);
    const Behind& behind = *domain->front->behind[p];
    if (domain->of[p] == nullptr) {
      report(texts[p], CWY_ERR_UNREACHABLE, "it cannot be opened");
      continue;
    }
    if (peer->address != nullptr && its.address == nullptr) {
      report(texts[p], CWY_ERR_UNREACHABLE, "rank %u cannot open it", peer->peer.rank);
      continue;
    }
    if (behind.module().reach(domain->of[p], &its, texts[p]) == CWY_OK) return CWY_OK;
  }
  return report(err, CWY_ERR_UNREACHABLE, "%s: %s; %s: %s", domain->front->behind[0]->name.c_str(),
                first.text, domain->front->behind[1]->name.c_str(), second.text);
}

cwy_status Conduit::connect(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op* op,
                            cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    const cwy_status status = Conduit::reach(ep->domain, peer, err);
    if (status != CWY_OK) return status;
    if (peer->address == nullptr)
      return report(err, CWY_ERR_UNREACHABLE, "rank %u has no address of this conduit",
                    peer->peer.rank);
    Pair head{};
    if (peer->address_len >= sizeof head) std::memcpy(&head, peer->address, sizeof head);
    Flow* const flow = flow_to(*ep, peer->peer, head.name);
    if (flow == nullptr || flow->over())
      return report(err, CWY_ERR_PEER_FAILED, "rank %u has left, or has been replaced",
                    peer->peer.rank);
    if (!flow->described) describe(*flow, *peer);
    flow->conn = conn;
    conn->priv = flow;
    conn->table = 0;
    if (!flow->has_path()) tend_paths(*flow, services->now());
    if (flow->has_path()) return CWY_OK;
    flow->connect_op = op;
    watch(*flow);
    return CWY_INPROGRESS;
  });
}

void Conduit::disconnect(cwyc_conn* conn) {
  auto* const flow = static_cast<Flow*>(conn->priv);
  conn->priv = nullptr;
  if (flow != nullptr && flow->conn == conn) flow->conn = nullptr;
}

void Conduit::purge(cwyc_conn* conn) {
  auto* const flow = static_cast<Flow*>(conn->priv);
  if (flow == nullptr || flow->purged) return;
  flow->purged = true;
  drop_kept(*flow);
  for (int p = 0; p < paths; ++p) close_path(*flow, p, false);
  finish_connect(*flow, CWY_ERR_PEER_FAILED);
}

}  // namespace causeway::failover
