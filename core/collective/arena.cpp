#include "collective/arena.h"

#include <fmt/core.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <vector>

#include "base/context.h"
#include "base/error.h"
#include "base/lazy_table.h"
#include "base/log.h"
#include "base/membarrier.h"
#include "collective/domain.h"
#include "collective/frames.h"
#include "collective/table.h"
#include "config/config.h"
#include "connection/job.h"
#include "loader/plugin_call.h"
#include "object/endpoint.h"

namespace causeway {
namespace {

// Room for the frames of so many teams; those beyond use messages. Pages nobody touches cost
// nothing.
constexpr size_t kTeams = 32;

struct Neighbor {
  std::string right;
  uint64_t address = 0;  // of the arena, in its owner's process
  // Set once, by whoever holds the mutex: release; readers acquire.
  std::atomic<char*> base{nullptr};
  cwyc_rkey* rkey = nullptr;  // keeps `base` mapped; never closed, as the arena is not released
  std::atomic<bool> tried{false};
  // 0: not tried, 1: the kernel copies, 2: it does not. Relaxed: every try finds the same.
  std::atomic<uint32_t> cross{0};
};

struct State {
  Conduit* conduit = nullptr;
  cwyc_mem* mem = nullptr;  // the arena; never released, as said below
  char* base = nullptr;
  size_t bytes = 0;
  std::unique_ptr<LazyTable<Neighbor>> neighbors;  // by job rank; those of which anything is wanted
  std::vector<bool> gave_right;                    // by job rank: it can be a neighbor
  std::vector<bool> has_arena;                     // by job rank
  std::vector<uint32_t> domains;                   // by job rank
  bool fences_others = false;    // this process can (membarrier), and has said so in its card
  bool naps_are_fenced = false;  // all that share an arena with it can. Set before the first team
  std::mutex mutex;              // guards `holes` and the first mapping
  std::map<uint64_t, uint64_t> holes;  // free stretches: offset -> bytes
};

// Lives until the process ends: neighbors may still store into the arena while this one leaves.
State& state() {
  static State* const instance = new State;
  return *instance;
}

// The conduit that maps the arena. A SERIAL one is not taken: collectives map as they go, and would
// have to wait for the thread inside the conduit.
ConduitEp* mapping_conduit(Endpoint& ep) {
  if (context().config().direct_map != DirectMap::automatic) return nullptr;
  for (auto& cep : ep.conduit_eps()) {
    const bool maps = cep->maps_neighbors && (cep->caps & CWYC_CAP_DIRECT) != 0 &&
                      cep->conduit->module().ops[0]->concurrency == CWYC_MULTI;
    if (maps && (cep->attr.caps & CWYC_CAP_MEM_ALLOC) != 0) return cep.get();
  }
  return nullptr;
}

// The right to the arena, as the conduit packs it; empty when there is no arena.
std::string make_arena(ConduitEp& cep) {
  State& s = state();
  const auto page = static_cast<size_t>(::getpagesize());
  const size_t bytes = page + kTeams * block_bytes(context().config().collective_scratch);
  if (const uint64_t room = cep.attr.mem_room; room != 0 && bytes > room / 2) {
    log_info("collectives use messages: conduit {} has {} bytes for each rank of this host, not {}",
             cep.conduit->name(), room, 2 * bytes);
    return {};
  }
  const cwyc_module& module = cep.conduit->module();
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  void* base = nullptr;
  cwyc_mem* mem = nullptr;
  const PluginName whose{"conduit", cep.conduit->name()};
  const auto allocate = [&] {
    return module.mem_alloc(cep.conduit->domain(), bytes, &base, &mem, &err);
  };
  if (plugin_object(whose, "mem_alloc", mem, err, allocate, Lasting::is_told) != CWY_OK) {
    log_info("collectives use messages: conduit {} has no {} bytes: {}", cep.conduit->name(), bytes,
             text_of(err));
    return {};
  }
  std::optional<std::string> right;
  try {
    right = cep.packed_right(mem);
  } catch (const Error&) {  // collectives use messages
  }
  if (!right) {
    module.mem_release(cep.conduit->domain(), mem);
    return {};
  }
  auto* const head = new (base) ArenaHead{};
  std::random_device random;
  head->token = uint64_t{random()} << 32 | random();
  s.conduit = cep.conduit;
  s.mem = mem;
  s.base = static_cast<char*>(base);
  s.bytes = bytes;
  s.holes[page] = bytes - page;
  return *right;
}

// "digest address fences domain right": the right is binary and comes last.
struct Parsed {
  std::string digest;
  uint64_t address = 0;
  bool fences = false;
  uint32_t domain = kNoDomain;
  std::string right;
};
Parsed parse(const std::string& text) {
  Parsed out;
  const size_t space = std::min(text.find(' '), text.size());
  out.digest = text.substr(0, space);
  char* at = const_cast<char*>(text.c_str()) + space;
  out.address = std::strtoull(at, &at, 10);
  out.fences = std::strtoul(at, &at, 10) != 0;
  out.domain = static_cast<uint32_t>(std::strtoul(at, &at, 10));
  if (*at != ' ') throw Error(CWY_ERR_INVALID, "a rank's word on its collectives is garbled");
  out.right = text.substr(static_cast<size_t>(at + 1 - text.c_str()));
  return out;
}

// NULL: the rank gave no right to its arena.
Neighbor* neighbor_of(uint32_t rank) {
  if (!state().gave_right[rank]) return nullptr;
  return &state().neighbors->at(rank, [rank] {
    Parsed card = parse(context().job().address(rank, kCollectiveCard).value());
    auto out = std::make_unique<Neighbor>();
    out->right = std::move(card.right);
    out->address = card.address;
    return out;
  });
}

}  // namespace

std::string collective_card(Endpoint& ep) {
  State& s = state();
  std::string right;
  ConduitEp* cep = s.base == nullptr ? mapping_conduit(ep) : nullptr;
  if (cep != nullptr && context().job().facts().local_count > 1) right = make_arena(*cep);
  // Who asks for such barriers must be among those who answer them.
  if (!right.empty()) s.fences_others = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
  return fmt::format("{} {} {} {} ", table_digest(), reinterpret_cast<uint64_t>(s.base),
                     s.fences_others ? 1 : 0, own_domain()) +
         right;
}

void adopt_collective_cards() {
  JobFacts& job = context().job();
  State& s = state();
  if (!s.domains.empty()) return;  // a later client of this process
  const std::string& own = table_digest();
  std::string others;
  s.neighbors = std::make_unique<LazyTable<Neighbor>>(job.size());
  s.gave_right.resize(job.size());
  s.has_arena.resize(job.size());
  s.domains.resize(job.size(), kNoDomain);
  s.naps_are_fenced = s.fences_others;
  for (uint32_t r = 0; r < job.size(); ++r) {
    if (!job.present(r)) continue;
    const auto found = job.address(r, kCollectiveCard);
    if (!found) throw Error(CWY_ERR_INVALID, "rank {} runs another version of this library", r);
    Parsed card = parse(*found);
    if (card.digest != own) others += fmt::format("{}{}", others.empty() ? "" : ", ", r);
    s.has_arena[r] = !card.right.empty();
    s.domains[r] = card.domain;
    if (s.base == nullptr || card.right.empty() || r == job.rank()) continue;
    if (job.locality(r) != Locality::nbrhd) continue;
    s.naps_are_fenced &= card.fences;
    s.gave_right[r] = true;
  }
  if (!others.empty()) {
    throw Error(CWY_ERR_INVALID,
                "rank(s) {} would choose other collective algorithms than rank {}: give every rank "
                "the same collective plugins in the same versions (`causeway explain "
                "--collectives` on both hosts shows the difference)",
                others, job.rank());
  }
}

uint64_t arena_allocate(size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (auto hole = s.holes.begin(); hole != s.holes.end(); ++hole) {
    if (hole->second < bytes) continue;
    const uint64_t offset = hole->first, left = hole->second - bytes;
    s.holes.erase(hole);
    if (left != 0) s.holes[offset + bytes] = left;
    return offset;
  }
  return kNoOffset;
}

void arena_release(uint64_t offset, size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto at = s.holes.emplace(offset, bytes).first;
  if (const auto next = std::next(at);
      next != s.holes.end() && at->first + at->second == next->first) {
    at->second += next->second;
    s.holes.erase(next);
  }
  if (at == s.holes.begin()) return;
  const auto before = std::prev(at);
  if (before->first + before->second == at->first) {
    before->second += at->second;
    s.holes.erase(at);
  }
}

char* own_arena() {
  return state().base;
}
size_t arena_bytes() {
  return state().bytes;
}

bool cross_memory_wanted() {
  State& s = state();
  if (s.base == nullptr) return false;
  const auto& options = s.conduit->spec().options;
  const auto found = options.find("cma");
  return found == options.end() || found->second != "never";
}

uint32_t cross_memory_pid(Peer& peer) {
  if (peer.rank == context().rank() || !cross_memory_wanted()) return 0;
  Neighbor* const neighbor = neighbor_of(peer.rank);
  if (neighbor == nullptr) return 0;
  const uint32_t pid = context().job().pid_here(peer.rank);
  uint32_t known = neighbor->cross.load(std::memory_order_relaxed);
  if (known == 0) {
    // Its own number for itself need not be ours (PID namespaces), and who may attach to whom is a
    // matter of the host: what lies where its arena should be decides.
    char* const arena = mapped_arena(peer);
    uint64_t token = 0;
    const iovec here{&token, sizeof token};
    const iovec there{
        reinterpret_cast<void*>(neighbor->address + offsetof(ArenaHead, token)),  // NOLINT
        sizeof token};
    const bool works =
        arena != nullptr &&
        ::process_vm_readv(static_cast<pid_t>(pid), &here, 1, &there, 1, 0) == sizeof token &&
        token == arena_head(arena).token;
    if (!works) {
      log_info(
          "collectives copy buffers outside of segments twice: the kernel does not let this "
          "process reach the memory of rank {}",
          peer.rank);
    }
    known = works ? 1 : 2;
    neighbor->cross.store(known, std::memory_order_relaxed);
  }
  return known == 1 ? pid : 0;
}

bool naps_are_fenced() {
  return state().naps_are_fenced;
}
// Should the kernel refuse what it has promised, a nap lasts as long as it may: it is bounded.
void fence_others() {
  if (state().fences_others) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

bool has_arena(uint32_t job_rank) {
  return state().has_arena[job_rank];
}

uint32_t domain_of(uint32_t job_rank) {
  return state().domains[job_rank];
}

bool shares_arena(uint32_t job_rank) {
  State& s = state();
  if (s.base == nullptr) return false;
  return job_rank == context().rank() || s.gave_right[job_rank];
}

char* mapped_arena(Peer& peer) {
  State& s = state();
  if (s.base == nullptr) return nullptr;
  if (peer.rank == context().rank()) return s.base;
  Neighbor* const neighbor = neighbor_of(peer.rank);
  if (neighbor == nullptr) return nullptr;
  if (neighbor->tried.load(std::memory_order_acquire))
    return neighbor->base.load(std::memory_order_acquire);
  // Cold calls of a conduit are made one at a time; connecting makes them under this lock.
  const std::lock_guard endpoint_lock(peer.ep->connect_mutex());
  const std::lock_guard lock(s.mutex);
  if (neighbor->tried.load(std::memory_order_acquire))
    return neighbor->base.load(std::memory_order_acquire);
  ConduitEp* cep = peer.ep->conduit_ep(s.conduit);
  const PeerFacts facts = context().job().facts_of(peer.rank, s.conduit);
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  cwyc_rkey* rkey = nullptr;
  const cwyc_module& module = s.conduit->module();
  const auto open = [&] {
    return module.rkey_open(cep->ep, &facts.desc, neighbor->right.data(), neighbor->right.size(),
                            &rkey, &err);
  };
  if (plugin_object({"conduit", s.conduit->name()}, "rkey_open", rkey, err, open) == CWY_OK) {
    intptr_t delta = 0;
    if (module.rkey_direct(rkey, &delta) == CWY_OK) {
      const uint64_t here = neighbor->address + static_cast<uint64_t>(delta);
      neighbor->rkey = rkey;
      neighbor->base.store(reinterpret_cast<char*>(here), std::memory_order_release);
    } else {
      module.rkey_close(cep->ep, rkey);
    }
  } else {
    log_info("the collectives' memory of rank {} cannot be mapped ({}); using messages", peer.rank,
             text_of(err));
  }
  neighbor->tried.store(true, std::memory_order_release);
  return neighbor->base.load(std::memory_order_acquire);
}

}  // namespace causeway
