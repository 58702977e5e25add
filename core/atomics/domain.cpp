#include "atomics/domain.h"

#include <unistd.h>

#include <algorithm>

#include "atomics/mechanism.h"
#include "atomics/names.h"
#include "base/context.h"
#include "base/error.h"
#include "base/log.h"
#include "collective/exchange.h"
#include "config/config.h"
#include "connection/conduit_set.h"
#include "connection/job.h"
#include "connection/selector.h"
#include "loader/one_line.h"
#include "object/client.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/segment.h"
#include "object/team.h"
#include "progress/poll.h"

namespace causeway {
namespace {

// A team without ranks: operations through it are never direct.
const cwy_team_head kNoWindow{};

void require_definition(const Team& team, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  if (team.is_pair()) throw Error(CWY_ERR_INVALID, "a TM-pair is not a team");
  if (!one_bit_of(dt, kAtomicTypes))
    throw Error(CWY_ERR_INVALID, "data type {} is not one of the built-in GEX_DT_*", dt_word(dt));
  if (ops == 0) throw Error(CWY_ERR_INVALID, "the set of operations is empty");
  if (const gex_OP_t wrong = ops & ~valid_ops(dt))
    throw Error(CWY_ERR_INVALID, "{} is not valid for atomics on {}", op_word(wrong), dt_word(dt));
  if (flags & ~kDomainFlags)
    throw Error(CWY_ERR_INVALID, "unknown flags {:#x}", flags & ~kDomainFlags);
  if (std::popcount(flags) > 1)
    throw Error(CWY_ERR_INVALID, "more than one GEX_FLAG_AD_FAVOR_* was passed: {:#x}", flags);
}

bool is_near(const TeamMember& member) {
  const Locality locality = context().job().locality(member.rank());
  return locality == Locality::self || locality == Locality::nbrhd;
}

// Is one of the two ends bound to device memory? Asking makes no peer.
bool has_device_end(const Team& team, const TeamMember& member) {
  const Segment* const own = team.ep()->segment();
  if (own != nullptr && own->device() != nullptr) return true;
  const auto there = team.client()->publications().published(member.index(), member.rank());
  return there && !there->right(kDeviceEntry).empty();
}

// Why the adapter behind `cep` cannot perform the domain's operations between this member and all
// others; empty when it can.
std::string obstacle_of(const ConduitEp& cep, const Team& team, gex_DT_t dt, gex_OP_t ops) {
  const std::string& name = cep.conduit->name();
  if (!(cep.caps & CWYC_CAP_ATOMIC)) return fmt::format("conduit {} has no atomics", name);
  if (cep.caps & CWYC_CAP_ATOMIC_CPU)
    return fmt::format("the atomics of conduit {} are the processors'", name);
  const uint64_t declared = cep.attr.atomic_ops[std::countr_zero(dt)];
  if ((declared & ops) != ops) {
    return fmt::format("conduit {} does not perform {} on {}", name,
                       op_word(ops & ~static_cast<gex_OP_t>(declared)), dt_word(dt));
  }
  for (const TeamMember& member : team.members()) {
    const uint32_t rank = member.rank();
    if (has_device_end(team, member)) {
      return fmt::format(
          "the endpoint of rank {} is bound to device memory, whose atomics its owner performs",
          rank);
    }
    const PeerFacts facts = context().job().facts_of(rank, cep.conduit);
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    const cwy_status status = cep.conduit->module().reach(cep.conduit->domain(), &facts.desc, &err);
    if (status != CWY_OK) {
      return fmt::format("conduit {} does not reach rank {}: {}", name, rank, reason(err, status));
    }
    // The rules decide for members that are far. A conduit that serves those serves near members
    // along with them.
    if (is_near(member)) continue;
    const Choice choice = choose(context().config(), context().conduits(), facts);
    if (choice.atomic != cep.conduit) {
      return fmt::format("{} gives the atomics of rank {} to conduit {}, not {}",
                         choice.rule->label, rank, choice.atomic->name(), name);
    }
  }
  const Segment* const segment = team.ep()->segment();
  if (segment != nullptr && segment->registration(cep.conduit) == nullptr)
    return fmt::format("conduit {} could not register this segment", name);
  return {};
}

AtomicView view_of(const Team& team, gex_DT_t dt, gex_OP_t ops) {
  AtomicView view;
  view.near = std::ranges::all_of(team.members(), is_near);
  if (context().everything()) {
    view.obstacle = "no adapter has a right to all memory (GASNET_SEGMENT_EVERYTHING)";
    return view;
  }
  for (const auto& cep : team.ep()->conduit_eps()) {
    if (cep->conduit->spec().lane != 0) continue;
    const std::string obstacle = obstacle_of(*cep, team, dt, ops);
    if (obstacle.empty()) {
      view.adapter = cep->conduit->name();
      view.obstacle.clear();
      return view;
    }
    view.obstacle += fmt::format("{}{}", view.obstacle.empty() ? "" : "; ", obstacle);
  }
  return view;
}

// ---- what members tell each other: '!' and why the call is wrong here, or three lines with the
// definition, what is seen, and the obstacle ----

std::string own_word(const Team& team, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  try {
    require_definition(team, dt, ops, flags);
    const AtomicView view = view_of(team, dt, ops);
    return fmt::format("{}, {}, {:#x}\n{}:{}\n{}", dt_word(dt), op_word(ops), flags,
                       view.near ? 1 : 0, view.adapter, view.obstacle);
  } catch (const Error& e) {
    return "!" + e.text();
  }
}

std::string definition_in(const std::string& word) {
  return word.substr(0, word.find('\n'));
}

AtomicView view_in(const std::string& word) {
  const size_t view = word.find('\n') + 1, line = word.find('\n', view);
  return {word[view] == '1', word.substr(view + 2, line - view - 2), word.substr(line + 1)};
}

// Ends a call that failed for all members with one line of one of them: the others give it a moment
// to end the job.
[[noreturn]] void refuse(const Team& team, uint32_t speaker, const std::string& text) {
  constexpr useconds_t kStep = 20000;
  constexpr int kSteps = 100;
  for (int i = 0; i < kSteps && team.rank() != speaker && !exiting(); ++i) ::usleep(kStep);
  throw Error(CWY_ERR_INVALID, "{}", text);
}

std::vector<AtomicView> agreed_views(const Team& team, const std::vector<std::string>& words) {
  std::vector<AtomicView> views;
  for (uint32_t r = 0; r < team.size(); ++r) {
    if (words[r].front() == '!') refuse(team, r, words[r].substr(1));
    if (definition_in(words[r]) != definition_in(words[0])) {
      refuse(team, r,
             fmt::format("members must pass the same data type, operations and flags; this rank "
                         "passed {}, rank 0 of the team {}",
                         definition_in(words[r]), definition_in(words[0])));
    }
    views.push_back(view_in(words[r]));
  }
  return views;
}

std::string agreed_adapter(const Team& team, gex_Flags_t flags,
                           const std::vector<AtomicView>& views) {
  try {
    const std::string& wish = context().config().values.at("atomics.mechanism");
    return choose_mechanism(parse_mechanism(wish), flags, views);
  } catch (const Error& e) {
    refuse(team, 0, e.text());
  }
}

}  // namespace

AtomicDomain::AtomicDomain(Team& team, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags)
    : team_(team), flags_(flags) {
  if (team.is_pair()) require_definition(team, dt, ops, flags);  // nobody to exchange with
  const std::vector<AtomicView> views = agreed_views(
      team, causeway::exchange(team, own_word(team, dt, ops, flags), "gex_AD_Create()"));
  settle(dt, ops, agreed_adapter(team, flags, views));
}

AtomicDomain::AtomicDomain(Team& team, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags,
                           const std::string& adapter)
    : team_(team), flags_(flags) {
  require_definition(team, dt, ops, flags);
  if (!adapter.empty() && context().conduits().find(adapter) == nullptr) {
    throw Error(CWY_ERR_UNREACHABLE,
                "atomics of this job are performed by the adapter of conduit {}, which this "
                "process has not",
                adapter);
  }
  settle(dt, ops, adapter);
}

std::string AtomicDomain::own_choice(const Team& team, gex_DT_t dt, gex_OP_t ops,
                                     gex_Flags_t flags) {
  return agreed_adapter(team, flags, {view_of(team, dt, ops)});
}

std::string AtomicDomain::adapter_name() const {
  return adapter_ != nullptr ? adapter_->name() : std::string();
}

void AtomicDomain::settle(gex_DT_t dt, gex_OP_t ops, const std::string& adapter) {
  if (!adapter.empty()) {
    adapter_ = context().conduits().find(adapter);
    add_to_poll(*team_.ep()->conduit_ep(adapter_));
    connections_ = std::vector<std::atomic<Connection*>>(team_.size());
  }
  log_debug("atomics: a domain of {} member(s) for {} on {} is performed by {}", team_.size(),
            op_word(ops), dt_word(dt),
            adapter_ != nullptr ? "the adapter of conduit " + adapter : "processors");
  head_.window = adapter_ == nullptr ? team_.handle() : const_cast<gex_TM_t>(&kNoWindow);
  head_.dt = dt;
  head_.ops = ops;
  head_.owner = this;
}

cwy_status AtomicDomain::connection_to(gex_Rank_t rank, Connection** out) {
  *out = connections_[rank].load(std::memory_order_acquire);
  if (__builtin_expect(*out != nullptr, 1)) return CWY_OK;
  const cwy_status status = connect_peer_in(team_.member(rank), adapter_, out);
  if (status == CWY_OK) connections_[rank].store(*out, std::memory_order_release);
  return status;
}

}  // namespace causeway
