#include "api/gaspi/rejoin.h"

#include <gasnet_ratomic.h>

#include "api/gaspi/deadline.h"
#include "api/gaspi/world.h"
#include "atomics/domain.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "process/runtime.h"
#include "progress/poll.h"
#include "thread/thread_state.h"

namespace causeway::gaspi {
namespace {

constexpr gex_OP_t kOperations = GEX_OP_FADD | GEX_OP_FCAS;

void welcome(World& w, uint32_t rank, bool answer_wanted) {
  // Acquire: the mechanism is settled when the domain is there.
  const AtomicDomain* const domain = w.atomics.load(std::memory_order_acquire);
  post(w, rank, ControlMessage::welcome, {domain != nullptr ? 1u : 0u, answer_wanted ? 1u : 0u},
       domain != nullptr ? domain->adapter_name() : std::string());
}

// Waits for the new process's card, for as long as a start may take.
void fetch_card(World& w, uint32_t rank) {
  try {
    Card card =
        Card::unpack(runtime().bootstrap().card_of(rank, runtime().config().timeouts.start_ns));
    w.work.fetch_add(1, std::memory_order_relaxed);
    {
      const std::lock_guard lock(w.lost_mutex);
      w.arrivals.emplace_back(rank, std::move(card));
    }
    w.tell_news();
  } catch (const Error& e) {
    log_info("the replacement of rank {} did not come: {}", rank, e.text());
  }
}

// Conduits that served nobody before may serve the new process, for instance on another host.
void poll_what_serves(World& w, uint32_t rank) {
  const PeerFacts facts = runtime().job().facts_of(rank, nullptr);
  const Choice choice = choose(runtime().config(), runtime().conduits(), facts);
  for (const auto& cep : w.client->endpoint()->conduit_eps())
    if (choice.uses(cep->conduit)) add_to_poll(*cep);
}

bool waits_for(const World& w, uint32_t rank) {
  return rank != w.rank && !w.is_corrupt(rank) && !w.reached[rank].load(std::memory_order_acquire);
}

// A process that has ended in good order is not announced as lost, and welcomes nobody; connecting
// finds out.
gaspi_return_t everybody_known(World& w) {
  bool waiting = false;
  for (uint32_t r = 0; r < w.size; ++r) {
    if (!waits_for(w, r)) continue;
    waiting = true;
    if (try_connect(w, r) == GASPI_ERROR) lose_rank(r, "it cannot be connected to");
  }
  return waiting ? GASPI_TIMEOUT : GASPI_SUCCESS;
}

// Only new processes are left, and none has been told the mechanism: the first of them decides.
bool decides(const World& w) {
  for (uint32_t r = 0; r < w.rank; ++r)
    if (!w.is_corrupt(r)) return false;
  for (uint32_t r = 0; r < w.size; ++r)
    if (!w.is_corrupt(r) && w.epoch(r) == 1) return false;
  return true;
}

std::string mechanism(World& w) {
  Deadline forever("gaspi_proc_init()", GASPI_BLOCK);
  std::optional<std::string> agreed;
  wait_for(forever, [&] {
    {
      const std::lock_guard lock(w.mechanism_mutex);
      agreed = w.mechanism;
    }
    return agreed || decides(w) ? GASPI_SUCCESS : GASPI_TIMEOUT;
  });
  return agreed ? *agreed : AtomicDomain::own_choice(*w.client->team(), GEX_DT_U64, kOperations, 0);
}

}  // namespace

void replace_rank(uint32_t rank, uint32_t epoch) {
  World* const w = g_receiver.load(std::memory_order_acquire);
  if (w == nullptr || rank >= w->size || rank == w->rank) return;
  if (runtime().job().epoch(rank) >= epoch) {
    // This process started later and has that card; the other one waits for a word.
    if (w->reached[rank].load(std::memory_order_acquire)) return;
    return welcome(*w, rank, true);
  }
  quiet_thread([w, rank] {
    enter_as_internal_thread();
    fetch_card(*w, rank);
  }).detach();
}

void take_in(World& w, uint32_t rank, Card card) {
  // The peer is met before the card changes: later it would be one of the new process already.
  Peer& peer = w.peer(rank);
  if (card.epoch <= w.epoch(rank) || w.ended.load(std::memory_order_relaxed)) return;
  runtime().job().replace_card(rank, std::move(card));
  renew_peer(peer);
  try {
    poll_what_serves(w, rank);
  } catch (const Error& e) {
    log_warn("rank {} has been replaced, but is not reached: {}", rank, e.text());
    return;
  }
  w.leaving[rank].store(false, std::memory_order_relaxed);
  w.reached[rank].store(true, std::memory_order_release);
  w.usable[rank].store(true, std::memory_order_relaxed);
  // Release: who finds it healthy finds the new epoch.
  if (w.state[rank].exchange(GASPI_STATE_HEALTHY, std::memory_order_acq_rel) == GASPI_STATE_CORRUPT)
    w.corrupt.fetch_sub(1, std::memory_order_release);
  log_info("rank {} has a new process (epoch {})", rank, w.epoch(rank));
  welcome(w, rank, true);
  w.tell_news();
}

void begin_as_replacement(World& w) {
  for (uint32_t r = 0; r < w.size; ++r)
    w.reached[r].store(r == w.rank, std::memory_order_relaxed);  // not shared yet
}

void on_welcome(World& w, uint32_t from, const Header& header, const std::string& text) {
  if (header.a != 0) {
    const std::lock_guard lock(w.mechanism_mutex);
    w.mechanism = text;
  }
  w.reached[from].store(true, std::memory_order_release);
  if (header.b != 0) welcome(w, from, false);
}

void join_running_job(World& w) {
  for (uint32_t r = 0; r < w.size; ++r)
    if (!runtime().job().present(r)) lose_rank(r, "it has no process");
  Deadline forever("gaspi_proc_init()", GASPI_BLOCK);
  wait_for(forever, [&] { return everybody_known(w); });
  w.atomics.store(new AtomicDomain(*w.client->team(), GEX_DT_U64, kOperations, 0, mechanism(w)),
                  std::memory_order_release);
  // Other replacements may wait for the mechanism.
  for (uint32_t r = 0; r < w.size; ++r)
    if (r != w.rank && !w.is_corrupt(r) && w.epoch(r) > 1) welcome(w, r, false);
}

}  // namespace causeway::gaspi
