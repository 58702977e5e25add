// How a client starts: what all ranks tell each other before it is there.
#include "object/client.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "collective/arena.h"
#include "collective/exchange.h"
#include "config/identity.h"
#include "connection/mapping.h"
#include "connection/neighborhoods.h"
#include "connection/peer_classes.h"
#include "connection/wiring_exchange.h"
#include "object/segment.h"
#include "object/team_ids.h"
#include "process/report.h"
#include "process/runtime.h"
#include "process/team_create.h"
#include "progress/poll.h"

namespace causeway {
namespace {

// Where ranks read different configurations everybody finds that in the cards, and asks for the
// texts, to say where they part. A new process of a dead rank does not ask: nobody would answer.
void demand_one_configuration(const JobFacts& job) {
  const uint64_t own = job.kind(job.rank()).config_id;
  uint32_t r = 0;
  while (r < job.size() && (!job.present(r) || job.kind(r).config_id == own)) ++r;
  if (r == job.size()) return;
  std::string text;
  Bootstrap& bootstrap = runtime().bootstrap();
  const Config& config = runtime().config();
  if (bootstrap.epoch() == 1) text = bootstrap.exchange(config.text, config.timeouts.start_ns)[r];
  refuse_other_configuration(r, text);
}

// The words that a start exchanges are different ones for each interface.
void demand_one_interface(const JobFacts& job) {
  const std::string& own = job.kind(job.rank()).interface;
  for (uint32_t r = 0; r < job.size(); ++r)
    if (const std::string& other = job.kind(r).interface; !other.empty() && other != own)
      throw Error(CWY_ERR_INVALID,
                  "rank {} is a {} program, this rank a {} one; a job has one interface", r, other,
                  own);
}

// One card per rank: where it runs and how its endpoints are addressed.
void trade_cards(Endpoint& ep, ClientKind kind) {
  const bool can_map = find_mapping_conduits(ep.conduit_eps());  // before cards are written
  Card own = Card::of_this_process(&runtime().bootstrap());
  own.segment_max = measure_max_segment();
  own.everything = runtime().everything();
  own.interface = kind == ClientKind::gaspi ? "GASPI" : "GASNet";
  // Memory that the program has by itself cannot be mapped.
  if (!own.everything) own.maps = mapping_words(runtime().config(), ep.conduit_eps());
  own.set_configuration(runtime().config().text);
  for (auto& cep : ep.conduit_eps()) {
    own.addresses.add(cep->conduit->name(), cep->address());
    own.am_limits[cep->conduit->name()] = cep->limits;
  }
  own.addresses.add(kCollectiveCard, collective_card(ep));
  const Config& config = runtime().config();
  JobFacts& job = runtime().job();
  job.set_cards(runtime().bootstrap().exchange(own.pack(), config.timeouts.start_ns), can_map,
                config.neighborhood_ranks);
  demand_one_interface(job);
  demand_one_configuration(job);
}

// After the last exchange of the start, which would carry them to everybody. Whoever contacts a
// rank finds what that has told it; a replacement waits for nobody.
void wire_up(Endpoint& ep) {
  std::vector<cwy_peer> peers;
  for (uint32_t r = 0; r < runtime().size(); ++r)
    if (runtime().job().present(r)) peers.push_back({r, runtime().job().epoch(r)});
  if (publish_wirings(ep.conduit_eps(), peers) && runtime().bootstrap().epoch() == 1)
    runtime().bootstrap().fence(runtime().config().timeouts.start_ns);
}

// What the program's identity promised to its code must hold whatever the configuration says: code
// built for smp reaches into every rank's segment with loads and stores.
void keep_promises() {
  if (identity() == nullptr || !identity()->shared_memory || runtime().size() == 1) return;
  const size_t together = runtime().job().nbrhd().size();
  if (together == runtime().size()) return;
  throw Error(CWY_ERR_UNREACHABLE,
              "this program was built for conduit {}, where all ranks share memory, but only {} of "
              "{} do with this rank; start all on one host, let a conduit with native direct (shm) "
              "serve them, and do not limit neighborhood.ranks or GASNET_SUPERNODE_MAXSIZE",
              identity()->conduit, together, runtime().size());
}

// Once per job, and only where it matters: somebody is reached over a network.
void tell_absence() {
  const Identity* program = identity();
  if (program == nullptr || program->preferred.empty() || runtime().rank() != 0) return;
  bool network = false;
  for (uint32_t r = 0; r < runtime().size(); ++r) {
    const Locality locality = runtime().job().locality(r);
    network |= locality != Locality::self && locality != Locality::nbrhd;
  }
  if (!network) return;
  if (runtime().conduits().find(program->preferred) != nullptr) return;
  const char* quiet = std::getenv("GASNET_QUIET");
  if (quiet != nullptr && std::strchr("yY1", quiet[0]) != nullptr && quiet[0] != '\0') return;
  log_warn(
      "this program was built for conduit {}, but there is no conduit '{}' here; the next "
      "one of its peers: rule serves instead (GASNET_QUIET=1 hides this line)",
      program->conduit, program->preferred);
}

// The ranks tell each other which client they start; the number of its primordial team.
uint32_t agree_on_client(Team& job, uint16_t id, const std::string& name, gex_Flags_t flags) {
  const std::string own = fmt::format("{} {} {} {}", team_ids::next(), id, name, flags);
  const std::vector<std::string> words = causeway::exchange(job, own, "gex_Client_Init()");
  uint32_t highest = 0;
  for (uint32_t r = 0; r < job.size(); ++r) {
    const size_t space = words[r].find(' ');
    if (words[r].substr(space) != own.substr(own.find(' '))) {
      throw Error(CWY_ERR_INVALID,
                  "rank {} started the client '{}', this rank '{}' (number, name, flags); clients "
                  "start in the same order on every rank",
                  r, words[r].substr(space + 1), own.substr(own.find(' ') + 1));
    }
    highest = std::max(highest, static_cast<uint32_t>(std::strtoul(words[r].c_str(), nullptr, 10)));
  }
  const uint32_t only = 0;
  return settle_team_id(job, highest, 1, &only, 1, job.next_creation());
}

}  // namespace

Client::Client(uint16_t id, std::string name, gex_Flags_t flags, ClientKind kind)
    : id_(id), name_(std::move(name)), flags_(flags), kind_(kind) {
  start_phase("endpoints");
  ep_ = std::make_unique<Endpoint>(this, 0, GEX_EP_CAPABILITY_ALL, 0);
  uint32_t team_id = team_ids::kFirst;
  start_phase("cards");
  if (id == 0) {
    runtime().set_base_endpoint(ep_.get());
    trade_cards(*ep_, kind);
    start_phase("peers");
    settle_peers(ep_->conduit_eps());
    runtime().job().set_neighborhoods(find_neighborhoods());
    wire_up(*ep_);
    keep_promises();
    adopt_collective_cards();
    tell_absence();
  } else {
    team_id = agree_on_client(runtime().clients.front()->job_team(), id, name_, flags);
  }
  TeamMembers members;
  members.reserve(runtime().size());
  for (uint32_t r = 0; r < runtime().size(); ++r) members.emplace_back(uint16_t{0}, r);
  team_ = std::make_unique<Team>(this, ep_.get(), std::move(members), runtime().rank(), team_id, 0,
                                 false);
  if (id == 0) add_to_poll(ep_->conduit_eps());
  // Nobody returns before every rank has the endpoint that its peers may address now.
  if (id != 0) causeway::exchange(*team_, "", "gex_Client_Init()");
  start_phase(nullptr);
}

}  // namespace causeway
