#include "process/team_create.h"

#include <causeway/collective.h>
#include <gasnet_tools.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "base/log.h"
#include "collective/exchange.h"
#include "kinds/device.h"
#include "object/client.h"
#include "object/segment.h"
#include "object/team_ids.h"
#include "process/runtime.h"
#include "progress/waiter.h"

namespace causeway {
namespace {

constexpr gex_Flags_t kQueries =
    GEX_FLAG_TM_SCRATCH_SIZE_MIN | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED;
constexpr gex_Flags_t kModes = GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH |
                               GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_TM_NO_SCRATCH;

gex_Flags_t own_flags(const char* call, gex_Flags_t flags, gex_Flags_t known) {
  const gex_Flags_t own = flags_of_call(call, flags, known);
  if (own & ~known) fatal(call, "flags {:#x} contain unknown bits {:#x}", flags, own & ~known);
  return own;
}

void require_one_mode(const char* call, gex_Flags_t flags, gex_Flags_t modes, const char* names) {
  if (std::popcount(flags & modes) != 1)
    fatal(call, "flags {:#x} must contain exactly one of {}", flags, names);
}

// The recommended size, unless the user knows better (GASNET_COLL_SCRATCH_SIZE); launchers give all
// ranks one environment.
size_t recommended_scratch() {
  static const size_t bytes = [] {
    const char* wish = std::getenv("GASNET_COLL_SCRATCH_SIZE");
    const int64_t wanted = wish != nullptr ? gasnett_parse_int(wish, 1) : 0;
    return wanted > 0 ? std::max(static_cast<size_t>(wanted), kScratchLeast) : kScratchRecommended;
  }();
  return bytes;
}

// The answer to GEX_FLAG_TM_SCRATCH_SIZE_*. The same for every team, so nobody has to be asked.
size_t scratch_query(const char* call, gex_Flags_t flags, bool takes_part) {
  if (std::popcount(flags & kQueries) != 1)
    fatal(call, "flags {:#x} ask for the minimum and for the recommended scratch size", flags);
  if (!takes_part || (flags & GEX_FLAG_TM_NO_SCRATCH)) return 0;
  if (flags & GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED) return recommended_scratch();
  static std::atomic<bool> warned{false};  // relaxed: at worst the warning comes twice
  if (!warned.exchange(true, std::memory_order_relaxed)) {
    log_warn(
        "{}: GEX_FLAG_TM_SCRATCH_SIZE_MIN is deprecated; use "
        "GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED",
        call);
  }
  return kScratchLeast;
}

// The owner's address of granted scratch, after checking that it may be used.
uint64_t scratch_address(const char* call, const Endpoint& ep, gex_Addr_t addr, size_t size,
                         gex_Flags_t flags) {
  if (flags & GEX_FLAG_TM_NO_SCRATCH) return 0;
  if (size < kScratchLeast) {
    fatal(call,
          "scratch of {} bytes is below the minimum of {}; pass GEX_FLAG_TM_NO_SCRATCH to "
          "grant none",
          size, kScratchLeast);
  }
  const Segment* segment = ep.segment();
  if (segment == nullptr) {
    fatal(call, "scratch was granted, but no segment is bound to the endpoint with index {}",
          ep.index());
  }
  if (segment->device() != nullptr) {  // "Memory Kinds" 5.3, item 20
    fatal(call,
          "scratch was granted in memory of {}, to which the endpoint with index {} is bound; "
          "scratch lies in host memory: pass GEX_FLAG_TM_NO_SCRATCH for teams with device memory",
          segment->device()->name(), ep.index());
  }
  const auto base = reinterpret_cast<uint64_t>(segment->addr());
  const auto at =
      reinterpret_cast<uint64_t>(addr) + (flags & GEX_FLAG_SCRATCH_SEG_OFFSET ? base : 0);
  if (!segment->contains(at, size)) {
    fatal(call, "scratch [{:#x}, {:#x}) is outside the bound segment [{:#x}, {:#x})", at, at + size,
          base, base + segment->size());
  }
  return at;
}

uint64_t granted(gex_Flags_t flags, size_t scratch_size) {
  return flags & GEX_FLAG_TM_NO_SCRATCH ? 0 : scratch_size;
}

struct Member {
  uint32_t rank;  // job rank
  uint16_t index;
  uint64_t scratch;
};

struct Plan {
  std::vector<Member> members;  // in rank order
  uint64_t scratch_size = 0;
  gex_Flags_t flags = 0;
  uint32_t memory = 0;  // Team::memory_classes()
};

// The memory that the endpoint has bound; host memory is there always. The mutex keeps the segment,
// which another thread may be about to destroy (Client::bind).
uint32_t memory_of(const Endpoint& ep) {
  const std::lock_guard lock(ep.client()->publications().mutex());
  const Segment* segment = ep.segment();
  const uint32_t host = 1u << CWY_MEM_HOST;
  if (segment == nullptr || segment->device() == nullptr) return host;
  constexpr uint32_t kSharedKind = 31;  // the bit of all further ones, vendors' among them
  return host | 1u << std::min(segment->device()->attr().kind_class, kSharedKind);
}

Team* build(Client* client, Endpoint* ep, const Plan& plan, uint32_t own_rank, uint32_t id) {
  TeamMembers members;
  std::vector<uint64_t> scratches;
  members.reserve(plan.members.size());
  for (const Member& m : plan.members) {
    members.emplace_back(m.index, m.rank);
    if (plan.scratch_size != 0) scratches.push_back(m.scratch);
  }
  auto* team = new Team(client, ep, std::move(members), own_rank, id, plan.flags, false);
  team->set_scratch(std::move(scratches), plan.scratch_size);
  team->set_memory_classes(plan.memory | 1u << CWY_MEM_HOST);
  const std::lock_guard lock(client->publications().mutex());
  team->publish_window();
  return team;
}

template <typename T>
std::string bytes_of(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
template <typename T>
T value_of(const std::string& bytes, size_t at = 0) {
  T value{};
  if (bytes.size() < at + sizeof value)
    throw Error(CWY_ERR_INVALID, "a member's part of a team creation is cut short");
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// ---- split and duplicate ----

// The arguments that all members of a new team must have passed alike: `same` compares what a form
// adds to flags and scratch size.
template <class Word>
void require_same(const char* call, const Word& own, const Word& other, uint32_t rank,
                  bool same = true) {
  if (other.flags != own.flags || !same) {
    fatal(call,
          "rank {} of the parent team passed flags {:#x}, this rank {:#x}; they must agree "
          "within a new team",
          rank, other.flags, own.flags);
  }
  if (other.scratch_size != own.scratch_size) {
    fatal(call,
          "rank {} of the parent team passed a scratch size of {}, this rank {}; they must "
          "agree within a new team",
          rank, other.scratch_size, own.scratch_size);
  }
}

struct SplitWord {
  uint32_t takes_part;
  int32_t color, key;
  gex_Flags_t flags;
  uint64_t scratch, scratch_size;
  uint32_t next_id;
  uint32_t memory;
};

// The word of a member that takes part; a split adds color and key.
SplitWord taking_part(const char* call, const Endpoint& ep, gex_Addr_t scratch, size_t scratch_size,
                      gex_Flags_t flags) {
  return {1,
          0,
          0,
          flags,
          scratch_address(call, ep, scratch, scratch_size, flags),
          granted(flags, scratch_size),
          team_ids::next(),
          memory_of(ep)};
}

Team* split_by(const char* call, Team& parent, const SplitWord& own) {
  const std::vector<std::string> words = causeway::exchange(parent, bytes_of(own), call);
  std::map<int, uint32_t> groups;               // color -> number, by color
  std::vector<std::pair<int, uint32_t>> order;  // key, parent's rank: sorts as ranks are assigned
  std::vector<SplitWord> all;
  uint32_t highest = 0;
  for (uint32_t r = 0; r < parent.size(); ++r) {
    const SplitWord& w = all.emplace_back(value_of<SplitWord>(words[r]));
    highest = std::max(highest, w.next_id);
    if (!w.takes_part) continue;
    groups.emplace(w.color, 0);
    if (!own.takes_part || w.color != own.color) continue;
    require_same(call, own, w, r);
    order.emplace_back(w.key, r);
  }
  uint32_t count = 0, mine = 0;
  for (auto& [color, number] : groups) {
    number = count++;
    if (own.takes_part && color == own.color) mine = number;
  }
  const uint32_t id = settle_team_id(parent, highest, count, own.takes_part ? &mine : nullptr, 1,
                                     parent.next_creation());
  if (!own.takes_part) return nullptr;
  std::ranges::sort(order);
  Plan plan{{}, own.scratch_size, own.flags};
  uint32_t own_rank = 0;
  for (const auto& [key, r] : order) {
    if (r == parent.rank()) own_rank = static_cast<uint32_t>(plan.members.size());
    const TeamMember& member = parent.members()[r];
    plan.members.push_back({member.rank(), member.index(), all[r].scratch});
    plan.memory |= all[r].memory;
  }
  return build(parent.client(), parent.ep(), plan, own_rank, id);
}

// ---- create ----

// Leads a member's word; a LocalMember per endpoint of its process in the new team follows.
struct CreateWord {
  uint64_t digest;
  uint64_t numargs;  // 0: takes no part
  uint64_t scratch_size;
  gex_Flags_t flags;
  uint32_t next_id;
  uint32_t locals;
  uint32_t memory;  // of all these endpoints
};
struct LocalMember {
  uint64_t scratch;
  uint32_t index;
  uint32_t padding;
};

uint64_t digest_of(const std::vector<Member>& members) {
  uint64_t h = 0xcbf29ce484222325ull;  // FNV-1a over whole numbers
  for (const Member& m : members) {
    h = (h ^ m.rank) * 0x100000001b3ull;
    h = (h ^ m.index) * 0x100000001b3ull;
  }
  return h;
}

std::vector<Member> resolve_args(const char* call, Team& parent, const gex_EP_Location_t* args,
                                 size_t numargs, gex_Flags_t flags) {
  std::vector<Member> members;
  const bool job_ranks = (flags & GEX_FLAG_RANK_IS_JOBRANK) != 0;
  const uint32_t limit = job_ranks ? runtime().size() : parent.size();
  for (size_t i = 0; i < numargs; ++i) {
    if (args[i].gex_rank >= limit) {
      fatal(call, "args[{}] names rank {}, but {} has {} ranks", i, args[i].gex_rank,
            job_ranks ? "the job" : "the parent team", limit);
    }
    if (args[i].gex_ep_index >= Endpoint::kMaxEndpoints) {
      fatal(call, "args[{}] names endpoint index {}, which is not below GASNET_MAXEPS, {}", i,
            args[i].gex_ep_index, GASNET_MAXEPS);
    }
    const uint32_t rank = job_ranks ? args[i].gex_rank : parent.job_rank(args[i].gex_rank);
    members.push_back({rank, args[i].gex_ep_index, 0});
  }
  std::vector<std::pair<uint32_t, uint16_t>> seen;
  for (const Member& m : members) seen.emplace_back(m.rank, m.index);
  std::ranges::sort(seen);
  const auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end()) {
    fatal(call, "args[] names the endpoint with index {} of job rank {} twice", twice->second,
          twice->first);
  }
  return members;
}

// This process' endpoints among `members`, with their scratch, as the others have to know them.
// Counted in `own`, which says what memory they have bound.
std::string local_part(const char* call, Client* client, const std::vector<Member>& members,
                       const gex_Addr_t* scratch_addrs, size_t scratch_size, gex_Flags_t flags,
                       CreateWord& own) {
  std::string out;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].rank != runtime().rank()) continue;
    const Endpoint* ep = find_endpoint(client->id(), members[i].index);
    if (ep == nullptr) {
      fatal(call, "args[{}] names the endpoint with index {} of this rank, which does not exist", i,
            members[i].index);
    }
    const size_t at = flags & GEX_FLAG_TM_GLOBAL_SCRATCH  ? i
                      : flags & GEX_FLAG_TM_LOCAL_SCRATCH ? own.locals
                                                          : 0;
    const gex_Addr_t addr = flags & GEX_FLAG_TM_NO_SCRATCH ? nullptr : scratch_addrs[at];
    out += bytes_of(
        LocalMember{scratch_address(call, *ep, addr, scratch_size, flags), members[i].index, 0});
    own.memory |= memory_of(*ep);
    ++own.locals;
  }
  return out;
}

// Calls fn(rank in the parent, its word, a member of its process) for each member that was named.
template <typename Fn>
void for_each_local(const Team& parent, const std::vector<std::string>& words, Fn&& fn) {
  for (uint32_t r = 0; r < parent.size(); ++r) {
    const auto word = value_of<CreateWord>(words[r]);
    for (uint32_t i = 0; word.numargs != 0 && i < word.locals; ++i)
      fn(r, word, value_of<LocalMember>(words[r], sizeof word + size_t{i} * sizeof(LocalMember)));
  }
}

// Every endpoint stands in one new team at most.
void require_disjoint(const char* call, const Team& parent, const std::vector<std::string>& words) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> owner;  // job rank, index -> digest
  for_each_local(parent, words, [&](uint32_t r, const CreateWord& word, const LocalMember& local) {
    const auto [found, fresh] = owner.try_emplace({parent.job_rank(r), local.index}, word.digest);
    if (fresh || found->second == word.digest) return;
    fatal(call, "the endpoint with index {} of job rank {} is named in two different args[]",
          local.index, parent.job_rank(r));
  });
}

// Fills in every member's scratch from its process' word; a process that is named has called.
// Answers what memory the members have bound.
uint32_t take_words(const char* call, Team& parent, const CreateWord& own,
                    const std::vector<std::string>& words, std::vector<Member>& members) {
  uint32_t memory = 0;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> scratch;  // job rank, index -> address
  for (uint32_t r = 0; r < parent.size(); ++r) {
    const auto word = value_of<CreateWord>(words[r]);
    if (word.numargs == 0 || word.digest != own.digest) continue;
    require_same(call, own, word, r, word.numargs == own.numargs);
    memory |= word.memory;
  }
  for_each_local(parent, words, [&](uint32_t r, const CreateWord& word, const LocalMember& local) {
    if (word.digest == own.digest) scratch[{parent.job_rank(r), local.index}] = local.scratch;
  });
  for (Member& m : members) {
    const auto found = scratch.find({m.rank, m.index});
    if (found == scratch.end()) {
      fatal(call,
            "args[] names job rank {}, but no member of the parent team there passed the same "
            "args[]",
            m.rank);
    }
    m.scratch = found->second;
  }
  return memory;
}

// Several members of the parent in this process may pass the same args[]: the one of the lowest
// rank makes the new team's local members for all of them.
struct LocalCallers {
  uint32_t builder;  // rank in the parent
  uint32_t count;
};
LocalCallers local_callers(Team& parent, uint64_t digest, const std::vector<std::string>& words) {
  LocalCallers out{parent.rank(), 0};
  for (uint32_t r = 0; r < parent.size(); ++r) {
    if (parent.job_rank(r) != runtime().rank()) continue;
    const auto word = value_of<CreateWord>(words[r]);
    if (word.numargs == 0 || word.digest != digest) continue;
    out.builder = std::min(out.builder, r);
    ++out.count;
  }
  return out;
}

std::vector<gex_TM_t> build_locals(Client* client, const Plan& plan, uint32_t id) {
  std::vector<gex_TM_t> out;
  for (uint32_t r = 0; r < plan.members.size(); ++r) {
    const Member& m = plan.members[r];
    if (m.rank != runtime().rank()) continue;
    out.push_back(build(client, find_endpoint(client->id(), m.index), plan, r, id)->handle());
  }
  return out;
}

std::vector<gex_TM_t> wait_for_builder(uint32_t id, uint64_t tag) {
  WaiterFor waiter({"the making of a team by another thread of this process"});
  for (;;) {
    std::vector<gex_TM_t> made = team_ids::take(id, tag);
    if (!made.empty()) return made;
    waiter.step();
  }
}

}  // namespace

size_t split_team(gex_TM_t* new_tm, Team& parent, int color, int key, void* scratch,
                  size_t scratch_size, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_Split()";
  flags = own_flags(kCall, flags, kQueries | GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET);
  if (flags & kQueries) return scratch_query(kCall, flags, new_tm != nullptr);
  if (new_tm == nullptr) {
    SplitWord none{};
    none.next_id = team_ids::next();
    split_by(kCall, parent, none);
    return 0;
  }
  if (color < 0) fatal(kCall, "color {} is negative", color);
  SplitWord own = taking_part(kCall, *parent.ep(), scratch, scratch_size, flags);
  own.color = color;
  own.key = key;
  *new_tm = split_by(kCall, parent, own)->handle();
  return 0;
}

size_t duplicate_team(gex_TM_t* new_tm, Team& original, gex_Addr_t scratch, size_t scratch_size,
                      gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_Dup()";
  flags =
      own_flags(kCall, flags,
                kQueries | (kModes & ~GEX_FLAG_TM_GLOBAL_SCRATCH) | GEX_FLAG_SCRATCH_SEG_OFFSET);
  if (flags & kQueries) return scratch_query(kCall, flags, true);
  require_one_mode(kCall, flags, kModes,
                   "GEX_FLAG_TM_SYMMETRIC_SCRATCH, _LOCAL_SCRATCH and _NO_SCRATCH");
  if (new_tm == nullptr) fatal(kCall, "new_tm_p is NULL");
  *new_tm =
      split_by(kCall, original, taking_part(kCall, *original.ep(), scratch, scratch_size, flags))
          ->handle();
  return 0;
}

size_t create_teams(gex_TM_t* new_tms, size_t num_new_tms, Team& parent,
                    const gex_EP_Location_t* args, size_t numargs, const gex_Addr_t* scratch_addrs,
                    size_t scratch_size, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_TM_Create()";
  flags = own_flags(kCall, flags,
                    kQueries | kModes | GEX_FLAG_SCRATCH_SEG_OFFSET | GEX_FLAG_RANK_IS_JOBRANK);
  if (flags & kQueries) return scratch_query(kCall, flags, numargs != 0);
  CreateWord own{};
  own.numargs = numargs;
  own.next_id = team_ids::next();
  std::vector<Member> members;
  std::string part;
  if (numargs != 0) {
    require_one_mode(kCall, flags, kModes, "GEX_FLAG_TM_{GLOBAL,LOCAL,SYMMETRIC,NO}_SCRATCH");
    if (args == nullptr) fatal(kCall, "args is NULL, but numargs is {}", numargs);
    if (scratch_addrs == nullptr && !(flags & GEX_FLAG_TM_NO_SCRATCH))
      fatal(kCall, "scratch_addrs is NULL; pass GEX_FLAG_TM_NO_SCRATCH to grant none");
    members = resolve_args(kCall, parent, args, numargs, flags);
    own.digest = digest_of(members);
    own.flags = flags;
    own.scratch_size = granted(flags, scratch_size);
    part = local_part(kCall, parent.client(), members, scratch_addrs, scratch_size, flags, own);
    if (own.locals != num_new_tms || (num_new_tms != 0 && new_tms == nullptr)) {
      fatal(kCall, "num_new_tms is {}, but args[] names {} endpoints of this rank", num_new_tms,
            own.locals);
    }
  }
  const std::vector<std::string> words = causeway::exchange(parent, bytes_of(own) + part, kCall);
  std::map<uint64_t, uint32_t> groups;  // digest -> number, in order of appearance
  uint32_t highest = 0;
  for (uint32_t r = 0; r < parent.size(); ++r) {
    const auto word = value_of<CreateWord>(words[r]);
    highest = std::max(highest, word.next_id);
    if (word.numargs != 0) groups.emplace(word.digest, static_cast<uint32_t>(groups.size()));
  }
  require_disjoint(kCall, parent, words);
  const uint32_t memory = numargs != 0 ? take_words(kCall, parent, own, words, members) : 0;
  const LocalCallers callers = local_callers(parent, own.digest, words);
  const bool builds = numargs != 0 && own.locals != 0 && callers.builder == parent.rank();
  const uint32_t* group = numargs != 0 ? &groups.at(own.digest) : nullptr;
  const uint64_t tag = parent.next_creation();
  const uint32_t id = settle_team_id(parent, highest, static_cast<uint32_t>(groups.size()), group,
                                     builds ? own.locals : 0, tag);
  if (own.locals == 0) return 0;
  const Plan plan{members, own.scratch_size, flags, memory};
  if (builds) team_ids::deposit(id, tag, build_locals(parent.client(), plan, id), callers.count);
  const std::vector<gex_TM_t> made = wait_for_builder(id, tag);
  std::ranges::copy(made, new_tms);
  return 0;
}

}  // namespace causeway
