// An endpoint: requests and their ends, progress, and what becomes of it when the peer, the port or
// the process goes.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "conduit.h"

using namespace simnic;

cwyc_ep::cwyc_ep(cwyc_domain& of, const cwyc_ep_params& with)
    : domain(of),
      params(with),
      adapter(of.traits, of.memory, of.job, {services->job->rank, services->job->epoch}, *this),
      pairs(services->job->size),
      newest(services->job->size),
      traffic(services->job->size),
      requests_(static_cast<size_t>(of.traits.completions)) {
  for (size_t i = requests_.size(); i > 0; --i) free_.push_back(static_cast<uint32_t>(i - 1));
}

// ---- queue pairs ----------------------------------------------------------------------------

uint64_t cwyc_ep::check_of(uint64_t number, cwy_peer reader) const {
  return adapter.seal(mix(number) ^ uint64_t{reader.rank} << 32 ^ reader.epoch);
}

QueuePair* cwyc_ep::pair_for(cwy_peer peer, cwy_err* err) {
  if (peer.rank >= pairs.size()) {
    fail(err, CWY_ERR_INVALID, "rank " + std::to_string(peer.rank) + " is not in the job");
    return nullptr;
  }
  if (peer.epoch < newest[peer.rank]) {
    fail(err, CWY_ERR_PEER_FAILED, "that process has been replaced");
    return nullptr;
  }
  newest[peer.rank] = peer.epoch;
  if (shared != nullptr) return shared;
  QueuePair*& pair = pairs[peer.rank];
  if (pair != nullptr && pair->peer.epoch == peer.epoch) return pair;
  if (pair != nullptr) {
    for (auto& flow : flows)
      if (flow->from == pair) flow->from = nullptr;
    adapter.destroy_pair(pair);
  }
  pair = adapter.create_pair(peer);
  if (pair == nullptr)
    fail(err, CWY_ERR_NOMEM, std::string("no queue pair: ") + std::strerror(errno));
  return pair;
}

// ---- requests -------------------------------------------------------------------------------

Request* cwyc_ep::begin(Flow* flow, cwyc_op* op, uint32_t bits, uint64_t* ticket) {
  if (free_.empty()) return nullptr;
  const uint32_t index = free_.back();
  free_.pop_back();
  Request& request = requests_[index];
  request = {op, flow, nullptr, 0, bits, request.generation};
  *ticket = uint64_t{request.generation} << 32 | index;
  most_under_way = std::max<uint64_t>(most_under_way, requests_.size() - free_.size());
  return &request;
}

// NULL: it has ended already.
Request* cwyc_ep::of_ticket(uint64_t ticket) {
  const uint64_t index = ticket & UINT32_MAX;
  if (index >= requests_.size()) return nullptr;
  Request& request = requests_[index];
  return request.op != nullptr && request.generation == ticket >> 32 ? &request : nullptr;
}

bool cwyc_ep::explain(cwy_status status, cwy_detail& said) const {
  said = {};
  said.head = CWY_HEAD(cwy_detail);
  switch (status) {
    case CWY_ERR_INVALID:
      said.code = 1;
      said.text = "the peer's adapter knows no such memory";
      return true;
    case CWY_ERR_DEVICE_FAILED:
      said.code = 2;
      said.text = why_.c_str();
      return true;
    case CWY_ERR_UNSUPPORTED:
      said.code = 4;
      said.text = "the peer does not listen to what puts bring";
      return true;
    default:
      return false;
  }
}

// The entry is free before the report, and the op is not touched behind it.
void cwyc_ep::end(Request& request, cwy_status status) {
  cwy_detail said;
  const bool explained = explain(status, said);
  cwyc_op* const op = request.op;
  request.op = nullptr;
  ++request.generation;
  free_.push_back(static_cast<uint32_t>(&request - requests_.data()));
  op->fn(op, request.bits, status, explained ? &said : nullptr);
}

uint32_t cwyc_ep::drain() {
  uint32_t count = 0;
  for (auto& queue = adapter.completions(); !queue.empty(); ++count) {
    const Completion one = queue.front();
    queue.pop_front();
    if (Request* request = of_ticket(one.ticket)) end(*request, one.status);
  }
  return count;
}

void cwyc_ep::end_all(Flow* flow, cwy_status status) {
  for (Request& request : requests_)
    if (request.op != nullptr && (flow == nullptr || request.flow == flow)) end(request, status);
}

// ---- what the adapter calls -----------------------------------------------------------------

void cwyc_ep::message(const Header& h, char* payload) {
  traffic[h.rank].add(CWYC_RECEIVED, 1);
  traffic[h.rank].add(CWYC_RECEIVED_BYTES, h.length);
  const Header own = h;  // the buffer may be kept, and let go, before deliver returns
  params.deliver(params.core_ep, {own.rank, own.epoch}, own.word, own.verb, own.args, own.nargs,
                 own.verb == kShort ? nullptr : payload, own.length);
}

bool cwyc_ep::known(const Header& h) {
  if (h.rank >= newest.size() || h.epoch < newest[h.rank]) return false;
  newest[h.rank] = h.epoch;
  return true;
}

char* cwyc_ep::place(uint64_t ticket, uint32_t length) {
  const Request* request = of_ticket(ticket);
  if (request == nullptr) return nullptr;
  traffic[request->flow->peer.rank].add(CWYC_RECEIVED_BYTES, length);
  if (request->result != nullptr && length <= request->length)
    return static_cast<char*>(request->result);
  return length <= sizeof nowhere_ ? reinterpret_cast<char*>(&nowhere_) : nullptr;
}

char* cwyc_ep::place(const Header& h) {
  if (params.place == nullptr) return nullptr;
  cwyc_arrival arrival{};
  arrival.head = CWY_HEAD(cwyc_arrival);
  arrival.from = {h.rank, h.epoch};
  arrival.word = h.word;
  arrival.args = h.args;
  arrival.nargs = h.nargs;
  arrival.length = h.length;
  return static_cast<char*>(params.place(params.core_ep, &arrival));
}

void cwyc_ep::immediate(const Header& put) {
  listener(listener_arg, {put.rank, put.epoch}, static_cast<uint32_t>(put.operand1), put.length);
}

void cwyc_ep::goodbye(uint64_t from) {
  for (auto& flow : flows) flow->left |= flow->to == from;
}

void cwyc_ep::refused(uint64_t to) {
  for (auto& flow : flows) flow->refused |= flow->to == to && flow->from != nullptr;
}

// ---- progress -------------------------------------------------------------------------------

void cwyc_ep::look_at_port() {
  if (adapter.port_down() == port_down_) return;
  port_down_ = !port_down_;
  services->device_state(params.core_ep, domain.device.c_str(),
                         port_down_ ? CWYC_DEVICE_DOWN : CWYC_DEVICE_UP,
                         port_down_ ? "its port is down" : "its port is up");
}

// Rings every doorbell, and drops what leads nowhere.
void cwyc_ep::push() {
  look_at_port();
  for (auto& flow : flows) {
    for (SendQueue& queue : flow->queue) {
      if (queue.unrung() != 0) queue.ring(), ++adapter.doorbells;
      if (flow->from == nullptr) queue.drop();
    }
    if (flow->from != nullptr) adapter.work(*flow);
  }
  std::erase_if(flows, [](const auto& flow) {
    return !flow->owned && flow->queue[0].idle() && flow->queue[1].idle();
  });
  adapter.answer();
  adapter.send_again();
}

// A goodbye may still lie among the answers.
void cwyc_ep::tell_refusals() {
  for (size_t at = 0; at < flows.size(); ++at) {
    Flow* const flow = flows[at].get();
    if (!flow->refused) continue;
    for (int i = 0; i < 64 && !flow->left && adapter.receive(kAnswers, 64) != 0; ++i) {
    }
    if (flow->owned && !flow->left) tell_failure(flow->peer, "its queue pair is gone");
    flow->from = nullptr;
    flow->refused = false;
    end_all(flow, CWY_ERR_PEER_FAILED);
  }
}

// A conduit in front is told in the core's place.
void cwyc_ep::tell_failure(cwy_peer peer, const char* why) const {
  const auto tell = params.peer_state != nullptr ? params.peer_state : services->peer_state;
  tell(params.core_ep, peer, CWY_PEER_FAILED, why);
}

void cwyc_ep::collapse(const char* why) {
  if (failed) return;
  failed = true;
  why_ = "adapter " + domain.device + ": " + why;
  services->device_state(params.core_ep, domain.device.c_str(), CWYC_DEVICE_DOWN, why);
  for (auto& flow : flows) {
    for (SendQueue& queue : flow->queue) queue.drop();
    if (flow->owned) tell_failure(flow->peer, why_.c_str());
  }
  end_all(nullptr, CWY_ERR_DEVICE_FAILED);
  cwy_detail said;
  explain(CWY_ERR_DEVICE_FAILED, said);
  give_up(nullptr, nullptr, CWY_ERR_DEVICE_FAILED, &said);
}

uint32_t cwyc_ep::progress(uint32_t budget, uint32_t lane) {
  if (const char* why = adapter.failure()) return collapse(why), 0;
  push();
  uint32_t count = start_waiting();
  if (adapter.arrived()) {
    count += adapter.receive(kAnswers, budget);
    if (lane == CWYC_PROGRESS_ALL) count += adapter.receive(kRequests, budget);
  }
  if (adapter.answers_wait()) adapter.answer();
  tell_refusals();
  return count + drain();
}

cwy_status cwyc_ep::arm() {
  // Room that progress has made since a post was answered RETRY is told here, and no descriptor
  // tells of a counter that this process or its device writes.
  bool busy = std::exchange(starved, false) || port_down_ || !waiting.empty() ||
              adapter.answers_wait() || adapter.unacknowledged() || !adapter.completions().empty();
  for (const auto& flow : flows)
    busy = busy || flow->refused || !flow->queue[0].idle() || !flow->queue[1].idle();
  if (failed) busy = false;
  return busy || adapter.arrived() ? CWY_RETRY : CWY_OK;
}

// Hands what was accepted to the network, for one second at most, and says goodbye behind it. Where
// packets are lost it waits for what is not acknowledged.
void cwyc_ep::flush() {
  const uint64_t until = services->now() + 1'000'000'000;
  const auto waits = [&] {
    return adapter.answers_wait() || adapter.unacknowledged() ||
           std::any_of(flows.begin(), flows.end(), [](const auto& f) {
             return !f->refused && (!f->queue[0].idle() || !f->queue[1].idle());
           });
  };
  const auto move_on = [&] {
    if (adapter.unacknowledged())
      for (const Lane lane : {kAnswers, kRequests}) adapter.receive(lane, 64);
    push();
  };
  const auto empty = [&] {
    push();
    while (waits() && adapter.failure() == nullptr && services->now() < until) move_on();
  };
  adapter.hear_only();
  empty();
  pairs.push_back(shared);
  for (QueuePair* pair : pairs)
    for (size_t i = 0; pair != nullptr && i < pair->met.size(); ++i)
      while (!adapter.say_goodbye(*pair, pair->met[i]) && services->now() < until) move_on();
  empty();
}
