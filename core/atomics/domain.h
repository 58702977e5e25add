// AtomicDomain: one data type, a set of operations, a team, and the one mechanism by which all
// members perform them.
#pragma once

#include <causeway/plugin.h>
#include <gasnet_ratomic.h>

#include <atomic>
#include <string>
#include <vector>

namespace causeway {

class Conduit;
struct Connection;
class Team;

// The flags that gex_AD_Create() takes.
constexpr gex_Flags_t kDomainFlags =
    GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD | GEX_FLAG_AD_FAVOR_REMOTE;

class AtomicDomain {
 public:
  // Collective over `team`: agrees on the mechanism. Throws Error when arguments are wrong or the
  // members disagree; then every member throws.
  AtomicDomain(Team& team, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags);
  // Local: the members have agreed on `adapter` (adapter_name()) before this process was one.
  AtomicDomain(Team& team, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags,
               const std::string& adapter);
  AtomicDomain(const AtomicDomain&) = delete;
  AtomicDomain& operator=(const AtomicDomain&) = delete;

  static AtomicDomain* of(gex_AD_t ad) { return static_cast<AtomicDomain*>(ad->owner); }
  // Nobody writes through a handle: it is not to const only for clients that cast.
  gex_AD_t handle() const { return const_cast<gex_AD_t>(&head_); }

  Team& team() const { return team_; }
  gex_DT_t dt() const { return head_.dt; }
  gex_OP_t ops() const { return head_.ops; }
  gex_Flags_t flags() const { return flags_; }
  // The conduit whose adapter performs every operation of the domain; NULL: processors do, the
  // initiator's where it reaches the memory, else the owner's.
  Conduit* adapter() const { return adapter_; }
  // The conduit's name; empty when there is none.
  std::string adapter_name() const;
  // The mechanism that this process alone would agree on.
  static std::string own_choice(const Team& team, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags);
  // In a domain of an adapter: its connection to a member, made at the first call. CWY_RETRY while
  // the conduit is at it. Throws Error when it cannot be made.
  cwy_status connection_to(gex_Rank_t rank, Connection** out);

  const void* cdata = nullptr;

 private:
  void settle(gex_DT_t dt, gex_OP_t ops, const std::string& adapter);

  cwy_ad_head head_{};
  Team& team_;
  gex_Flags_t flags_;
  Conduit* adapter_ = nullptr;
  // By rank; empty without an adapter. Written by whoever connects first (release; all write the
  // same), read with acquire; the peers own them.
  std::vector<std::atomic<Connection*>> connections_;
};

}  // namespace causeway
