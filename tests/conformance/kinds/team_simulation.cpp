#include "team_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace causeway::conformance {
namespace {

// The last word of a region's token, which names its run.
uint64_t mark(cwyl_seq seq) {
  return 0x7265'6769'0000'0000u ^ seq;
}

// Numbers `of` by their first appearance: indices by rank, how many there are, the largest group.
template <class Key>
std::vector<uint32_t> number(const std::vector<Key>& of, uint32_t* count, uint32_t* most) {
  std::map<Key, uint32_t> found;
  std::vector<uint32_t> index, sizes(of.size());
  for (const Key& key : of) {
    const auto next = static_cast<uint32_t>(found.size());
    index.push_back(found.emplace(key, next).first->second);
    *most = std::max(*most, ++sizes[index.back()]);
  }
  *count = static_cast<uint32_t>(found.size());
  return index;
}

}  // namespace

TeamSimulation& TeamSimulation::of(cwyl_team* team) {
  return *static_cast<TeamSimulation*>(team->simulation);
}

TeamSimulation::TeamSimulation(const TeamSetup& setup, Random& random)
    : members_(setup.size),
      random_(random),
      setup_(setup),
      boards_(random.below(4) != 0) {  // now and then a neighborhood is too large for them
  std::vector<uint32_t> nbrhds;
  std::vector<std::pair<uint32_t, uint32_t>> domains;
  for (uint32_t r = 0; r < setup.size; ++r) {
    nbrhds.push_back(setup.layout == Layout::one ? 0 : setup.layout == Layout::alone ? r : r % 2);
    domains.emplace_back(nbrhds.back(), setup.domains ? r / 2 % 2 : 0);
  }
  nbrhd_of_ = number(nbrhds, &nbrhds_, &nbrhd_most_);
  domain_of_ = number(domains, &domains_, &domain_most_);
  for (uint32_t r = 0; r < setup.size; ++r) describe(r);
  decide_access();
  fill_services();
  fill_transfers();
}

void TeamSimulation::describe(uint32_t r) {
  Member& m = members_[r];
  for (uint32_t other = 0; other < setup_.size; ++other) {
    if (are_neighbors(other, r)) m.nbrhd_ranks.push_back(other);
  }
  for (auto& frame : m.frames) frame.assign(setup_.scratch, 0xcc);
  m.team = {this, r};
  m.info = {};
  m.info.head = CWY_HEAD(cwyl_team_info);
  m.info.size = setup_.size;
  m.info.rank = r;
  m.info.nbrhd_count = nbrhds_;
  m.info.nbrhd_index = nbrhd_of_[r];
  m.info.nbrhd_of = nbrhd_of_.data();
  m.info.nbrhd_size = static_cast<uint32_t>(m.nbrhd_ranks.size());
  m.info.nbrhd_rank = static_cast<uint32_t>(
      std::find(m.nbrhd_ranks.begin(), m.nbrhd_ranks.end(), r) - m.nbrhd_ranks.begin());
  m.info.nbrhd_ranks = m.nbrhd_ranks.data();
  m.info.host_count = nbrhds_;
  m.info.scratch_bytes = setup_.scratch;
  m.info.signals = kSignals;
  m.info.put_max = kPutMax;
  m.info.host_of = nbrhd_of_.data();
  m.info.posts = boards_ ? kPosts : 0;
  m.info.post_max = kPostMax;
  m.info.domain_of = domain_of_.data();
  m.info.domain_count = domains_;
  m.info.domain_most = domain_most_;
  m.info.region_put_max = kRegionPutMax;
}

cwyl_shape TeamSimulation::shape(uint32_t operation, uint64_t bytes, uint64_t element_bytes) const {
  cwyl_shape s{};
  s.head = CWY_HEAD(cwyl_shape);
  s.operation = operation;
  s.flags = setup_.ordered ? uint32_t{CWYL_NEED_ORDER} : 0;
  s.team_size = setup_.size;
  s.nbrhd_count = nbrhds_;
  s.bytes = bytes;
  s.scratch_bytes = setup_.scratch;
  s.element_bytes = element_bytes;
  s.host_count = nbrhds_;
  s.nbrhd_most = nbrhd_most_;
  s.domain_count = domains_;
  s.domain_most = domain_most_;
  return s;
}

void TeamSimulation::decide_access() {
  const Access a = setup_.access;
  const auto decide = [&](bool here) { return a == Access::mixed ? random_.below(4) != 0 : here; };
  const bool buffers = a == Access::all || a == Access::transfers;
  for (uint32_t r = 0; r < setup_.size; ++r) {
    exposes_.push_back(decide(buffers));
    exposes_scratch_.push_back(decide(a != Access::none));
    for (uint32_t whose = 0; whose < setup_.size; ++whose) {
      const bool near = are_neighbors(r, whose);
      maps_.push_back(near && decide(a == Access::all));
      maps_scratch_.push_back(near && decide(a != Access::none));
      transfers_.push_back(decide(buffers));
    }
  }
}

bool TeamSimulation::may_begin(uint32_t rank, cwyl_seq seq) const {
  return seq <= members_[rank].ended + kFrames;
}

bool TeamSimulation::is_own_scratch(uint32_t rank, const void* addr) const {
  return std::any_of(std::begin(members_[rank].frames), std::end(members_[rank].frames),
                     [&](const auto& frame) {
                       const auto at = reinterpret_cast<uintptr_t>(addr);
                       return at - reinterpret_cast<uintptr_t>(frame.data()) < frame.size();
                     });
}

bool TeamSimulation::land(const Flight& f) {
  const bool ended = f.seq <= members_[f.to].ended || run(f.to, f.seq).ended;
  if (f.done != nullptr) {
    if (ended) {
      breach_ = fmt::format("{} bytes are moved to or from memory of rank {}, whose run has ended",
                            f.length, f.to);
      return true;
    }
    std::memcpy(f.region_to, f.region_from != nullptr ? f.region_from : f.data.data(), f.length);
    *f.done = 1;
    if (!f.signals) return true;
  }
  if (ended) {
    breach_ =
        fmt::format("signal {} was raised at rank {} after its run had ended", f.signal, f.to);
    return true;
  }
  if (!may_begin(f.to, f.seq)) return false;
  if (!f.data.empty() && !f.signals) {
    std::memcpy(scratch(f.to, f.seq) + f.offset, f.data.data(), f.data.size());
  }
  ++run(f.to, f.seq).signals[f.signal];
  return true;
}

void TeamSimulation::deliver(bool all) {
  // Those that find no frame stay: every one is tried often enough to have found it if it is there.
  size_t n = all ? flights_.size() * 8 : random_.below(flights_.size() + 1);
  while (n-- != 0 && !flights_.empty()) {
    const size_t which = random_.below(flights_.size());  // no order is promised
    Flight flight = std::move(flights_[which]);
    flights_.erase(flights_.begin() + static_cast<ptrdiff_t>(which));
    if (land(flight)) {
      ++moves_;
    } else {
      flights_.push_back(std::move(flight));
    }
  }
}

void TeamSimulation::ended(uint32_t rank, cwyl_seq seq) {
  Member& m = members_[rank];
  run(rank, seq).ended = true;
  ++moves_;
  // Another run of this member's may write there from now on.
  std::memset(scratch(rank, seq), static_cast<int>(0x40 + seq % 64), setup_.scratch);
  for (auto next = m.runs.find(m.ended + 1); next != m.runs.end() && next->second.ended;
       next = m.runs.find(m.ended + 1)) {
    ++m.ended;
  }
}

void TeamSimulation::combine_all(cwyl_seq seq, const void* left, const void* right, void* out,
                                 uint64_t count) {
  const auto width = widths_.find(seq);
  if (width != widths_.end()) count *= width->second;
  for (uint64_t at = 0; at < count * sizeof(Affine); at += sizeof(Affine)) {
    Affine l, r;
    std::memcpy(&l, static_cast<const uint8_t*>(left) + at, sizeof l);
    std::memcpy(&r, static_cast<const uint8_t*>(right) + at, sizeof r);
    const Affine result = combine(l, r);
    std::memcpy(static_cast<uint8_t*>(out) + at, &result, sizeof result);
  }
}

void TeamSimulation::fill_services() {
  cwyl_team_services& s = services_;
  s.head = CWY_HEAD(cwyl_team_services);
  s.info = [](cwyl_team* t) -> const cwyl_team_info* { return &of(t).members_[t->rank].info; };
  s.put_signal = [](cwyl_team* t, cwyl_seq seq, uint32_t rank, const void* src, uint64_t length,
                    uint64_t offset, uint32_t signal) -> cwy_status {
    TeamSimulation& sim = of(t);
    const uint64_t room = sim.setup_.scratch;
    if (rank >= sim.size() || signal >= kSignals || offset > room || length > room - offset ||
        length > kPutMax) {
      sim.breach_ = fmt::format("put_signal to rank {}, {} bytes at {}, signal {}", rank, length,
                                offset, signal);
      return CWY_ERR_INVALID;
    }
    // To others it is a message, which waits at its receiver.
    if (sim.are_neighbors(rank, t->rank) && !sim.may_begin(rank, seq)) return CWY_RETRY;
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
    return signal < kSignals ? of(t).run(t->rank, seq).signals[signal] : 0;
  };
  s.scratch = [](cwyl_team* t, cwyl_seq seq, uint64_t* length) -> void* {
    *length = of(t).setup_.scratch;
    return of(t).scratch(t->rank, seq);
  };
  s.reduce = [](cwyl_team* t, cwyl_seq seq, const void* left, void* inout, uint64_t count) {
    of(t).combine_all(seq, left, inout, inout, count);
  };
  s.copy = [](cwyl_team*, cwyl_seq, void* dst, const void* src, uint64_t length) {
    if (length != 0) std::memmove(dst, src, length);
  };
  s.reduce_into = [](cwyl_team* t, cwyl_seq seq, const void* left, const void* right, void* out,
                     uint64_t count) { of(t).combine_all(seq, left, right, out, count); };
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
    ++sim.moves_;
    return CWY_OK;
  };
  s.posted = [](cwyl_team* t, cwyl_seq seq, uint32_t rank, uint32_t which, void* dst,
                uint64_t length) -> cwy_status {
    TeamSimulation& sim = of(t);
    if (rank >= sim.size() || !sim.are_neighbors(rank, t->rank) ||
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
    memory.push_back(std::make_unique_for_overwrite<uint8_t[]>(length + 64));
    const auto at = reinterpret_cast<uintptr_t>(memory.back().get());
    return reinterpret_cast<void*>((at + 63) / 64 * 64);
  };
}

cwy_status TeamSimulation::ask(uint32_t from, cwyl_seq seq, uint32_t rank,
                               const cwyl_region& region, uint64_t offset, uint64_t length) {
  const bool good = rank < size() && region.token[3] == mark(seq) && region.token[2] == rank &&
                    offset <= region.token[1] && length <= region.token[1] - offset;
  if (!good) {
    breach_ = fmt::format("region access to rank {} outside of it", rank);
    return CWY_ERR_INVALID;
  }
  if (run(rank, seq).ended) {
    breach_ = fmt::format("rank {} asks for memory of rank {}, whose run has ended", from, rank);
    return CWY_ERR_INVALID;
  }
  return transfers_[pair(from, rank)] ? CWY_OK : CWY_ERR_UNSUPPORTED;
}

void TeamSimulation::fill_transfers() {
  cwyl_team_services& s = services_;
  s.expose = [](cwyl_team* t, cwyl_seq seq, void* addr, uint64_t length,
                cwyl_region* out) -> cwy_status {
    TeamSimulation& sim = of(t);
    const bool own = sim.is_own_scratch(t->rank, addr);
    if (!(own ? sim.exposes_scratch_ : sim.exposes_)[t->rank]) return CWY_ERR_UNSUPPORTED;
    *out = {{reinterpret_cast<uint64_t>(addr), length, t->rank, mark(seq)}};
    return CWY_OK;
  };
  s.direct = [](cwyl_team* t, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                uint64_t offset) -> void* {
    TeamSimulation& sim = of(t);
    if (rank >= sim.size() || region->token[3] != mark(seq) || offset > region->token[1]) {
      return nullptr;
    }
    auto* const at = reinterpret_cast<uint8_t*>(region->token[0]);
    const auto& mapped = sim.is_own_scratch(rank, at) ? sim.maps_scratch_ : sim.maps_;
    if (rank != t->rank && !mapped[sim.pair(t->rank, rank)]) return nullptr;
    if (sim.run(rank, seq).ended) {
      sim.breach_ =
          fmt::format("rank {} asks for memory of rank {}, whose run has ended", t->rank, rank);
    }
    return at + offset;
  };
  // A call without bytes tells whether there could be some, and is complete at once.
  s.put_region = [](cwyl_team* t, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                    uint64_t offset, const void* src, uint64_t length,
                    uint32_t* done) -> cwy_status {
    TeamSimulation& sim = of(t);
    const cwy_status answer = sim.ask(t->rank, seq, rank, *region, offset, length);
    if (answer != CWY_OK) return answer;
    if (length == 0) return *done = 1, CWY_OK;
    if (sim.random_.below(4) == 0) return CWY_RETRY;
    const auto* bytes = static_cast<const uint8_t*>(src);
    Flight flight{};
    flight.to = rank;
    flight.seq = seq;
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
    const cwy_status answer = sim.ask(t->rank, seq, rank, *region, offset, length);
    if (answer != CWY_OK) return answer;
    if (signal >= kSignals || length > kRegionPutMax) {
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
  s.get_region = [](cwyl_team* t, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                    uint64_t offset, void* dst, uint64_t length, uint32_t* done) -> cwy_status {
    TeamSimulation& sim = of(t);
    const cwy_status answer = sim.ask(t->rank, seq, rank, *region, offset, length);
    if (answer != CWY_OK) return answer;
    if (length == 0) return *done = 1, CWY_OK;
    if (sim.random_.below(4) == 0) return CWY_RETRY;
    Flight flight{};
    flight.to = rank;
    flight.seq = seq;
    flight.region_to = static_cast<uint8_t*>(dst);
    flight.region_from = reinterpret_cast<const uint8_t*>(region->token[0]) + offset;
    flight.length = length;
    flight.done = done;
    sim.flights_.push_back(std::move(flight));
    return CWY_OK;
  };
}

}  // namespace causeway::conformance
