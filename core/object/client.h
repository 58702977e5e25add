// Client: one instance of the client interface in this process.
#pragma once

#include <gasnetex.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "object/endpoint.h"
#include "object/publication.h"
#include "object/team.h"

namespace causeway {

// The interface whose rules hold for a client. GASNet's: the job ends when a process fails
// (GASNet-1 1.6, 2.1.5). GASPI's: survivors go on (GASPI 17.1, 3.9), and operations complete at
// targets that make no calls, which takes a thread.
enum class ClientKind { gasnet, gaspi };

class Client {
 public:
  // Collective over the job, in the same order on every rank: opens endpoint 0 and the primordial
  // team. `id` counts the clients of the process; every later one is agreed on over the job team
  // of the first. Throws Error. (process/client_start.cpp)
  Client(uint16_t id, std::string name, gex_Flags_t flags, ClientKind kind = ClientKind::gasnet);
  ~Client();

  // Clients of a process: an array of theirs has a constant size, so it is read without a lock.
  static constexpr size_t kMax = 64;

  uint16_t id() const { return id_; }
  const std::string& name() const { return name_; }
  gex_Flags_t flags() const { return flags_; }
  ClientKind kind() const { return kind_; }
  Endpoint* endpoint() const { return ep_.get(); }
  Team* team() const { return team_.get(); }
  // The first client's: all ranks, for the core's own collective calls.
  Team& job_team();

  // gex_EP_Create: the new endpoint has the smallest index not in use. NULL when GASNET_MAXEPS
  // exist. Any thread.
  Endpoint* create_endpoint(gex_EP_Capabilities_t capabilities, gex_Flags_t flags);
  // Runs `fn` for every endpoint of the client, endpoint 0 first.
  template <typename Fn>
  void for_each_endpoint(Fn&& fn);
  // Runs `fn` for what every endpoint of the client holds of (index, rank), where it holds it.
  template <typename Fn>
  void for_each_peer(uint16_t index, uint32_t rank, Fn&& fn);
  // Recomputes and publishes the windows of every endpoint's teams and TM-pairs. Under the mutex of
  // publications().
  void publish_windows();
  // The endpoint has `segment` from now on (NULL: none): this process reaches it at once, others
  // after publication. Throws Error.
  void bind(Endpoint& ep, Segment* segment);
  Publications& publications() { return publications_; }

  const void* cdata = nullptr;

 private:
  uint16_t id_;
  std::string name_;
  gex_Flags_t flags_;
  ClientKind kind_;
  Publications publications_{this};
  std::unique_ptr<Endpoint> ep_;
  std::mutex endpoints_mutex_;
  uint16_t next_index_ = 1;
  std::array<std::unique_ptr<Endpoint>, Endpoint::kMaxEndpoints> created_;  // by index, from 1 on
  std::unique_ptr<Team> team_;
  std::unique_ptr<Team> job_team_;  // made when a second client starts
};

template <typename Fn>
void Client::for_each_endpoint(Fn&& fn) {
  for (uint16_t i = 0; i < Endpoint::kMaxEndpoints; ++i)
    if (Endpoint* ep = find_endpoint(id_, i)) fn(*ep);
}

template <typename Fn>
void Client::for_each_peer(uint16_t index, uint32_t rank, Fn&& fn) {
  for_each_endpoint([&](Endpoint& ep) {
    if (Peer* const peer = ep.met(index, rank)) fn(*peer);
  });
}

inline Client* as(gex_Client_t c) {
  return reinterpret_cast<Client*>(c);
}
inline gex_Client_t as_c(Client* c) {
  return reinterpret_cast<gex_Client_t>(c);
}

}  // namespace causeway
