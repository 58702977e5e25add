// The functions that the parts of the conduit have for each other. All of them are called inside
// the endpoint.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "objects.h"

namespace causeway::failover {

// ---- messages.cpp

// Hands what is kept and not yet posted to the current path. Inside of `progress` replies alone,
// for conduits allow no more there.
void push(Flow& flow);
// A message of this conduit's own. False: not now.
bool send_control(Flow& flow, int path, Kind kind, uint64_t word);
bool send_hello(Flow& flow, int path);
// The acknowledgement of everything that has arrived, if any is owed.
void acknowledge(Flow& flow);
// Ends what the peer says has arrived there.
void take_acknowledgements(Flow& flow, const int32_t* args);
// Nothing that is kept will be sent any more.
void drop_kept(Flow& flow);

// ---- flows.cpp

// The flow to the peer's endpoint, made where there is none; NULL: it is of an older epoch, or
// there is no memory. Those of older epochs are retired.
Flow* flow_to(Endpoint& ep, cwy_peer peer, uint32_t name);
template <class Body>
void for_each_flow(Endpoint& ep, Body&& body) {
  for (const auto& first : ep.flows)
    for (Flow* flow = first.get(); flow != nullptr; flow = flow->next.get()) body(*flow);
}
void want_attention(Flow& flow);
// The next call of progress acknowledges what is owed.
void owe_acknowledgement(Flow& flow);
// From now on time is looked at for this flow.
void watch(Flow& flow);
void describe(Flow& flow, const cwyc_peer_desc& peer);
bool describe(Flow& flow, const void* hello, size_t length);
// The words by which the peer can connect back. Cold.
void make_hello(Flow& flow, int path);
// Paths by which the conduits behind do not lead to the peer are none. Cold.
void choose_paths(Flow& flow);
cwyc_peer_desc seen_by(const Flow& flow, int path);

// ---- paths.cpp

// A connection over the path is asked for. Cold: not inside of an upcall.
void connect_path(Flow& flow, int path);
// The path is of no use any more: what is kept goes over the other one at once; the connection is
// ended where that is allowed. `ours`: it was noticed here, and the peer is to be told.
void break_path(Flow& flow, int path, const char* why, bool ours);
// The peer was heard over the other path: people are told that this one is lost.
void tell_of_loss(Flow& flow, int path);
// Hands all that is kept to the current path once more.
void post_again(Flow& flow);
// Connections to be ended and to be made, and what is due over them. Cold.
void tend_paths(Flow& flow, uint64_t now);
// Ends what there is. Cold.
void close_path(Flow& flow, int path, bool in_order);
// Looks for paths that do not answer while the other one does, and for messages that went down with
// one.
void look_for_silence(Flow& flow, uint64_t now);
// A peer that both paths have lost is told to the core. At any depth.
void tell_loss(Flow& flow, uint64_t now);
void finish_connect(Flow& flow, cwy_status status);
// The path has answered.
void trust(Flow& flow, int path);

// ---- receive.cpp

template <int path>
void deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
             uint32_t nargs, void* payload, size_t length);

// ---- progress.cpp

// Sends what is left, and waits for a while until it is acknowledged.
void drain(Endpoint& ep);

}  // namespace causeway::failover
