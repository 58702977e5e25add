#include "session.h"

#include <fmt/format.h>

#include <exception>

#include "base/error.h"
#include "expect.h"

namespace causeway::conformance {
namespace {

Card open_side(Side& side, const SideOptions& options) {
  side.open(options);
  return side.card;
}

struct Meeting {
  Card card;
  uint32_t connect;
};
Nothing meet_peer(Side& side, const Meeting& meeting) {
  side.meet(meeting.card, false, meeting.connect != 0);
  return {};
}

struct Findings {
  char text[2000];
};
Findings close_side(Side& side, const Nothing&) {
  if (side.conn) {
    if (const size_t left = side.conn->ops_pool().unfinished(); left != 0) {
      PluginHost::violation(fmt::format("the partner's side: never completed: {}",
                                        side.conn->ops_pool().describe_unfinished()));
    }
  }
  side.close();
  Findings findings{};
  fmt::format_to_n(findings.text, sizeof findings.text - 1, "{}", PluginHost::take_violations());
  return findings;
}

// Fills mode: can this domain reach a process of this host, or only its own?
void find_mode(Domain& domain, const Card& own) {
  World& w = world();
  Card other = own;
  other.peer = {1, 1};
  const cwyc_peer_desc remote = describe(other, false, false);
  const cwyc_peer_desc self = describe(own, true, false);
  ErrorText why_remote, why_self;
  const cwy_status to_other = domain.module().reach(domain.get(), &remote, why_remote);
  if (to_other == CWY_OK) {
    w.mode = Mode::two_processes;
    return;
  }
  const cwy_status to_self = domain.module().reach(domain.get(), &self, why_self);
  if (to_self == CWY_OK) {
    w.mode = Mode::loopback;
    return;
  }
  w.mode = Mode::nothing;
  // A conduit that announces nothing keeps its word by doing nothing (`null`).
  w.unsupported =
      w.attr.caps == 0 || (to_other == CWY_ERR_UNSUPPORTED && to_self == CWY_ERR_UNSUPPORTED);
  w.why_nothing =
      fmt::format("{} for a process of this host ({}), {} for its own process ({})",
                  status_name(to_other), why_remote.text(), status_name(to_self), why_self.text());
}

}  // namespace

World& world() {
  static World instance;
  return instance;
}

std::string limit_too_small() {
  constexpr uint64_t least = 512;
  const World& w = world();
  if (w.unsupported || w.attr.head.struct_size == 0) return "";
  if (w.ops.am_medium != nullptr && w.attr.am_medium_max < least) return "am_medium_max";
  if (w.ops.am_long != nullptr && w.attr.am_long_max < least) return "am_long_max";
  return "";
}

void probe(const Settings& settings) {
  World& w = world();
  w.settings = settings;
  const ConduitPlugin& plugin = PluginHost::load_conduit(settings);
  if (!plugin.ops.empty()) w.ops = plugin.ops[0];
  Domain domain(plugin, PluginHost::options(), settings.device);
  if (domain.open_status() != CWY_OK) {
    // UNREACHABLE is the answer of a conduit whose device this machine lacks.
    w.unsupported =
        domain.open_status() == CWY_ERR_UNSUPPORTED || domain.open_status() == CWY_ERR_UNREACHABLE;
    w.why_nothing = fmt::format("domain_open answers {} ({})", status_name(domain.open_status()),
                                domain.open_error());
    return;
  }
  try {
    Card card;
    card.peer = {0, 1};
    {
      Endpoint ep(domain, 0);
      w.attr = ep.attr();
      w.ops = ep.usable_ops();
      ep.address(card, card.peer);
    }
    find_mode(domain, card);
  } catch (const Error& e) {
    w.mode = Mode::nothing;
    w.unsupported = e.status() == CWY_ERR_UNSUPPORTED && w.attr.caps == 0;
    w.why_nothing = e.text();
  }
}

void Side::open(const SideOptions& options) {
  const ConduitPlugin& plugin = PluginHost::load_conduit(settings);
  const bool first = PluginHost::job().rank == 0;
  const cwy_options* how = options.lossy != 0              ? lossy_options()
                           : options.failing != 0 && first ? failing_options()
                                                           : PluginHost::options();
  domain = std::make_unique<Domain>(plugin, how, settings.device);
  ep = std::make_unique<Endpoint>(*domain, 0, options.multithreaded, options.tells != 0);
  const bool to_partner = first && world().mode == Mode::two_processes;
  ep->address(card, to_partner ? cwy_peer{1, world().next_epoch} : cwy_peer{0, 1});
  const uint64_t can_have = CWYC_CAP_MEM_ALLOC | CWYC_CAP_MEM_REG;
  if (options.memory != 0 && ep->can(can_have)) {
    memory = Memory::best(*domain, ep->attr().caps, options.memory);
    memory->pack(card);
  }
}

void Side::meet(const Card& peer_card, bool same_process_in, bool connect) {
  peer = peer_card;
  same_process = same_process_in;
  if (connect) conn = std::make_unique<Connection>(*ep, peer, same_process);
  if (peer.rkey_len != 0) remote = std::make_unique<RemoteMemory>(*ep, peer, same_process);
}

Card Side::card_for(uint32_t epoch) const {
  Card theirs = card;
  ep->wire(theirs, {1, epoch});
  return theirs;
}

void Side::close() {
  remote.reset();
  conn.reset();
  if (memory) memory.reset();
  ep.reset();
  domain.reset();
}

Session::Session(const SideOptions& options)
    : random(world().settings.seed), side_(world().settings) {
  for (auto& slot : blackboard().slot) slot.store(0);
  side_.open(options);
  if (world().mode == Mode::loopback) {
    side_.meet(side_.card, true, options.connect != 0);
    return;
  }
  partner_ = std::make_unique<Partner>(world().next_epoch++);
  const Card theirs = call(open_side, options);
  const Meeting meeting{side_.card, options.connect};
  start(meet_peer, meeting);
  side_.meet(theirs, false, options.connect != 0);
  finish<Nothing>();
}

Session::~Session() {
  // A case that failed half-way leaves a partner in an unknown state: do not talk to it.
  if (partner_ && std::uncaught_exceptions() != 0) {
    partner_->kill();
    return;
  }
  try {
    if (side_.conn) {
      if (const size_t left = pool().unfinished(); left != 0 && !has_failure()) {
        ADD_FAILURE() << "never completed: " << pool().describe_unfinished();
      }
    }
    if (partner_ && partner_->alive()) {
      const Findings findings = call(close_side, Nothing{});
      partner_->closed();
      if (findings.text[0] != 0) ADD_FAILURE() << "seen in the partner: " << findings.text;
    }
  } catch (const std::exception& e) {
    ADD_FAILURE() << "while closing: " << e.what();
  } catch (const Skip&) {
  }
}

Partner& Session::partner() {
  if (!partner_) throw Skip{"a peer in another process"};
  return *partner_;
}

}  // namespace causeway::conformance
