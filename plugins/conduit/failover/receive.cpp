// Messages of the conduits behind: each of the core's is delivered once, whichever paths it came
// by.
#include <cstring>

#include "calls.h"

namespace causeway::failover {
namespace {

// False: it has arrived before.
bool is_new(Lane& lane, uint64_t number) {
  if (number < lane.expected || number - lane.expected >= Lane::most_beyond) return false;
  const size_t at = number % Lane::most_beyond;
  if (lane.beyond[at]) return false;
  lane.beyond[at] = true;
  while (lane.beyond[lane.expected % Lane::most_beyond]) {
    lane.beyond[lane.expected % Lane::most_beyond] = false;
    ++lane.expected;
  }
  return true;
}

void take_data(Flow& flow, const First& first, uint64_t number, std::byte* payload, size_t length) {
  Endpoint& ep = *flow.ep;
  // Nobody but a damaged peer sends such.
  if (first.lane >= lanes || first.nargs > CWYC_AM_MAX_ARGS || first.form > CWYC_AM_MEDIUM ||
      length < before_payload(first.nargs))
    return;
  ++flow.owed;
  owe_acknowledgement(flow);
  if (!is_new(flow.lane[first.lane], number)) return ep.duplicates.add(1);
  if (ep.closing) return;  // nobody is served any more
  DataHeader header;
  std::memcpy(&header, payload, sizeof header);
  const auto* const args = reinterpret_cast<const int32_t*>(payload + sizeof header);
  const size_t before = before_payload(first.nargs);
  const bool medium = first.form == CWYC_AM_MEDIUM;
  // The flow may be gone behind this.
  ep.params.deliver(ep.params.core_ep, flow.peer, header.word, first.form, args, first.nargs,
                    medium ? payload + before : nullptr, medium ? length - before : 0);
}

void take_answer(Flow& flow, int path, uint64_t word) {
  Path& its = flow.path[path];
  if (its.on_trial && word == its.trial) trust(flow, path);
  if (word != flow.probe || flow.probed_at == 0) return;
  flow.path[path].answered = true;
  if (flow.first_answer == 0) flow.first_answer = services->now();
}

void take_broken(Flow& flow, uint64_t word) {
  const auto path = static_cast<int>(word >> 32 & 1);
  const auto breaks = static_cast<uint32_t>(word);
  Path& its = flow.path[path];
  if (breaks <= its.breaks) return;  // this side gave it up as well
  its.breaks = breaks;
  break_path(flow, path, "the other side gave it up", false);
}

}  // namespace

template <int path>
void deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t, const int32_t* args,
             uint32_t nargs, void* payload, size_t length) {
  Endpoint& ep = endpoints.by_core_ep(core_ep);
  if (nargs != wire_args) return;
  Flow* const flow = flow_to(ep, from, static_cast<uint32_t>(args[1]));
  if (flow == nullptr || flow->purged) return;
  First first;
  std::memcpy(&first, args, sizeof first);
  flow->heard = path;
  flow->confirmed = true;
  if (flow->path[1 - path].tell_loss) tell_of_loss(*flow, 1 - path);
  take_acknowledgements(*flow, args);
  switch (first.kind) {
    case Kind::data:
      return take_data(*flow, first, word, static_cast<std::byte*>(payload), length);
    case Kind::ack:
      return;
    case Kind::hello:
      if (!flow->described && describe(*flow, payload, length)) want_attention(*flow);
      return;
    case Kind::probe:
      flow->path[path].to_answer = word;
      flow->path[path].answer_due = true;
      return want_attention(*flow);
    case Kind::answer:
      return take_answer(*flow, path, word);
    case Kind::broken:
      return take_broken(*flow, word);
    case Kind::bye:
      flow->left = true;
      drop_kept(*flow);
      finish_connect(*flow, CWY_ERR_PEER_FAILED);
      return want_attention(*flow);
  }
}

template void deliver<0>(void*, cwy_peer, uint64_t, uint32_t, const int32_t*, uint32_t, void*,
                         size_t);
template void deliver<1>(void*, cwy_peer, uint64_t, uint32_t, const int32_t*, uint32_t, void*,
                         size_t);

}  // namespace causeway::failover
