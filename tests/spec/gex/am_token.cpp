// What a token tells, in request and in reply handlers of each category.
#include <atomic>

#include "../harness.h"

using spec::job;

namespace {

const int cdata_of_short = 1, cdata_of_payload = 2;
std::atomic<unsigned> done{0};
std::atomic<unsigned> wrong{0};
// A request and a reply to the same rank may be stored at once, the reply by another thread.
std::byte* landing(gex_Rank_t rank, bool of_reply) {
  return spec::segment_of(rank, spec::kScratchOffset + size_t{job().rank} * 64 + of_reply * 32u);
}

struct Expected {
  bool is_request, is_long;
  gex_AM_Index_t index;
  gex_AM_Fn_t function;
  const void* cdata;
  unsigned nargs;
  gex_Rank_t source;
};

void check_token(gex_Token_t token, const Expected& expected) {
  gex_Token_Info_t info;
  const gex_TI_t known = gex_Token_Info(token, &info, GEX_TI_ALL);
  // The required queries always answer; the others as the header announces.
  gex_TI_t promised = GEX_TI_SRCRANK | GEX_TI_EP;
#ifdef GASNET_SUPPORTS_TI_ENTRY
  promised |= GEX_TI_ENTRY;
#endif
#ifdef GASNET_SUPPORTS_TI_IS_REQ
  promised |= GEX_TI_IS_REQ;
#endif
#ifdef GASNET_SUPPORTS_TI_IS_LONG
  promised |= GEX_TI_IS_LONG;
#endif
  bool good = (known & promised) == promised;
  good = good && info.gex_srcrank == expected.source && info.gex_ep == job().ep;
  if (known & GEX_TI_IS_REQ) good = good && info.gex_is_req == (expected.is_request ? 1 : 0);
  if (known & GEX_TI_IS_LONG) good = good && info.gex_is_long == (expected.is_long ? 1 : 0);
  if (known & GEX_TI_ENTRY)
    good = good && info.gex_entry->gex_index == expected.index &&
           info.gex_entry->gex_fnptr == expected.function &&
           info.gex_entry->gex_cdata == expected.cdata &&
           info.gex_entry->gex_nargs == expected.nargs;
  // Each query alone.
  for (gex_TI_t bit : {GEX_TI_SRCRANK, GEX_TI_EP, GEX_TI_ENTRY, GEX_TI_IS_REQ, GEX_TI_IS_LONG})
    if (promised & bit) good = good && (gex_Token_Info(token, &info, bit) & bit) == bit;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  good = good && info.gex_srcrank == expected.source;
  if (!good) wrong.fetch_add(1, std::memory_order_relaxed);
}

void on_short(gex_Token_t token, gex_AM_Arg_t is_request, gex_AM_Arg_t source);
void on_payload(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t is_request,
                gex_AM_Arg_t source, gex_AM_Arg_t is_long);
spec::Handler on_short_handler(&on_short, GEX_FLAG_AM_REQREP, "token short", &cdata_of_short);
spec::Handler on_payload_handler(&on_payload, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP,
                                 "token payload", &cdata_of_payload);

void on_short(gex_Token_t token, gex_AM_Arg_t is_request, gex_AM_Arg_t source) {
  check_token(token,
              {is_request != 0, false, on_short_handler, reinterpret_cast<gex_AM_Fn_t>(&on_short),
               &cdata_of_short, 2, static_cast<gex_Rank_t>(source)});
  if (is_request)
    gex_AM_ReplyShort2(token, on_short_handler, 0, 0, static_cast<gex_AM_Arg_t>(job().rank));
  else
    done.fetch_add(1, std::memory_order_release);
}

void on_payload(gex_Token_t token, void*, size_t, gex_AM_Arg_t is_request, gex_AM_Arg_t source,
                gex_AM_Arg_t is_long) {
  static const char answer[8] = "answer";
  check_token(token, {is_request != 0, is_long != 0, on_payload_handler,
                      reinterpret_cast<gex_AM_Fn_t>(&on_payload), &cdata_of_payload, 3,
                      static_cast<gex_Rank_t>(source)});
  const auto me = static_cast<gex_AM_Arg_t>(job().rank);
  if (!is_request)
    done.fetch_add(1, std::memory_order_release);
  else if (is_long)
    gex_AM_ReplyLong3(token, on_payload_handler, answer, 8,
                      landing(static_cast<gex_Rank_t>(source), true), GEX_EVENT_NOW, 0, 0, me, 1);
  else
    gex_AM_ReplyMedium3(token, on_payload_handler, answer, 8, GEX_EVENT_NOW, 0, 0, me, 0);
}

}  // namespace

SPEC_CASE(am_token, info) {
  const auto me = static_cast<gex_AM_Arg_t>(job().rank);
  const char data[8] = "payload";
  unsigned sent = 0;
  done.store(0, std::memory_order_relaxed);
  for (gex_Rank_t target = 0; target < job().size; ++target) {
    gex_AM_RequestShort2(job().tm, target, on_short_handler, 0, 1, me);
    gex_AM_RequestMedium3(job().tm, target, on_payload_handler, data, 8, GEX_EVENT_NOW, 0, 1, me,
                          0);
    gex_AM_RequestLong3(job().tm, target, on_payload_handler, data, 8, landing(target, false),
                        GEX_EVENT_NOW, 0, 1, me, 1);
    sent += 3;
    GASNET_BLOCKUNTIL(done.load(std::memory_order_acquire) == sent);
  }
  spec::barrier();
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
}

namespace {
std::atomic<unsigned> restricted{0};
std::atomic<unsigned> restricted_wrong{0};
void on_restricted(gex_Token_t) {
  bool good = gex_System_QueryJobRank() == job().rank && gex_System_QueryJobSize() == job().size;
  gex_Rank_t count = 0;
  gex_System_QueryNbrhdInfo(nullptr, &count, nullptr);
  good = good && count > 0;
  gex_System_QueryHostInfo(nullptr, &count, nullptr);
  good = good && count > 0;
  gex_System_QueryMyPosition(nullptr, nullptr, &count, nullptr);
  good = good && count > 0;
  good =
      good && gex_TM_QueryEP(job().tm) == job().ep && gex_EP_QueryClient(job().ep) == job().client;
  good = good && gex_TM_Pair(job().ep, 0) == gex_TM_Pair(job().ep, 0);
  good = good && gex_AM_LUBReplyMedium() >= 512 &&
         gex_AM_MaxReplyMedium(job().tm, 0, GEX_EVENT_NOW, 0, 0) >= 512;
  good = good && gex_System_GetVerboseErrors() == gex_System_GetVerboseErrors();
  good = good && gex_System_QueryMaxThreads() >= 1;
  void* const before = gex_Client_QueryCData(job().client);
  gex_Client_SetCData(job().client, &restricted);
  good = good && gex_Client_QueryCData(job().client) == &restricted;
  gex_Client_SetCData(job().client, before);
  uintptr_t size = 0;
  // One's own segment is always known at once.
  good = good && gex_EP_QueryBoundSegmentNB(job().tm, job().rank, nullptr, nullptr, &size,
                                            GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID;
  good = good && size == gex_Segment_QuerySize(job().segment);
  gex_HSL_t lock;
  gex_HSL_Init(&lock);
  good = good && gex_HSL_Trylock(&lock) == GASNET_OK;
  gex_HSL_Unlock(&lock);
  gex_HSL_Destroy(&lock);
  if (!good) restricted_wrong.fetch_add(1, std::memory_order_relaxed);
  restricted.fetch_add(1, std::memory_order_release);
}
spec::Handler restricted_handler(&on_restricted, GEX_FLAG_AM_REQUEST, "restricted context");
}  // namespace

// The calls that the specification allows inside a handler work there.
SPEC_CASE(am_token, calls_allowed_in_handlers) {
  gex_AM_RequestShort0(job().tm, job().peer(), restricted_handler, 0);
  GASNET_BLOCKUNTIL(restricted.load(std::memory_order_acquire) == 1);
  restricted.store(0, std::memory_order_relaxed);
  CHECK_EQ(restricted_wrong.exchange(0, std::memory_order_relaxed), 0u);
  spec::barrier();
}
