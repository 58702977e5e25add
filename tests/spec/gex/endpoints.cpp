// Endpoints that gex_EP_Create makes: their properties, and messages and transfers between any
// two endpoints of any two ranks.
#include <atomic>
#include <cstring>
#include <set>
#include <vector>

#include "extra_endpoints.h"

using spec::extra;
using spec::extra_segment;
using spec::job;
using spec::kEndpoints;
using spec::Phase;

namespace {

std::atomic<unsigned> requests{0}, replies{0}, wrong{0};

// Which of our endpoints a handler belongs to stands in its cdata.
unsigned place(gex_Token_t token, gex_Token_Info_t& info) {
  gex_Token_Info(token, &info, GEX_TI_ALL);
  const unsigned i = static_cast<unsigned>(reinterpret_cast<uintptr_t>(info.gex_entry->gex_cdata));
  if (info.gex_ep != extra().ep[i]) wrong.fetch_add(1);
  return i;
}

gex_AM_Index_t request_index = 0, reply_index = 0, payload_index = 0;

void on_reply(gex_Token_t token, gex_AM_Arg_t to, gex_AM_Arg_t from, gex_AM_Arg_t rank) {
  gex_Token_Info_t info;
  if (place(token, info) != static_cast<unsigned>(from)) wrong.fetch_add(1);
  if (info.gex_srcrank != static_cast<gex_Rank_t>(rank) || info.gex_is_req) wrong.fetch_add(1);
  if (static_cast<unsigned>(to) >= kEndpoints) wrong.fetch_add(1);
  replies.fetch_add(1, std::memory_order_release);
}

void on_request(gex_Token_t token, gex_AM_Arg_t to, gex_AM_Arg_t from, gex_AM_Arg_t rank) {
  gex_Token_Info_t info;
  if (place(token, info) != static_cast<unsigned>(to)) wrong.fetch_add(1);
  if (info.gex_srcrank != static_cast<gex_Rank_t>(rank) || !info.gex_is_req) wrong.fetch_add(1);
  requests.fetch_add(1, std::memory_order_release);
  gex_AM_ReplyShort3(token, reply_index, 0, to, from,
                     static_cast<gex_AM_Arg_t>(gex_System_QueryJobRank()));
}

void on_payload(gex_Token_t token, void* data, size_t length, gex_AM_Arg_t to, gex_AM_Arg_t from,
                gex_AM_Arg_t rank) {
  gex_Token_Info_t info;
  if (place(token, info) != static_cast<unsigned>(to)) wrong.fetch_add(1);
  if (spec::first_difference(data, length, rank * 64u + to * 8u + from) != length)
    wrong.fetch_add(1);
  if (info.gex_is_long && info.gex_is_req) {
    const auto* base =
        static_cast<std::byte*>(gex_Segment_QueryAddr(gex_EP_QuerySegment(info.gex_ep)));
    const auto* at = static_cast<std::byte*>(data);
    if (at < base || at + length > base + gex_Segment_QuerySize(gex_EP_QuerySegment(info.gex_ep)))
      wrong.fetch_add(1);
  }
  requests.fetch_add(1, std::memory_order_release);
  gex_AM_ReplyShort3(token, reply_index, 0, to, from,
                     static_cast<gex_AM_Arg_t>(gex_System_QueryJobRank()));
}

// The same functions on every endpoint, at the same indices, with the endpoint's number.
void register_everywhere() {
  static bool done = false;
  if (done) return;
  done = true;
  for (unsigned i = 0; i < kEndpoints; ++i) {
    const void* number = reinterpret_cast<const void*>(uintptr_t{i});
    gex_AM_Entry_t table[] = {{request_index, reinterpret_cast<gex_AM_Fn_t>(&on_request),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 3, number, "request"},
                              {reply_index, reinterpret_cast<gex_AM_Fn_t>(&on_reply),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 3, number, "reply"},
                              {payload_index, reinterpret_cast<gex_AM_Fn_t>(&on_payload),
                               GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 3, number, "payload"}};
    const int status = i == 0 ? spec::register_handlers(table, 3)
                              : gex_EP_RegisterHandlers(extra().ep[i], table, 3);
    CHECK_EQ(status, GASNET_OK);
    request_index = table[0].gex_index;
    reply_index = table[1].gex_index;
    payload_index = table[2].gex_index;
  }
  spec::barrier();
}

void start() {
  extra();
  register_everywhere();
  requests = replies = wrong = 0;
  spec::barrier();
}

// Every rank did the same towards every rank.
void finish(unsigned sent) {
  GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) == sent);
  GASNET_BLOCKUNTIL(requests.load(std::memory_order_acquire) == sent);
  CHECK_EQ(wrong.load(), 0u);
  spec::barrier();
}

template <typename Fn>
void for_all_pairs(Fn&& fn) {
  for (unsigned from = 0; from < kEndpoints; ++from)
    for (unsigned to = 0; to < kEndpoints; ++to)
      for (gex_Rank_t rank = 0; rank < job().size; ++rank)
        fn(gex_TM_Pair(extra().ep[from], extra().index[to]), from, to, rank);
}

// A place of its own for each rank and pair inside the segment of (rank, to).
constexpr size_t kPiece = 96;
std::byte* own_place(gex_Rank_t rank, unsigned from, unsigned to) {
  const size_t number = (size_t{job().rank} * kEndpoints + from) * kEndpoints + to;
  return extra_segment(rank, to, number * kPiece);
}

}  // namespace

SPEC_CASE(endpoints, properties) {
  extra();
  std::set<gex_EP_Index_t> indices;
  for (unsigned i = 0; i < kEndpoints; ++i) {
    const gex_EP_t ep = extra().ep[i];
    CHECK(ep != GEX_EP_INVALID);
    CHECK_EQ(gex_EP_QueryClient(ep), job().client);
    CHECK_EQ(gex_EP_QueryFlags(ep), 0u);
    CHECK_EQ(gex_EP_QueryIndex(ep), extra().index[i]);
    CHECK(indices.insert(gex_EP_QueryIndex(ep)).second);
    CHECK((gex_EP_QueryIndex(ep) == 0) == (i == 0));
    CHECK(gex_EP_QueryIndex(ep) < GASNET_MAXEPS);
  }
  CHECK_EQ(gex_EP_QuerySegment(extra().ep[2]), gex_EP_QuerySegment(extra().ep[3]));
  int data = 0;
  CHECK(gex_EP_QueryCData(extra().ep[1]) == nullptr);
  gex_EP_SetCData(extra().ep[1], &data);
  CHECK(gex_EP_QueryCData(extra().ep[1]) == &data);
  CHECK(gex_EP_QueryCData(extra().ep[2]) == nullptr);
  gex_EP_SetCData(extra().ep[1], nullptr);
}

// Refused arguments leave the output alone and take no index.
SPEC_CASE(endpoints, refusals) {
  extra();
  const int verbose = gex_System_GetVerboseErrors();
  gex_System_SetVerboseErrors(0);
  const auto untouched = reinterpret_cast<gex_EP_t>(uintptr_t{0x55});
  gex_EP_t ep = untouched;
  CHECK_EQ(gex_EP_Create(&ep, job().client, 0, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_EP_Create(&ep, job().client, 1u << 20, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_AM, 1u << 30), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_EP_Create(&ep, GEX_CLIENT_INVALID, GEX_EP_CAPABILITY_AM, 0), GASNET_ERR_BAD_ARG);
  CHECK(ep == untouched);
  gex_Segment_t segment = gex_EP_QuerySegment(extra().ep[1]);
  CHECK_EQ(gex_EP_BindSegment(GEX_EP_INVALID, segment, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_EP_BindSegment(extra().ep[2], segment, 0), GASNET_ERR_BAD_ARG);  // has one
  CHECK_EQ(gex_EP_BindSegment(extra().ep[2], GEX_SEGMENT_INVALID, 0), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(verbose != 0);
}

// A pair is equal to itself only, and no team.
SPEC_CASE(endpoints, pairs_are_values) {
  std::set<gex_TM_t> pairs;
  for (unsigned from = 0; from < kEndpoints; ++from)
    for (unsigned to = 0; to < kEndpoints; ++to) {
      const gex_TM_t pair = gex_TM_Pair(extra().ep[from], extra().index[to]);
      CHECK(pair == gex_TM_Pair(extra().ep[from], extra().index[to]));
      CHECK(pairs.insert(pair).second);
    }
  CHECK(!pairs.contains(job().tm) && !pairs.contains(GEX_TM_INVALID));
}

SPEC_CASE(endpoints, short_between_all) {
  start();
  unsigned sent = 0;
  for_all_pairs([&](gex_TM_t pair, unsigned from, unsigned to, gex_Rank_t rank) {
    gex_AM_RequestShort3(pair, rank, request_index, 0, static_cast<gex_AM_Arg_t>(to),
                         static_cast<gex_AM_Arg_t>(from), static_cast<gex_AM_Arg_t>(job().rank));
    ++sent;
  });
  finish(sent);
}

SPEC_CASE(endpoints, medium_between_all) {
  start();
  unsigned sent = 0;
  for_all_pairs([&](gex_TM_t pair, unsigned from, unsigned to, gex_Rank_t rank) {
    std::vector<char> data(
        std::min<size_t>(3000, gex_AM_MaxRequestMedium(pair, rank, GEX_EVENT_NOW, 0, 3)));
    spec::fill(data.data(), data.size(), job().rank * 64u + to * 8u + from);
    gex_AM_RequestMedium3(pair, rank, payload_index, data.data(), data.size(), GEX_EVENT_NOW, 0,
                          static_cast<gex_AM_Arg_t>(to), static_cast<gex_AM_Arg_t>(from),
                          static_cast<gex_AM_Arg_t>(job().rank));
    ++sent;
  });
  finish(sent);
}

// Small longs and, between neighbors in the ring, ones that an emulation has to cut.
SPEC_CASE(endpoints, long_between_all) {
  start();
  unsigned sent = 0;
  for_all_pairs([&](gex_TM_t pair, unsigned from, unsigned to, gex_Rank_t rank) {
    char data[kPiece];
    spec::fill(data, sizeof data, job().rank * 64u + to * 8u + from);
    gex_AM_RequestLong3(pair, rank, payload_index, data, sizeof data, own_place(rank, from, to),
                        GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(to),
                        static_cast<gex_AM_Arg_t>(from), static_cast<gex_AM_Arg_t>(job().rank));
    ++sent;
  });
  finish(sent);
  requests = replies = 0;
  spec::barrier();
  std::vector<char> data(spec::kExtraBytes / 2);
  sent = 0;
  for (const unsigned to : {1u, 2u}) {
    spec::fill(data.data(), data.size(), job().rank * 64u + to * 8u + 3);
    gex_AM_RequestLong3(gex_TM_Pair(extra().ep[3], extra().index[to]), job().peer(), payload_index,
                        data.data(), data.size(), extra_segment(job().peer(), to, 5), GEX_EVENT_NOW,
                        0, static_cast<gex_AM_Arg_t>(to), 3, static_cast<gex_AM_Arg_t>(job().rank));
    ++sent;
  }
  finish(sent);
}

SPEC_CASE(endpoints, rma_between_all) {
  extra();
  spec::barrier();
  for_all_pairs([&](gex_TM_t pair, unsigned from, unsigned to, gex_Rank_t rank) {
    char data[kPiece], got[kPiece] = {};
    const uint64_t seed = job().rank * 1000u + from * 100u + to * 10u + rank;
    spec::fill(data, sizeof data, seed);
    std::byte* there = own_place(rank, from, to);
    switch ((from + to + rank) % 3) {
      case 0:
        gex_RMA_PutBlocking(pair, rank, there, data, sizeof data, 0);
        break;
      case 1:
        gex_Event_Wait(gex_RMA_PutNB(pair, rank, there, data, sizeof data, GEX_EVENT_DEFER, 0));
        break;
      case 2:
        gex_RMA_PutNBI(pair, rank, there, data, sizeof data, GEX_EVENT_DEFER, 0);
        gex_NBI_Wait(GEX_EC_ALL, 0);
        break;
    }
    // Read back from another endpoint.
    const gex_TM_t other = gex_TM_Pair(extra().ep[(from + 1) % kEndpoints], extra().index[to]);
    gex_RMA_GetBlocking(other, got, rank, there, sizeof got, 0);
    CHECK_PATTERN(got, sizeof got, seed);
    uint64_t first = 0;
    std::memcpy(&first, data, sizeof first);
    CHECK_EQ(gex_RMA_GetBlockingVal(pair, rank, there, 8, 0), first);
  });
  spec::barrier();
}

// Endpoints 2 and 3 share one segment: what one is given, the other shows.
SPEC_CASE(endpoints, one_segment_two_endpoints) {
  const size_t at = spec::kExtraBytes - 8 * (job().rank + 1);
  const gex_Rank_t peer = job().peer();
  gex_RMA_PutBlockingVal(gex_TM_Pair(extra().ep[1], extra().index[2]), peer,
                         extra_segment(peer, 2, at), 0xABCD00 + job().rank, 8, 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(gex_TM_Pair(job().ep, extra().index[3]), peer,
                                  extra_segment(peer, 3, at), 8, 0),
           0xABCD00 + job().rank);
  spec::barrier();
}

// Offsets stand for places in the bound segments of the two endpoints of the call.
SPEC_CASE(endpoints, offsets) {
  constexpr gex_Flags_t kBoth = GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET;
  const gex_TM_t pair = gex_TM_Pair(extra().ep[1], extra().index[2]);
  const size_t mine = 32 * job().rank, theirs = 16384 + 32 * job().rank;
  spec::barrier();
  spec::fill(extra_segment(job().rank, 1, mine), 32, job().rank);
  gex_RMA_PutBlocking(pair, job().peer(), reinterpret_cast<void*>(theirs),
                      reinterpret_cast<void*>(mine), 32, kBoth);
  char got[32];
  gex_RMA_GetBlocking(pair, got, job().peer(), extra_segment(job().peer(), 2, theirs), 32, 0);
  CHECK_PATTERN(got, 32, job().rank);
  spec::barrier();
}

// Catches two capabilities, or two hints, on one bit: masks are built of them.
SPEC_CASE(endpoints, capabilities_and_hints_are_bits) {
  constexpr gex_EP_Capabilities_t each[] = {GEX_EP_CAPABILITY_RMA, GEX_EP_CAPABILITY_AM,
                                            GEX_EP_CAPABILITY_VIS, GEX_EP_CAPABILITY_COLL,
                                            GEX_EP_CAPABILITY_AD};
  gex_EP_Capabilities_t together = 0;
  for (const gex_EP_Capabilities_t one : each) {
    CHECK(one != 0 && (one & (one - 1)) == 0);
    CHECK_EQ(together & one, 0u);
    together |= one;
  }
  CHECK_EQ(together & ~GEX_EP_CAPABILITY_ALL, 0u);
  CHECK_EQ(GEX_FLAG_HINT_ACCEL_AD & GEX_FLAG_HINT_ACCEL_COLL, 0u);
  CHECK_EQ(GEX_FLAG_HINT_ACCEL_ALL, GEX_FLAG_HINT_ACCEL_AD | GEX_FLAG_HINT_ACCEL_COLL);
}

// Handlers belong to an endpoint: an index of one is free on another.
SPEC_CASE(endpoints, handler_tables_are_apart) {
  gex_EP_t ep = GEX_EP_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_AM, GEX_FLAG_HINT_ACCEL_ALL),
           GASNET_OK);
  CHECK_EQ(gex_EP_QueryFlags(ep), GEX_FLAG_HINT_ACCEL_ALL);
  CHECK_EQ(gex_EP_QuerySegment(ep), GEX_SEGMENT_INVALID);
  gex_AM_Entry_t entry = {0,
                          reinterpret_cast<gex_AM_Fn_t>(&on_request),
                          GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                          3,
                          nullptr,
                          "first"};
  CHECK_EQ(gex_EP_RegisterHandlers(ep, &entry, 1), GASNET_OK);
  CHECK_EQ(entry.gex_index, 255);
}

// As many as promised, and then a refusal that leaves everything working. Its group comes last: the
// cases of others make endpoints too.
SPEC_CASE(zero_endpoints_left, limit) {
  extra();
  const int verbose = gex_System_GetVerboseErrors();
  gex_System_SetVerboseErrors(0);
  std::set<gex_EP_Index_t> indices;
  gex_EP_t ep = GEX_EP_INVALID, last = GEX_EP_INVALID;
  int status = GASNET_OK;
  while ((status = gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_RMA, 0)) == GASNET_OK) {
    CHECK(indices.insert(gex_EP_QueryIndex(ep)).second);
    last = ep;
    if (!CHECK(indices.size() < GASNET_MAXEPS)) break;
  }
  CHECK_EQ(status, GASNET_ERR_RESOURCE);
  CHECK_EQ(gex_EP_QueryIndex(last), GASNET_MAXEPS - 1);
  gex_System_SetVerboseErrors(verbose != 0);
  // The last one works like the others.
  const gex_TM_t pair = gex_TM_Pair(last, extra().index[2]);
  gex_RMA_PutBlockingVal(pair, job().peer(), extra_segment(job().peer(), 2, 8 * job().rank), 77, 8,
                         0);
  CHECK_EQ(gex_RMA_GetBlockingVal(pair, job().peer(),
                                  extra_segment(job().peer(), 2, 8 * job().rank), 8, 0),
           77u);
  spec::barrier();
}
