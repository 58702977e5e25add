// Client: one instance of the client interface in this process.
#pragma once

#include <gasnetex.h>

#include <memory>
#include <string>

#include "object/endpoint.h"
#include "object/team.h"

namespace causeway {

class Client {
 public:
  // Collective over the job: opens endpoint 0 and the primordial team. Throws Error.
  Client(std::string name, gex_Flags_t flags);
  ~Client();

  const std::string& name() const { return name_; }
  gex_Flags_t flags() const { return flags_; }
  Endpoint* endpoint() const { return ep_.get(); }
  Team* team() const { return team_.get(); }

  const void* cdata = nullptr;

 private:
  std::string name_;
  gex_Flags_t flags_;
  std::unique_ptr<Endpoint> ep_;
  std::unique_ptr<Team> team_;
};

inline Client* as(gex_Client_t c) {
  return reinterpret_cast<Client*>(c);
}
inline gex_Client_t as_c(Client* c) {
  return reinterpret_cast<gex_Client_t>(c);
}

}  // namespace causeway
