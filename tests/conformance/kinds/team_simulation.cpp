#include "team_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace causeway::conformance {

TeamSimulation& TeamSimulation::of(cwyl_team* team) {
  return *static_cast<TeamSimulation*>(team->simulation);
}

TeamSimulation::TeamSimulation(uint32_t size, Layout layout, bool domains, bool ordered,
                               Random& random)
    : members_(size), nbrhd_of_(size), random_(random), ordered_(ordered) {
  for (uint32_t r = 0; r < size; ++r) {
    nbrhd_of_[r] = layout == Layout::one ? 0 : layout == Layout::alternating ? r % 2 : r;
  }
  const uint32_t count = *std::max_element(nbrhd_of_.begin(), nbrhd_of_.end()) + 1;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> found;
  std::vector<uint32_t> sizes(size);
  uint32_t largest = 0;
  for (uint32_t r = 0; r < size; ++r) {
    const auto next = static_cast<uint32_t>(found.size());
    const std::pair domain{nbrhd_of_[r], domains ? r / 2 % 2 : 0};
    domain_of_.push_back(found.emplace(domain, next).first->second);
    largest = std::max(largest, ++sizes[domain_of_.back()]);
  }
  const bool boards = random.below(4) != 0;  // now and then a neighborhood is too large for them
  for (uint32_t r = 0; r < size; ++r) {
    Member& m = members_[r];
    for (uint32_t other = 0; other < size; ++other) {
      if (nbrhd_of_[other] == nbrhd_of_[r]) m.nbrhd_ranks.push_back(other);
    }
    m.team = {this, r};
    m.info = {};
    m.info.head = CWY_HEAD(cwyl_team_info);
    m.info.size = size;
    m.info.rank = r;
    m.info.nbrhd_count = count;
    m.info.nbrhd_index = nbrhd_of_[r];
    m.info.nbrhd_of = nbrhd_of_.data();
    m.info.nbrhd_size = static_cast<uint32_t>(m.nbrhd_ranks.size());
    m.info.nbrhd_rank = static_cast<uint32_t>(
        std::find(m.nbrhd_ranks.begin(), m.nbrhd_ranks.end(), r) - m.nbrhd_ranks.begin());
    m.info.nbrhd_ranks = m.nbrhd_ranks.data();
    m.info.host_count = count;
    m.info.memkind_classes = 1u << CWY_MEM_HOST;
    m.info.scratch_bytes = 4 * kScratch;
    m.info.signals = 64;
    m.info.put_max = kPutMax;
    m.info.host_of = nbrhd_of_.data();
    m.info.posts = boards ? kPosts : 0;
    m.info.post_max = kPostMax;
    m.info.domain_of = domain_of_.data();
    m.info.domain_count = static_cast<uint32_t>(found.size());
    m.info.domain_most = largest;
    m.info.region_put_max = kRegionPutMax;
  }
  const uint64_t kind = random.below(4);
  const auto possible = [&] { return kind < 2 || (kind == 2 && random.below(4) != 0); };
  for (uint32_t r = 0; r < size; ++r) exposes_.push_back(possible());
  for (uint32_t r = 0; r < size * size; ++r) reaches_.push_back(possible());
  fill_services();
}

TeamSimulation::Run& TeamSimulation::run(uint32_t rank, cwyl_seq seq) {
  Run& r = members_[rank].runs[seq];
  if (r.scratch.empty()) {
    r.scratch.assign(kScratch, 0xcc);
    r.signals.assign(64, 0);
  }
  return r;
}

void TeamSimulation::land(const Flight& f) {
  if (f.done != nullptr) {
    if (f.length != 0) {
      if (f.region_from != nullptr) {
        std::memcpy(f.region_to, f.region_from, f.length);
      } else {
        std::memcpy(f.region_to, f.data.data(), f.length);
      }
    }
    *f.done = 1;
    if (!f.signals) return;
  }
  Run& r = run(f.to, f.seq);
  if (r.ended) {
    breach_ =
        fmt::format("signal {} was raised at rank {} after its run had ended", f.signal, f.to);
    return;
  }
  if (!f.data.empty() && !f.signals)
    std::memcpy(r.scratch.data() + f.offset, f.data.data(), f.data.size());
  ++r.signals[f.signal];
}

void TeamSimulation::deliver(bool all) {
  size_t n = all ? flights_.size() : random_.below(flights_.size() + 1);
  while (n-- != 0 && !flights_.empty()) {
    const size_t which = random_.below(flights_.size());  // no order is promised
    const Flight flight = std::move(flights_[which]);
    flights_.erase(flights_.begin() + static_cast<ptrdiff_t>(which));
    land(flight);
  }
}

void TeamSimulation::ended(uint32_t rank, cwyl_seq seq) {
  run(rank, seq).ended = true;
}

void TeamSimulation::fill_services() {
  cwyl_team_services& s = services_;
  s.head = CWY_HEAD(cwyl_team_services);
  s.info = [](cwyl_team* t) -> const cwyl_team_info* { return &of(t).members_[t->rank].info; };
  s.put_signal = [](cwyl_team* t, cwyl_seq seq, uint32_t rank, const void* src, uint64_t length,
                    uint64_t offset, uint32_t signal) -> cwy_status {
    TeamSimulation& sim = of(t);
    if (rank >= sim.members_.size() || signal >= 64 || offset > kScratch ||
        length > kScratch - offset || length > kPutMax) {
      sim.breach_ = fmt::format("put_signal to rank {}, {} bytes at {}, signal {}", rank, length,
                                offset, signal);
      return CWY_ERR_INVALID;
    }
    if (sim.random_.below(4) == 0) return CWY_RETRY;
    const auto* bytes = static_cast<const uint8_t*>(src);
    Flight flight;
    flight.to = rank;
    flight.seq = seq;
    if (length != 0) flight.data.assign(bytes, bytes + length);
    flight.offset = offset;
    flight.signal = signal;
    sim.flights_.push_back(std::move(flight));
    return CWY_OK;
  };
  s.signal = [](cwyl_team* t, cwyl_seq seq, uint32_t signal) -> uint64_t {
    return signal < 64 ? of(t).run(t->rank, seq).signals[signal] : 0;
  };
  s.scratch = [](cwyl_team* t, cwyl_seq seq, uint64_t* length) -> void* {
    *length = kScratch;
    return of(t).run(t->rank, seq).scratch.data();
  };
  s.expose = [](cwyl_team* t, cwyl_seq, void* addr, uint64_t length,
                cwyl_region* out) -> cwy_status {
    if (!of(t).exposes_[t->rank]) return CWY_ERR_UNSUPPORTED;
    *out = {{reinterpret_cast<uint64_t>(addr), length, t->rank, 0x7265676eu}};
    return CWY_OK;
  };
  s.direct = [](cwyl_team* t, cwyl_seq, uint32_t rank, const cwyl_region* region,
                uint64_t offset) -> void* {
    TeamSimulation& sim = of(t);
    if (rank >= sim.nbrhd_of_.size() || sim.nbrhd_of_[rank] != sim.nbrhd_of_[t->rank]) {
      return nullptr;
    }
    if (region->token[3] != 0x7265676eu) return nullptr;
    if (rank != t->rank && !sim.reaches_[t->rank * sim.members_.size() + rank]) return nullptr;
    return reinterpret_cast<uint8_t*>(region->token[0]) + offset;
  };
  static const auto checked = [](TeamSimulation& sim, uint32_t rank, const cwyl_region* r,
                                 uint64_t offset, uint64_t length) {
    const bool good = r->token[3] == 0x7265676eu && r->token[2] == rank && offset <= r->token[1] &&
                      length <= r->token[1] - offset;
    if (!good) sim.breach_ = fmt::format("region access to rank {} outside of it", rank);
    return good;
  };
  s.put_region = [](cwyl_team* t, cwyl_seq, uint32_t rank, const cwyl_region* region,
                    uint64_t offset, const void* src, uint64_t length,
                    uint32_t* done) -> cwy_status {
    TeamSimulation& sim = of(t);
    if (!checked(sim, rank, region, offset, length)) return CWY_ERR_INVALID;
    if (sim.random_.below(4) == 0) return CWY_RETRY;
    const auto* bytes = static_cast<const uint8_t*>(src);
    Flight flight{};
    flight.data.assign(bytes, bytes + length);
    flight.region_to = reinterpret_cast<uint8_t*>(region->token[0]) + offset;
    flight.length = length;
    flight.done = done;
    sim.flights_.push_back(std::move(flight));
    return CWY_OK;
  };
  // The source is read when it lands: who changes it before it is free puts what it changed to.
  s.put_region_signal = [](cwyl_team* t, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                           uint64_t offset, const void* src, uint64_t length, uint32_t signal,
                           uint32_t* done) -> cwy_status {
    TeamSimulation& sim = of(t);
    if (!checked(sim, rank, region, offset, length)) return CWY_ERR_INVALID;
    if (signal >= 64 || length > kRegionPutMax) {
      sim.breach_ =
          fmt::format("put_region_signal to rank {}, {} bytes, signal {}", rank, length, signal);
      return CWY_ERR_INVALID;
    }
    if (sim.random_.below(4) == 0) return CWY_RETRY;
    Flight flight{};
    flight.to = rank;
    flight.seq = seq;
    flight.signal = signal;
    flight.signals = true;
    flight.region_to = reinterpret_cast<uint8_t*>(region->token[0]) + offset;
    flight.region_from = static_cast<const uint8_t*>(src);
    flight.length = length;
    flight.done = done;
    sim.flights_.push_back(std::move(flight));
    return CWY_OK;
  };
  s.get_region = [](cwyl_team* t, cwyl_seq, uint32_t rank, const cwyl_region* region,
                    uint64_t offset, void* dst, uint64_t length, uint32_t* done) -> cwy_status {
    TeamSimulation& sim = of(t);
    if (!checked(sim, rank, region, offset, length)) return CWY_ERR_INVALID;
    if (sim.random_.below(4) == 0) return CWY_RETRY;
    Flight flight{};
    flight.region_to = static_cast<uint8_t*>(dst);
    flight.region_from = reinterpret_cast<const uint8_t*>(region->token[0]) + offset;
    flight.length = length;
    flight.done = done;
    sim.flights_.push_back(std::move(flight));
    return CWY_OK;
  };
  s.reduce = [](cwyl_team* t, cwyl_seq, const void* left, void* inout, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      Affine l, r;
      std::memcpy(&l, static_cast<const uint8_t*>(left) + i * sizeof l, sizeof l);
      std::memcpy(&r, static_cast<uint8_t*>(inout) + i * sizeof r, sizeof r);
      const Affine result = of(t).combine(l, r);
      std::memcpy(static_cast<uint8_t*>(inout) + i * sizeof r, &result, sizeof result);
    }
  };
  s.copy = [](cwyl_team*, cwyl_seq, void* dst, const void* src, uint64_t length) {
    if (length != 0) std::memmove(dst, src, length);
  };
  s.reduce_into = [](cwyl_team* t, cwyl_seq, const void* left, const void* right, void* out,
                     uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      Affine l, r;
      std::memcpy(&l, static_cast<const uint8_t*>(left) + i * sizeof l, sizeof l);
      std::memcpy(&r, static_cast<const uint8_t*>(right) + i * sizeof r, sizeof r);
      const Affine result = of(t).combine(l, r);
      std::memcpy(static_cast<uint8_t*>(out) + i * sizeof r, &result, sizeof result);
    }
  };
  s.post = [](cwyl_team* t, cwyl_seq seq, uint32_t which, const void* src,
              uint64_t length) -> cwy_status {
    TeamSimulation& sim = of(t);
    const uint32_t posts = sim.members_[t->rank].info.posts;
    Run& r = sim.run(t->rank, seq);
    if (which >= posts || length > kPostMax || r.posted[which]) {
      sim.breach_ =
          fmt::format("post {} of {} bytes by rank {}, or the second time", which, length, t->rank);
      return CWY_ERR_INVALID;
    }
    if (sim.random_.below(4) == 0) return CWY_RETRY;
    const auto* bytes = static_cast<const uint8_t*>(src);
    if (length != 0) r.posts[which].assign(bytes, bytes + length);
    r.posted[which] = true;
    return CWY_OK;
  };
  s.posted = [](cwyl_team* t, cwyl_seq seq, uint32_t rank, uint32_t which, void* dst,
                uint64_t length) -> cwy_status {
    TeamSimulation& sim = of(t);
    if (rank >= sim.members_.size() || sim.nbrhd_of_[rank] != sim.nbrhd_of_[t->rank] ||
        which >= sim.members_[t->rank].info.posts) {
      sim.breach_ = fmt::format("rank {} looks for post {} of rank {}, which is no neighbor's",
                                t->rank, which, rank);
      return CWY_ERR_INVALID;
    }
    const Run& r = sim.run(rank, seq);
    if (!r.posted[which] || sim.random_.below(4) == 0) return CWY_INPROGRESS;  // not seen yet
    if (length > r.posts[which].size()) {
      sim.breach_ = fmt::format("rank {} takes {} bytes of a post of {}", t->rank, length,
                                r.posts[which].size());
      return CWY_ERR_INVALID;
    }
    if (length != 0) std::memcpy(dst, r.posts[which].data(), length);
    return CWY_OK;
  };
  s.memory = [](cwyl_team* t, cwyl_seq seq, uint64_t length) -> void* {
    auto& memory = of(t).run(t->rank, seq).memory;
    memory.push_back(std::make_unique<uint8_t[]>(length + 64));
    const auto at = reinterpret_cast<uintptr_t>(memory.back().get());
    return reinterpret_cast<void*>((at + 63) / 64 * 64);
  };
}

}  // namespace causeway::conformance
