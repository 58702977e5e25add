// Handler arguments: all calls with 0 to 16 arguments, with a fixed and with a negotiated payload,
// by the numbered names and by the names that count. One handler per argument count serves requests
// and replies; the request handler answers in kind with every argument changed, so both directions
// carry distinct values.
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include "../harness.h"

using spec::job;

namespace {

constexpr unsigned kMost = 16;
enum class Kind { short_, medium, long_ };
// Of a Prepare and a Commit as well, for mediums and longs; _v2 takes flags.
enum class Spelling { numbered, counting, commit, commit_counting, commit_v2, commit_v2_counting };
constexpr unsigned kSpellings = 6;

struct Seen {
  std::atomic<unsigned> replies{0};
  std::atomic<unsigned> wrong{0};
} seen;

// What the request now in flight carries; the peer computes the same from `round`.
int32_t argument(unsigned round, unsigned position) {
  constexpr int32_t special[] = {0,
                                 -1,
                                 std::numeric_limits<int32_t>::min(),
                                 std::numeric_limits<int32_t>::max(),
                                 0x7F00FF80,
                                 static_cast<int32_t>(0x80FF0001u)};
  if ((round + position) % 4 == 0) return special[(round / 4 + position) % std::size(special)];
  return static_cast<int32_t>((round * 0x01000193u + position) * 0x9E3779B1u);
}
constexpr size_t kPayload = 96;
std::atomic<unsigned> current_round{0};
Spelling reply_spelling = Spelling::numbered;

using Table = int (*[kMost + 1])(gex_TM_t, gex_Rank_t, gex_AM_Index_t, void*, const gex_AM_Arg_t*);
using ReplyTable = int (*[kMost + 1])(gex_Token_t, gex_AM_Index_t, void*, const gex_AM_Arg_t*);

char payload[kPayload];

#define ARGS_0
#define ARGS_1 , a[0]
#define ARGS_2 ARGS_1, a[1]
#define ARGS_3 ARGS_2, a[2]
#define ARGS_4 ARGS_3, a[3]
#define ARGS_5 ARGS_4, a[4]
#define ARGS_6 ARGS_5, a[5]
#define ARGS_7 ARGS_6, a[6]
#define ARGS_8 ARGS_7, a[7]
#define ARGS_9 ARGS_8, a[8]
#define ARGS_10 ARGS_9, a[9]
#define ARGS_11 ARGS_10, a[10]
#define ARGS_12 ARGS_11, a[11]
#define ARGS_13 ARGS_12, a[12]
#define ARGS_14 ARGS_13, a[13]
#define ARGS_15 ARGS_14, a[14]
#define ARGS_16 ARGS_15, a[15]
#define FOR_ALL_COUNTS(X)                                                                        \
  X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7), X(8), X(9), X(10), X(11), X(12), X(13), X(14), \
      X(15), X(16)

#define REQUEST                                             \
  [](gex_TM_t tm, gex_Rank_t r, gex_AM_Index_t h, void* to, \
     [[maybe_unused]] const gex_AM_Arg_t* a) -> int
#define REPLY \
  [](gex_Token_t t, gex_AM_Index_t h, void* to, [[maybe_unused]] const gex_AM_Arg_t* a) -> int

#define RQ_SHORT_N(M)                                    \
  REQUEST {                                              \
    (void)to;                                            \
    return gex_AM_RequestShort##M(tm, r, h, 0 ARGS_##M); \
  }
#define RQ_SHORT_C(M)                                 \
  REQUEST {                                           \
    (void)to;                                         \
    return gex_AM_RequestShort(tm, r, h, 0 ARGS_##M); \
  }
#define RQ_MEDIUM_N(M)                                                                      \
  REQUEST {                                                                                 \
    (void)to;                                                                               \
    return gex_AM_RequestMedium##M(tm, r, h, payload, kPayload, GEX_EVENT_NOW, 0 ARGS_##M); \
  }
#define RQ_MEDIUM_C(M)                                                                   \
  REQUEST {                                                                              \
    (void)to;                                                                            \
    return gex_AM_RequestMedium(tm, r, h, payload, kPayload, GEX_EVENT_NOW, 0 ARGS_##M); \
  }
#define RQ_LONG_N(M)                                                                          \
  REQUEST {                                                                                   \
    return gex_AM_RequestLong##M(tm, r, h, payload, kPayload, to, GEX_EVENT_NOW, 0 ARGS_##M); \
  }
#define RQ_LONG_C(M)                                                                       \
  REQUEST {                                                                                \
    return gex_AM_RequestLong(tm, r, h, payload, kPayload, to, GEX_EVENT_NOW, 0 ARGS_##M); \
  }
#define RP_SHORT_N(M)                              \
  REPLY {                                          \
    (void)to;                                      \
    return gex_AM_ReplyShort##M(t, h, 0 ARGS_##M); \
  }
#define RP_SHORT_C(M)                           \
  REPLY {                                       \
    (void)to;                                   \
    return gex_AM_ReplyShort(t, h, 0 ARGS_##M); \
  }
#define RP_MEDIUM_N(M)                                                                \
  REPLY {                                                                             \
    (void)to;                                                                         \
    return gex_AM_ReplyMedium##M(t, h, payload, kPayload, GEX_EVENT_NOW, 0 ARGS_##M); \
  }
#define RP_MEDIUM_C(M)                                                             \
  REPLY {                                                                          \
    (void)to;                                                                      \
    return gex_AM_ReplyMedium(t, h, payload, kPayload, GEX_EVENT_NOW, 0 ARGS_##M); \
  }
#define RP_LONG_N(M)                                                                    \
  REPLY {                                                                               \
    return gex_AM_ReplyLong##M(t, h, payload, kPayload, to, GEX_EVENT_NOW, 0 ARGS_##M); \
  }
#define RP_LONG_C(M)                                                                 \
  REPLY {                                                                            \
    return gex_AM_ReplyLong(t, h, payload, kPayload, to, GEX_EVENT_NOW, 0 ARGS_##M); \
  }

// A Prepare with a buffer of the library's, and the Commit in one of its spellings.
void put_payload(gex_AM_SrcDesc_t sd) {
  std::memcpy(gex_AM_SrcDescAddr(sd), payload, kPayload);
}
#define PREPARE_MEDIUM(way, where, M)                                                 \
  const gex_AM_SrcDesc_t sd =                                                         \
      gex_AM_Prepare##way##Medium(where, nullptr, kPayload, kPayload, nullptr, 0, M); \
  (void)to;                                                                           \
  put_payload(sd)
#define PREPARE_LONG(way, where, M)                                                          \
  const gex_AM_SrcDesc_t sd =                                                                \
      gex_AM_Prepare##way##Long(where, nullptr, kPayload, kPayload, nullptr, nullptr, 0, M); \
  put_payload(sd)
#define WHERE_Request tm, r
#define WHERE_Reply t
#define HEAD_Request REQUEST
#define HEAD_Reply REPLY
#define COMMIT_MEDIUM_N(way, M)                              \
  HEAD_##way {                                               \
    PREPARE_MEDIUM(way, WHERE_##way, M);                     \
    gex_AM_Commit##way##Medium##M(sd, h, kPayload ARGS_##M); \
    return 0;                                                \
  }
#define COMMIT_MEDIUM_C(way, M)                           \
  HEAD_##way {                                            \
    PREPARE_MEDIUM(way, WHERE_##way, M);                  \
    gex_AM_Commit##way##Medium(sd, h, kPayload ARGS_##M); \
    return 0;                                             \
  }
#define COMMIT_MEDIUM_N2(way, M)                                            \
  HEAD_##way {                                                              \
    PREPARE_MEDIUM(way, WHERE_##way, M);                                    \
    return gex_AM_Commit##way##Medium##M##_v2(sd, h, kPayload, 0 ARGS_##M); \
  }
#define COMMIT_MEDIUM_C2(way, M)                                       \
  HEAD_##way {                                                         \
    PREPARE_MEDIUM(way, WHERE_##way, M);                               \
    return gex_AM_Commit##way##Medium_v2(sd, h, kPayload, 0 ARGS_##M); \
  }
#define COMMIT_LONG_N(way, M)                                  \
  HEAD_##way {                                                 \
    PREPARE_LONG(way, WHERE_##way, M);                         \
    gex_AM_Commit##way##Long##M(sd, h, kPayload, to ARGS_##M); \
    return 0;                                                  \
  }
#define COMMIT_LONG_C(way, M)                               \
  HEAD_##way {                                              \
    PREPARE_LONG(way, WHERE_##way, M);                      \
    gex_AM_Commit##way##Long(sd, h, kPayload, to ARGS_##M); \
    return 0;                                               \
  }
#define COMMIT_LONG_N2(way, M)                                                \
  HEAD_##way {                                                                \
    PREPARE_LONG(way, WHERE_##way, M);                                        \
    return gex_AM_Commit##way##Long##M##_v2(sd, h, kPayload, to, 0 ARGS_##M); \
  }
#define COMMIT_LONG_C2(way, M)                                           \
  HEAD_##way {                                                           \
    PREPARE_LONG(way, WHERE_##way, M);                                   \
    return gex_AM_Commit##way##Long_v2(sd, h, kPayload, to, 0 ARGS_##M); \
  }
#define RQ_COMMIT_MEDIUM_N(M) COMMIT_MEDIUM_N(Request, M)
#define RP_COMMIT_MEDIUM_N(M) COMMIT_MEDIUM_N(Reply, M)
#define RQ_COMMIT_MEDIUM_C(M) COMMIT_MEDIUM_C(Request, M)
#define RP_COMMIT_MEDIUM_C(M) COMMIT_MEDIUM_C(Reply, M)
#define RQ_COMMIT_MEDIUM_N2(M) COMMIT_MEDIUM_N2(Request, M)
#define RP_COMMIT_MEDIUM_N2(M) COMMIT_MEDIUM_N2(Reply, M)
#define RQ_COMMIT_MEDIUM_C2(M) COMMIT_MEDIUM_C2(Request, M)
#define RP_COMMIT_MEDIUM_C2(M) COMMIT_MEDIUM_C2(Reply, M)
#define RQ_COMMIT_LONG_N(M) COMMIT_LONG_N(Request, M)
#define RP_COMMIT_LONG_N(M) COMMIT_LONG_N(Reply, M)
#define RQ_COMMIT_LONG_C(M) COMMIT_LONG_C(Request, M)
#define RP_COMMIT_LONG_C(M) COMMIT_LONG_C(Reply, M)
#define RQ_COMMIT_LONG_N2(M) COMMIT_LONG_N2(Request, M)
#define RP_COMMIT_LONG_N2(M) COMMIT_LONG_N2(Reply, M)
#define RQ_COMMIT_LONG_C2(M) COMMIT_LONG_C2(Request, M)
#define RP_COMMIT_LONG_C2(M) COMMIT_LONG_C2(Reply, M)

const Table requests[3][kSpellings] = {
    {{FOR_ALL_COUNTS(RQ_SHORT_N)}, {FOR_ALL_COUNTS(RQ_SHORT_C)}},
    {{FOR_ALL_COUNTS(RQ_MEDIUM_N)},
     {FOR_ALL_COUNTS(RQ_MEDIUM_C)},
     {FOR_ALL_COUNTS(RQ_COMMIT_MEDIUM_N)},
     {FOR_ALL_COUNTS(RQ_COMMIT_MEDIUM_C)},
     {FOR_ALL_COUNTS(RQ_COMMIT_MEDIUM_N2)},
     {FOR_ALL_COUNTS(RQ_COMMIT_MEDIUM_C2)}},
    {{FOR_ALL_COUNTS(RQ_LONG_N)},
     {FOR_ALL_COUNTS(RQ_LONG_C)},
     {FOR_ALL_COUNTS(RQ_COMMIT_LONG_N)},
     {FOR_ALL_COUNTS(RQ_COMMIT_LONG_C)},
     {FOR_ALL_COUNTS(RQ_COMMIT_LONG_N2)},
     {FOR_ALL_COUNTS(RQ_COMMIT_LONG_C2)}},
};
const ReplyTable replies[3][kSpellings] = {
    {{FOR_ALL_COUNTS(RP_SHORT_N)}, {FOR_ALL_COUNTS(RP_SHORT_C)}},
    {{FOR_ALL_COUNTS(RP_MEDIUM_N)},
     {FOR_ALL_COUNTS(RP_MEDIUM_C)},
     {FOR_ALL_COUNTS(RP_COMMIT_MEDIUM_N)},
     {FOR_ALL_COUNTS(RP_COMMIT_MEDIUM_C)},
     {FOR_ALL_COUNTS(RP_COMMIT_MEDIUM_N2)},
     {FOR_ALL_COUNTS(RP_COMMIT_MEDIUM_C2)}},
    {{FOR_ALL_COUNTS(RP_LONG_N)},
     {FOR_ALL_COUNTS(RP_LONG_C)},
     {FOR_ALL_COUNTS(RP_COMMIT_LONG_N)},
     {FOR_ALL_COUNTS(RP_COMMIT_LONG_C)},
     {FOR_ALL_COUNTS(RP_COMMIT_LONG_N2)},
     {FOR_ALL_COUNTS(RP_COMMIT_LONG_C2)}},
};

// Where a rank receives long payloads: requests of each sender and replies apart.
std::byte* landing(gex_Rank_t at, gex_Rank_t from, bool reply) {
  return spec::segment_of(at, spec::kScratchOffset + (size_t{from} * 2 + reply) * 128);
}

gex_AM_Index_t handler_index(bool carries_payload, unsigned count);

void arrived(gex_Token_t token, bool carries_payload, void* buffer, size_t bytes, unsigned count,
             const gex_AM_Arg_t* args) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  // All ranks go through the rounds together, a barrier apart, so the round is known.
  const unsigned round = current_round.load(std::memory_order_relaxed);
  bool good = true;
  for (unsigned i = 0; i < count; ++i) {
    const int32_t sent = argument(round, i);
    good = good && args[i] == (info.gex_is_req ? sent : static_cast<int32_t>(~sent));
  }
  const Kind kind = !carries_payload ? Kind::short_ : info.gex_is_long ? Kind::long_ : Kind::medium;
  if (carries_payload) {
    good = good && bytes == kPayload && spec::first_difference(buffer, bytes, 99) == bytes;
    if (kind == Kind::long_)
      good = good && buffer == landing(job().rank, info.gex_srcrank, !info.gex_is_req);
  }
  if (!good) seen.wrong.fetch_add(1, std::memory_order_relaxed);
  if (!info.gex_is_req) {
    seen.replies.fetch_add(1, std::memory_order_release);
    return;
  }
  gex_AM_Arg_t changed[kMost];
  for (unsigned i = 0; i < count; ++i) changed[i] = static_cast<int32_t>(~args[i]);
  const int status = replies[static_cast<int>(kind)][static_cast<int>(reply_spelling)][count](
      token, handler_index(carries_payload, count), landing(info.gex_srcrank, job().rank, true),
      changed);
  if (status != 0) seen.wrong.fetch_add(1, std::memory_order_relaxed);
}

template <size_t>
using Arg = gex_AM_Arg_t;

template <size_t... I>
void short_handler(gex_Token_t token, Arg<I>... args) {
  const gex_AM_Arg_t all[kMost + 1] = {args...};
  arrived(token, false, nullptr, 0, sizeof...(I), all);
}
template <size_t... I>
void payload_handler(gex_Token_t token, void* buffer, size_t bytes, Arg<I>... args) {
  const gex_AM_Arg_t all[kMost + 1] = {args...};
  arrived(token, true, buffer, bytes, sizeof...(I), all);
}

template <size_t Count>
struct Pair {
  template <size_t... I>
  explicit Pair(std::index_sequence<I...>)
      : without(&short_handler<I...>, GEX_FLAG_AM_REQREP, "arguments"),
        with(&payload_handler<I...>, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP, "arguments") {}
  Pair() : Pair(std::make_index_sequence<Count>{}) {}
  spec::Handler without, with;
};

template <typename Counts>
struct Pairs;
template <size_t... Counts>
struct Pairs<std::index_sequence<Counts...>> : Pair<Counts>... {
  gex_AM_Index_t index(bool carries_payload, unsigned count) const {
    const gex_AM_Index_t without[] = {Pair<Counts>::without...};
    const gex_AM_Index_t with[] = {Pair<Counts>::with...};
    return carries_payload ? with[count] : without[count];
  }
};
const Pairs<std::make_index_sequence<kMost + 1>> handlers;

gex_AM_Index_t handler_index(bool carries_payload, unsigned count) {
  return handlers.index(carries_payload, count);
}

void exchange(Kind kind, Spelling spelling) {
  spec::fill(payload, kPayload, 99);
  reply_spelling = spelling;
  for (unsigned count = 0; count <= kMost; ++count) {
    spec::barrier();
    const unsigned round = current_round.load(std::memory_order_relaxed) + 1;
    current_round.store(round, std::memory_order_relaxed);
    seen.replies.store(0, std::memory_order_relaxed);
    spec::barrier();
    gex_AM_Arg_t args[kMost];
    for (unsigned i = 0; i < count; ++i) args[i] = argument(round, i);
    const gex_Rank_t targets[] = {job().rank, job().peer(), job().peer(2)};
    // One at a time: two longs of one sender to one target would land on the same place.
    for (unsigned i = 0; i < std::size(targets); ++i) {
      CHECK_EQ(requests[static_cast<int>(kind)][static_cast<int>(spelling)][count](
                   job().tm, targets[i], handler_index(kind != Kind::short_, count),
                   landing(targets[i], job().rank, false), args),
               0);
      GASNET_BLOCKUNTIL(seen.replies.load(std::memory_order_acquire) == i + 1);
    }
  }
  CHECK_EQ(seen.wrong.exchange(0, std::memory_order_relaxed), 0u);
}

}  // namespace

// Each would catch an argument that is lost, swapped, truncated or not sign-preserved at one
// argument count, and a count that the macros get wrong.
SPEC_CASE(am_arguments, short_numbered) {
  exchange(Kind::short_, Spelling::numbered);
}
SPEC_CASE(am_arguments, short_counting) {
  exchange(Kind::short_, Spelling::counting);
}
SPEC_CASE(am_arguments, medium_numbered) {
  exchange(Kind::medium, Spelling::numbered);
}
SPEC_CASE(am_arguments, medium_counting) {
  exchange(Kind::medium, Spelling::counting);
}
SPEC_CASE(am_arguments, long_numbered) {
  exchange(Kind::long_, Spelling::numbered);
}
SPEC_CASE(am_arguments, long_counting) {
  exchange(Kind::long_, Spelling::counting);
}

SPEC_CASE(am_arguments, medium_commit) {
  exchange(Kind::medium, Spelling::commit);
}
SPEC_CASE(am_arguments, medium_commit_counting) {
  exchange(Kind::medium, Spelling::commit_counting);
}
SPEC_CASE(am_arguments, medium_commit_v2) {
  exchange(Kind::medium, Spelling::commit_v2);
}
SPEC_CASE(am_arguments, medium_commit_v2_counting) {
  exchange(Kind::medium, Spelling::commit_v2_counting);
}
SPEC_CASE(am_arguments, long_commit) {
  exchange(Kind::long_, Spelling::commit);
}
SPEC_CASE(am_arguments, long_commit_counting) {
  exchange(Kind::long_, Spelling::commit_counting);
}
SPEC_CASE(am_arguments, long_commit_v2) {
  exchange(Kind::long_, Spelling::commit_v2);
}
SPEC_CASE(am_arguments, long_commit_v2_counting) {
  exchange(Kind::long_, Spelling::commit_v2_counting);
}
