// Active messages, receiving side. Delivered from within UCX's callback, without a copy, unless the
// moment forbids it.
#include <cstring>
#include <utility>

#include "endpoint.h"
#include "services.h"

namespace causeway::ucx {
namespace {

enum Lane : uint32_t { request_lane, reply_lane };

class InCallback {
 public:
  explicit InCallback(cwyc_ep* ep) : ep_(ep) { ++ep_->depth; }
  ~InCallback() { --ep_->depth; }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

 private:
  cwyc_ep* ep_;
};

// False: no message of this job, or one of an incarnation that was replaced.
bool read_message(cwyc_ep* ep, const void* bytes, size_t header_length, size_t length,
                  Message& out) {
  if (header_length < sizeof out.header) return false;
  std::memcpy(&out.header, bytes, sizeof out.header);
  const MessageHeader& h = out.header;
  const auto* at = static_cast<const unsigned char*>(bytes) + sizeof h;
  const uint32_t nargs = info_nargs(h.info);
  const bool is_long = info_kind(h.info) == MessageKind::am_long;
  const size_t expected = sizeof h + (is_long ? sizeof(uint64_t) : 0) + nargs * sizeof(int32_t);
  if (h.job != ep->job || nargs > CWYC_AM_MAX_ARGS || header_length != expected ||
      h.rank >= ep->newest_epoch.size())
    return false;
  uint32_t& newest = ep->newest_epoch[h.rank];
  const uint32_t epoch = info_epoch(h.info);
  if (epoch < newest) return false;
  newest = epoch;
  out.target = nullptr;
  if (is_long) {
    uint64_t address = 0;
    std::memcpy(&address, at, sizeof address);
    at += sizeof address;
    out.target = reinterpret_cast<void*>(address);
    if (out.target == nullptr && length != 0) return false;
  }
  if (nargs != 0) std::memcpy(out.args, at, nargs * sizeof *out.args);
  out.length = length;
  return true;
}

// The peer leaves, and waits for an answer that comes behind whatever UCX still sends it: by the
// way of our own messages, if there is one.
void farewell(cwyc_ep* ep, const Message& m, const ucp_am_recv_param_t* param) {
  const bool is_answer = m.header.word == farewell_seen;
  ucp_ep_h to =
      (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0 ? param->reply_ep : nullptr;
  for_each_link_to(ep, m.header.rank, [&](Link& link) {
    if ((link.peer.epoch & epoch_mask) != info_epoch(m.header.info)) return;
    (is_answer ? link.answered : link.farewell) = true;
    if (is_answer) return;
    if (link.conn != nullptr) connection(link.conn).ep = nullptr;  // posts answer PEER_FAILED
    if (!link.failed && link.ep != nullptr && !link.closing) to = link.ep;
  });
  if (is_answer || to == nullptr) return;
  ucp_request_param_t none{};
  const ucs_status_ptr_t answer =
      ucp_am_send_nbx(to, id_reply, &ep->seen, sizeof ep->seen, nullptr, 0, &none);
  if (UCS_PTR_IS_PTR(answer)) ucp_request_free(answer);  // freed by UCX when it has ended
}

// The payload of a medium is `own`'s or UCX's; that of a long lies at its target. True: it was
// kept.
bool hand_over(cwyc_ep* ep, const Message& m, Delivering payload) {
  constexpr uint32_t kinds[] = {CWYC_AM_SHORT, CWYC_AM_MEDIUM, CWYC_AM_LONG};
  constexpr Statistic counters[] = {short_received, medium_received, long_received};
  const auto kind = static_cast<uint32_t>(info_kind(m.header.info));
  Delivering* const outer = std::exchange(ep->delivering, &payload);
  ++ep->delivered;
  ep->count_received(counters[kind], m.header.rank, m.length);
  ep->params.deliver(ep->params.core_ep, {m.header.rank, info_epoch(m.header.info)}, m.header.word,
                     kinds[kind], m.args, info_nargs(m.header.info), payload.payload, m.length);
  ep->delivering = outer;
  return payload.kept;
}

// A message that was put off, or whose payload was fetched.
void hand_over(cwyc_ep* ep, Held& held) {
  const Message& m = held.message;
  const bool placed = m.target != nullptr;
  hand_over(ep, m,
            {placed ? m.target : held.payload.get(), placed ? nullptr : &held.payload, false});
}

// The handler of a request may be the first that needs a link to its sender. UCX 1.13 may crash
// when an endpoint is created in a callback: its TCP gives connections that the peers have made to
// the new endpoint, and destroys what events of the same look at the sockets still belong to. So
// such a request is held until UCX has been left.
bool must_hold(const cwyc_ep* ep, Lane lane, const MessageHeader& h) {
  if (ep->hold_all) return true;
  return lane == request_lane && (ep->hold_requests || ep->delivered >= ep->budget ||
                                  ep->linked_epoch[h.rank] != info_epoch(h.info));
}

// UCX was told the alignment (am_alignment), but hands out what lies in a byte stream as it lies.
// `lasting`: UCX lets it stay where it is. The payload is NULL where there is no memory.
Delivering align(cwyc_ep* ep, Lane lane, void* payload, size_t length, bool lasting) {
  if (reinterpret_cast<uintptr_t>(payload) % payload_alignment == 0)
    return {payload, nullptr, lasting && length >= sizeof(HandedBack::Link)};
  auto& buffer = ep->aligned[lane];
  if (!buffer) buffer.reset(new (std::nothrow) unsigned char[ep->domain->options.medium_max + 8]);
  if (buffer) std::memcpy(buffer.get(), payload, length);
  return {buffer.get(), &buffer, false};
}

size_t bytes_of(const Held& held) {
  return sizeof held + (held.payload ? held.message.length : 0);
}

void hold(cwyc_ep* ep, Lane lane, Held&& held) {
  ep->count(held_count);
  ep->held_bytes += bytes_of(held);
  ep->held[lane].push_back(std::move(held));
}

// The whole message is here; `data` is valid during the call, and `lasting` beyond it where the
// answer is UCS_INPROGRESS.
ucs_status_t eager(cwyc_ep* ep, Lane lane, const Message& m, void* data, bool lasting) {
  const bool medium = info_kind(m.header.info) == MessageKind::am_medium;
  if (m.target != nullptr && m.length != 0) std::memcpy(m.target, data, m.length);
  if (!must_hold(ep, lane, m.header)) {
    const Delivering payload =
        medium ? align(ep, lane, data, m.length, lasting) : Delivering{m.target, nullptr, false};
    if (medium && payload.payload == nullptr && m.length != 0) {
      ep->count(dropped_count);
      log(CWY_LOG_ERROR, "no memory to align a message of %zu bytes", m.length);
      return UCS_OK;
    }
    return hand_over(ep, m, payload) && payload.own == nullptr ? UCS_INPROGRESS : UCS_OK;
  }
  Held held{m, nullptr};
  if (medium) {
    held.payload.reset(new unsigned char[m.length + 8]);
    std::memcpy(held.payload.get(), data, m.length);
  }
  hold(ep, lane, std::move(held));
  return UCS_OK;
}

void fetched(Rendezvous& r, ucs_status_t status) {
  cwyc_ep* ep = r.ep;
  const auto lane = static_cast<Lane>(r.lane);
  Held held = std::move(r.held);
  ep->rendezvous.erase(r.self);
  if (status != UCS_OK || ep->closing) {  // its sender died meanwhile
    ep->count(dropped_count);
    return;
  }
  if (must_hold(ep, lane, held.message.header)) return hold(ep, lane, std::move(held));
  hand_over(ep, held);
}

void fetch_done(void* request, ucs_status_t status, size_t, void* user_data) {
  auto& r = *static_cast<Rendezvous*>(user_data);
  {
    const InCallback in(r.ep);
    fetched(r, status);
  }
  ucp_request_free(request);
}

// Where the core wants the payload of a medium; NULL: anywhere.
void* place(const cwyc_ep* ep, const Message& m) {
  if (ep->params.place == nullptr) return nullptr;
  cwyc_arrival arrival{CWY_HEAD(cwyc_arrival),
                       {m.header.rank, info_epoch(m.header.info)},
                       m.header.word,
                       m.args,
                       info_nargs(m.header.info),
                       0,
                       m.length};
  return ep->params.place(ep->params.core_ep, &arrival);
}

// The payload is at its sender still: fetches it to where it belongs.
ucs_status_t fetch(cwyc_ep* ep, Lane lane, const Message& m, void* descriptor) {
  if (m.target == nullptr && m.length > ep->domain->options.medium_max) {
    ep->count(dropped_count);
    return UCS_ERR_EXCEEDS_LIMIT;
  }
  ep->rendezvous.emplace_back();
  Rendezvous& r = ep->rendezvous.back();
  r.ep = ep;
  r.lane = lane;
  r.self = std::prev(ep->rendezvous.end());
  r.held.message = m;
  if (m.target == nullptr && m.length != 0) r.held.message.target = place(ep, m);
  void* to = r.held.message.target;
  if (to == nullptr) {
    r.held.payload.reset(new unsigned char[m.length + 8]);
    to = r.held.payload.get();
  }
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.recv_am = fetch_done;
  param.user_data = &r;
  const ucs_status_ptr_t answer =
      ucp_am_recv_data_nbx(ep->worker, descriptor, to, m.length, &param);
  if (answer == nullptr)
    fetched(r, UCS_OK);
  else if (UCS_PTR_IS_ERR(answer))
    fetched(r, UCS_PTR_STATUS(answer));
  return UCS_INPROGRESS;  // the descriptor is UCX's again
}

// What round trips are made of: a short message of an incarnation that is known, to be delivered
// now. Straight from where UCX has it. False: nothing has been done.
inline bool deliver_short(cwyc_ep* ep, Lane lane, const void* bytes, size_t header_length) {
  MessageHeader h;
  if (header_length < sizeof h) return false;
  std::memcpy(&h, bytes, sizeof h);
  const uint32_t nargs = info_nargs(h.info);
  const auto* args = static_cast<const unsigned char*>(bytes) + sizeof h;
  const bool plain = info_kind(h.info) == MessageKind::am_short && nargs <= CWYC_AM_MAX_ARGS &&
                     header_length == sizeof h + nargs * sizeof(int32_t) &&
                     reinterpret_cast<uintptr_t>(args) % alignof(int32_t) == 0 &&
                     h.job == ep->job && h.rank < ep->newest_epoch.size() &&
                     ep->newest_epoch[h.rank] == info_epoch(h.info);
  if (!plain || ep->closing || must_hold(ep, lane, h)) return false;
  ++ep->delivered;
  ep->count_received(short_received, h.rank, 0);
  ep->params.deliver(ep->params.core_ep, {h.rank, info_epoch(h.info)}, h.word, CWYC_AM_SHORT,
                     reinterpret_cast<const int32_t*>(args), nargs, nullptr, 0);
  return true;
}

ucs_status_t arrived(cwyc_ep* ep, Lane lane, const void* header, size_t header_length, void* data,
                     size_t length, const ucp_am_recv_param_t* param) {
  const InCallback in(ep);
  if (length == 0 && deliver_short(ep, lane, header, header_length)) return UCS_OK;
  Message m;
  const bool good = read_message(ep, header, header_length, length, m);
  if (good && info_kind(m.header.info) == MessageKind::farewell) {
    farewell(ep, m, param);
    return UCS_OK;
  }
  if (ep->closing || !good) {
    ep->count(dropped_count);
    return UCS_OK;
  }
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return fetch(ep, lane, m, data);
  return eager(ep, lane, m, data, (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0);
}

}  // namespace

ucs_status_t request_arrived(void* arg, const void* header, size_t header_length, void* data,
                             size_t length, const ucp_am_recv_param_t* param) {
  return arrived(static_cast<cwyc_ep*>(arg), request_lane, header, header_length, data, length,
                 param);
}

ucs_status_t reply_arrived(void* arg, const void* header, size_t header_length, void* data,
                           size_t length, const ucp_am_recv_param_t* param) {
  return arrived(static_cast<cwyc_ep*>(arg), reply_lane, header, header_length, data, length,
                 param);
}

void deliver_held(cwyc_ep* ep, uint32_t lane) {
  const auto drain = [ep](Lane which) {
    auto& queue = ep->held[which];
    while (!queue.empty() && ep->delivered < ep->budget) {
      Held held = std::move(queue.front());  // delivering may come back here for replies
      queue.pop_front();
      ep->held_bytes -= bytes_of(held);
      hand_over(ep, held);
    }
  };
  drain(reply_lane);
  if (lane == CWYC_PROGRESS_ALL) drain(request_lane);
}

// ---- payloads that the core keeps

namespace {
// A payload of the conduit's own goes by its address and this, one of UCX's by its address.
constexpr uintptr_t own_mark = 1;
// More would only grow UCX's memory: whoever keeps so many is slow.
constexpr uint32_t most_kept = 256;
}  // namespace

cwy_status Conduit::am_retain(cwyc_ep* ep, void* payload, void** kept) {
  take_back_released(ep);
  Delivering* const d = ep->delivering;
  if (d == nullptr || d->payload != payload || d->kept) return CWY_ERR_UNSUPPORTED;
  if (d->own != nullptr) {
    *kept = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(d->own->release()) | own_mark);
  } else if (d->lasting && ep->kept < most_kept) {
    ++ep->kept;
    *kept = payload;
  } else {
    return CWY_ERR_UNSUPPORTED;
  }
  d->kept = true;
  return CWY_OK;
}

void Conduit::am_release(cwyc_ep* ep, void* kept) {
  const auto name = reinterpret_cast<uintptr_t>(kept);
  if ((name & own_mark) != 0)
    delete[] reinterpret_cast<unsigned char*>(name & ~own_mark);
  else
    ep->released.push(new (kept) HandedBack::Link);
}

void take_back_released(cwyc_ep* ep) {
  ep->released.take_all([ep](HandedBack::Link* payload) {
    --ep->kept;
    ucp_am_data_release(ep->worker, payload);
  });
}

}  // namespace causeway::ucx
