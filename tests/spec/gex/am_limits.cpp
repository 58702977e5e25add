// The queries of maximum payloads and what they promise about each other.
#include <atomic>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

using Query = size_t (*)(gex_TM_t, gex_Rank_t, const gex_Event_t*, gex_Flags_t, unsigned);
struct Family {
  const char* name;
  Query of_peer;
  size_t (*of_all)();
};
const Family families[] = {
    {"RequestLong", gex_AM_MaxRequestLong, gex_AM_LUBRequestLong},
    {"ReplyLong", gex_AM_MaxReplyLong, gex_AM_LUBReplyLong},
    {"RequestMedium", gex_AM_MaxRequestMedium, gex_AM_LUBRequestMedium},
    {"ReplyMedium", gex_AM_MaxReplyMedium, gex_AM_LUBReplyMedium},
};
// Does every rank lie to the others as all the others do? Then each one's own peers show the least
// of the team.
bool all_lie_alike() {
  gex_Rank_t neighborhoods = 0;
  gex_System_QueryMyPosition(&neighborhoods, nullptr, nullptr, nullptr);
  return neighborhoods == 1 || neighborhoods == job().size;
}

gex_Event_t any_event;
const gex_Event_t* const request_options[] = {GEX_EVENT_NOW, GEX_EVENT_GROUP, &any_event};
constexpr gex_Flags_t kFlags[] = {0, GEX_FLAG_IMMEDIATE};
constexpr unsigned kMost = 16;

bool is_reply(const Family& family) {
  return family.name[2] == 'p';
}

// Answers of every rank about every rank, gathered on the rank they are about.
std::vector<size_t> told;
std::atomic<unsigned> told_count{0};
void on_told(gex_Token_t token, gex_AM_Arg_t family, gex_AM_Arg_t low, gex_AM_Arg_t high) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  told[info.gex_srcrank * std::size(families) + static_cast<unsigned>(family)] =
      static_cast<uint32_t>(low) | static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32;
  told_count.fetch_add(1, std::memory_order_release);
}
spec::Handler tell(&on_told, GEX_FLAG_AM_REQUEST, "limit");

struct TokenLimits {
  size_t medium[kMost + 1], long_[kMost + 1];
};
TokenLimits token_limits;
std::atomic<unsigned> answered{0};
void on_answer(gex_Token_t, void* buffer, size_t bytes) {
  if (bytes == sizeof token_limits) __builtin_memcpy(&token_limits, buffer, bytes);
  answered.fetch_add(1, std::memory_order_release);
}
spec::Handler answer(&on_answer, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, "token limits");
void on_ask(gex_Token_t token) {
  TokenLimits limits;
  for (unsigned nargs = 0; nargs <= kMost; ++nargs) {
    limits.medium[nargs] = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, nargs);
    limits.long_[nargs] = gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, nargs);
  }
  gex_AM_ReplyMedium0(token, answer, &limits, sizeof limits, GEX_EVENT_NOW, 0);
}
spec::Handler ask(&on_ask, GEX_FLAG_AM_REQUEST, "ask token limits");

}  // namespace

// At least 512, never below the bound for everybody, never growing with the number of arguments,
// the same when asked again, and the answer for "any rank" is the least over all ranks, or less
// where others lie to each other in a way in which none lies to this rank.
SPEC_CASE(am_limits, bounds) {
  for (const Family& family : families) {
    CHECK(family.of_all() >= 512);
    CHECK_EQ(family.of_all(), family.of_all());
    for (const gex_Event_t* option : request_options) {
      if (option == GEX_EVENT_GROUP && is_reply(family)) continue;
      for (gex_Flags_t flags : kFlags) {
        size_t previous = SIZE_MAX;
        for (unsigned nargs = 0; nargs <= kMost; ++nargs) {
          size_t least = SIZE_MAX;
          for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
            const size_t most = family.of_peer(job().tm, rank, option, flags, nargs);
            CHECK(most >= 512);
            CHECK(most >= family.of_all());
            CHECK_EQ(family.of_peer(job().tm, rank, option, flags, nargs), most);
            if (nargs > 0) CHECK(most <= family.of_peer(job().tm, rank, option, flags, nargs - 1));
            least = std::min(least, most);
          }
          const size_t any = family.of_peer(job().tm, GEX_RANK_INVALID, option, flags, nargs);
          CHECK(any >= 512 && any >= family.of_all());
          CHECK(any <= least);
          if (all_lie_alike()) CHECK_EQ(any, least);
          CHECK(least <= previous);
          previous = least;
        }
      }
    }
  }
}

// Any event variable, and NULL, mean the same in a query.
SPEC_CASE(am_limits, event_pointers_are_alike) {
  gex_Event_t one, other;
  for (const Family& family : families) {
    const size_t most = family.of_peer(job().tm, job().peer(), &one, 0, 3);
    CHECK_EQ(family.of_peer(job().tm, job().peer(), &other, 0, 3), most);
    CHECK_EQ(family.of_peer(job().tm, job().peer(), nullptr, 0, 3), most);
  }
}

// Two ranks that ask about each other get the same answer.
SPEC_CASE(am_limits, symmetry) {
  told.assign(job().size * std::size(families), 0);
  told_count.store(0, std::memory_order_relaxed);
  spec::barrier();
  for (gex_Rank_t rank = 0; rank < job().size; ++rank)
    for (unsigned f = 0; f < std::size(families); ++f) {
      const uint64_t most = families[f].of_peer(job().tm, rank, GEX_EVENT_NOW, 0, 4);
      gex_AM_RequestShort3(job().tm, rank, tell, 0, static_cast<gex_AM_Arg_t>(f),
                           static_cast<gex_AM_Arg_t>(most), static_cast<gex_AM_Arg_t>(most >> 32));
    }
  GASNET_BLOCKUNTIL(told_count.load(std::memory_order_acquire) == job().size * std::size(families));
  for (gex_Rank_t rank = 0; rank < job().size; ++rank)
    for (unsigned f = 0; f < std::size(families); ++f)
      CHECK_EQ(told[rank * std::size(families) + f],
               families[f].of_peer(job().tm, rank, GEX_EVENT_NOW, 0, 4));
  spec::barrier();
}

// The answers for every option hold for the whole team: all ranks get the same one.
SPEC_CASE(am_limits, team_wide_answers_agree) {
  told.assign(job().size * std::size(families), 0);
  told_count.store(0, std::memory_order_relaxed);
  spec::barrier();
  for (unsigned f = 0; f < std::size(families); ++f) {
    const uint64_t most = families[f].of_peer(job().tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 16);
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      gex_AM_RequestShort3(job().tm, rank, tell, 0, static_cast<gex_AM_Arg_t>(f),
                           static_cast<gex_AM_Arg_t>(most), static_cast<gex_AM_Arg_t>(most >> 32));
  }
  GASNET_BLOCKUNTIL(told_count.load(std::memory_order_acquire) == job().size * std::size(families));
  for (gex_Rank_t rank = 0; rank < job().size; ++rank)
    for (unsigned f = 0; f < std::size(families); ++f)
      CHECK_EQ(told[rank * std::size(families) + f],
               families[f].of_peer(job().tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 16));
  spec::barrier();
}

// A token answers as the query that names the same two endpoints does.
SPEC_CASE(am_limits, tokens) {
  for (gex_Rank_t target : {job().rank, job().peer()}) {
    answered.store(0, std::memory_order_relaxed);
    gex_AM_RequestShort0(job().tm, target, ask, 0);
    GASNET_BLOCKUNTIL(answered.load(std::memory_order_acquire) == 1);
    for (unsigned nargs = 0; nargs <= kMost; ++nargs) {
      CHECK_EQ(token_limits.medium[nargs],
               gex_AM_MaxReplyMedium(job().tm, target, GEX_EVENT_NOW, 0, nargs));
      CHECK_EQ(token_limits.long_[nargs],
               gex_AM_MaxReplyLong(job().tm, target, GEX_EVENT_NOW, 0, nargs));
    }
  }
  spec::barrier();
}
