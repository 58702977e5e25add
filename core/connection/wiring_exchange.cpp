#include "connection/wiring_exchange.h"

#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "bootstrap/bootstrap.h"
#include "config/config.h"
#include "connection/job.h"

namespace causeway {
namespace {

// A server that had no answer is asked again after so long.
constexpr uint64_t kAgain = 20'000'000;

std::string key_of(const ConduitEp& cep, cwy_peer reader) {
  return fmt::format("causeway.wiring.{}.{}.{}", cep.conduit->name(), reader.rank, reader.epoch);
}

}  // namespace

bool publish_wirings(const ConduitEps& eps, const std::vector<cwy_peer>& peers) {
  Bootstrap::Texts texts;
  for (const auto& cep : eps) {
    if (!(cep->caps & CWYC_CAP_WIRING)) continue;
    std::unique_lock<EntryLock> enter(cep->mutex, std::defer_lock);
    if (cep->serial) enter.lock();
    for (const cwy_peer& peer : peers)
      if (peer.rank != context().rank() && cep->conduit->is_lane_of(context().rank() + peer.rank))
        texts.emplace_back(key_of(*cep, peer), cep->wiring(peer));
  }
  if (!texts.empty()) context().bootstrap().tell(texts);
  return !texts.empty();
}

std::optional<std::string> wiring_from(ConduitEp& cep, cwy_peer peer) {
  const JobFacts& job = context().job();
  if (peer.rank == job.rank()) return cep.wiring(peer);
  const uint64_t now = now_ns(), limit = context().config().timeouts.start_ns;
  ConduitEp::AskedWiring& asked = cep.asked_wirings[peer.rank];
  if (asked.epoch != peer.epoch) asked = {peer.epoch, now, now, {}, {}};
  if (asked.text) return asked.text;
  if (!asked.answer.valid()) {
    if (now < asked.next) return std::nullopt;
    asked.answer =
        context().bootstrap().told(peer.rank, key_of(cep, {job.rank(), job.facts().epoch}), limit);
  }
  if (asked.answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return std::nullopt;
  asked.text = asked.answer.get();
  asked.next = now + kAgain;
  if (!asked.text && now - asked.since > limit) {
    cep.asked_wirings.erase(peer.rank);
    throw Error(CWY_ERR_TIMEOUT,
                "rank {} has not told conduit {} its address for rank {} within {:.1f} s",
                peer.rank, cep.conduit->name(), job.rank(), static_cast<double>(limit) * 1e-9);
  }
  return asked.text;
}

}  // namespace causeway
