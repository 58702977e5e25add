// Queries and client data of client, endpoint, team and segment; facts about the job; error names.
#include <cstring>
#include <set>
#include <string>

#include "../harness.h"

using spec::job;
using spec::Phase;

// Would catch objects that forget what they were made with or that point at the wrong owner.
SPEC_CASE(queries, client) {
  CHECK(job().client != GEX_CLIENT_INVALID);
  CHECK_EQ(std::string(gex_Client_QueryName(job().client)), std::string("SPEC_GEX"));
  CHECK_EQ(gex_Client_QueryFlags(job().client), 0u);
}

SPEC_CASE(queries, endpoint) {
  CHECK(job().ep != GEX_EP_INVALID);
  CHECK_EQ(gex_EP_QueryClient(job().ep), job().client);
  CHECK_EQ(gex_EP_QueryFlags(job().ep), 0u);
  // The primordial endpoint has index 0.
  CHECK_EQ(gex_EP_QueryIndex(job().ep), 0);
  CHECK_EQ(gex_EP_QuerySegment(job().ep), job().segment);
}

// A new endpoint has no bound segment.
SPEC_CASE(queries, endpoint_without_segment, 1, Phase::unattached) {
  CHECK_EQ(gex_EP_QuerySegment(job().ep), GEX_SEGMENT_INVALID);
}

SPEC_CASE(queries, team) {
  CHECK(job().tm != GEX_TM_INVALID);
  CHECK_EQ(gex_TM_QueryClient(job().tm), job().client);
  CHECK_EQ(gex_TM_QueryEP(job().tm), job().ep);
  CHECK_EQ(gex_TM_QueryFlags(job().tm), 0u);
  CHECK(gex_TM_QueryRank(job().tm) < gex_TM_QuerySize(job().tm));
  // Outside resilient builds the primordial team is numbered as the job is.
  CHECK_EQ(gex_TM_QueryRank(job().tm), gex_System_QueryJobRank());
  CHECK_EQ(gex_TM_QuerySize(job().tm), gex_System_QueryJobSize());
}

SPEC_CASE(queries, segment) {
  CHECK(job().segment != GEX_SEGMENT_INVALID);
  CHECK_EQ(gex_Segment_QueryClient(job().segment), job().client);
  CHECK_EQ(gex_Segment_QueryFlags(job().segment), 0u);
  CHECK(gex_Segment_QueryAddr(job().segment) != nullptr);
  CHECK_EQ(reinterpret_cast<uintptr_t>(gex_Segment_QueryAddr(job().segment)) % GASNET_PAGESIZE, 0u);
  CHECK(gex_Segment_QuerySize(job().segment) >= spec::segment_bytes());
  CHECK_EQ(gex_Segment_QuerySize(job().segment) % GASNET_PAGESIZE, 0u);
}

// Client data is NULL on new objects, belongs to one object each, and is not shared by kinds.
SPEC_CASE(queries, client_data) {
  int of_client = 0, of_ep = 0, of_tm = 0, of_segment = 0;
  CHECK(gex_Client_QueryCData(job().client) == nullptr);
  CHECK(gex_EP_QueryCData(job().ep) == nullptr);
  CHECK(gex_TM_QueryCData(job().tm) == nullptr);
  CHECK(gex_Segment_QueryCData(job().segment) == nullptr);
  gex_Client_SetCData(job().client, &of_client);
  gex_EP_SetCData(job().ep, &of_ep);
  gex_TM_SetCData(job().tm, &of_tm);
  gex_Segment_SetCData(job().segment, &of_segment);
  CHECK(gex_Client_QueryCData(job().client) == &of_client);
  CHECK(gex_EP_QueryCData(job().ep) == &of_ep);
  CHECK(gex_TM_QueryCData(job().tm) == &of_tm);
  CHECK(gex_Segment_QueryCData(job().segment) == &of_segment);
  gex_TM_SetCData(job().tm, &of_client);
  CHECK(gex_TM_QueryCData(job().tm) == &of_client);
  CHECK(gex_EP_QueryCData(job().ep) == &of_ep);
  gex_Client_SetCData(job().client, nullptr);
  gex_EP_SetCData(job().ep, nullptr);
  gex_TM_SetCData(job().tm, nullptr);
  gex_Segment_SetCData(job().segment, nullptr);
  CHECK(gex_Client_QueryCData(job().client) == nullptr);
}

SPEC_CASE(queries, constants) {
  static_assert(GEX_SPEC_VERSION_MAJOR == 0 && GEX_SPEC_VERSION_MINOR == 18);
  static_assert(GEX_AM_INDEX_BASE <= 128);
  static_assert(static_cast<gex_Rank_t>(-1) > 0, "gex_Rank_t is unsigned");
  static_assert(GEX_RANK_INVALID > GASNET_MAXNODES);
  static_assert(SIZEOF_GEX_RMA_VALUE_T == sizeof(gex_RMA_Value_t));
  static_assert(sizeof(gex_AM_Index_t) == 1 && sizeof(gex_AM_Arg_t) == 4);
  static_assert(GASNET_OK == 0);
  CHECK(GEX_EVENT_INVALID == gex_Event_t{});
  CHECK(GEX_EVENT_NO_OP != GEX_EVENT_INVALID);
  CHECK(GEX_RANK_INVALID >= job().size);
  const std::set<gex_Event_t*> options = {nullptr, GEX_EVENT_NOW, GEX_EVENT_DEFER, GEX_EVENT_GROUP};
  CHECK_EQ(options.size(), 4u);
}

template <typename... Bits>
static bool disjoint(Bits... bits) {
  uint32_t seen = 0;
  bool ok = true;
  ((ok = ok && bits != 0 && (seen & bits) == 0, seen |= bits), ...);
  return ok;
}

// Would catch two values of one family that share a bit.
SPEC_CASE(queries, flags_are_disjoint) {
  CHECK(disjoint(GEX_FLAG_IMMEDIATE, GEX_FLAG_LC_COPY_YES, GEX_FLAG_LC_COPY_NO,
                 GEX_FLAG_PEER_NEVER_SELF, GEX_FLAG_PEER_NEVER_NBRHD, GEX_FLAG_SELF_SEG_UNKNOWN,
                 GEX_FLAG_SELF_SEG_SOME, GEX_FLAG_SELF_SEG_BOUND, GEX_FLAG_SELF_SEG_OFFSET,
                 GEX_FLAG_PEER_SEG_UNKNOWN, GEX_FLAG_PEER_SEG_SOME, GEX_FLAG_PEER_SEG_BOUND,
                 GEX_FLAG_PEER_SEG_OFFSET, GEX_FLAG_RANK_IS_JOBRANK, GEX_FLAG_AD_MY_RANK,
                 GEX_FLAG_AD_MY_NBRHD, GEX_FLAG_AD_ACQ, GEX_FLAG_AD_REL,
                 GEX_FLAG_AM_PREPARE_LEAST_CLIENT, GEX_FLAG_AM_PREPARE_LEAST_ALLOC));
  CHECK(disjoint(GEX_FLAG_AM_SHORT, GEX_FLAG_AM_MEDIUM, GEX_FLAG_AM_LONG, GEX_FLAG_AM_REQUEST,
                 GEX_FLAG_AM_REPLY));
  CHECK_EQ(GEX_FLAG_AM_MEDLONG, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG);
  CHECK_EQ(GEX_FLAG_AM_REQREP, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_REPLY);
  CHECK(disjoint(GEX_DT_I32, GEX_DT_U32, GEX_DT_I64, GEX_DT_U64, GEX_DT_FLT, GEX_DT_DBL,
                 GEX_DT_USER));
  CHECK(disjoint(GEX_EC_GET, GEX_EC_PUT, GEX_EC_AM, GEX_EC_LC, GEX_EC_RMW));
  CHECK_EQ(GEX_EC_ALL & (GEX_EC_GET | GEX_EC_PUT | GEX_EC_AM | GEX_EC_LC | GEX_EC_RMW),
           GEX_EC_GET | GEX_EC_PUT | GEX_EC_AM | GEX_EC_LC | GEX_EC_RMW);
  CHECK(disjoint(GEX_TI_SRCRANK, GEX_TI_EP, GEX_TI_ENTRY, GEX_TI_IS_REQ, GEX_TI_IS_LONG));
}

SPEC_CASE(queries, system) {
  CHECK(gex_System_QueryJobRank() < gex_System_QueryJobSize());
#ifdef GASNET_SEQ
  CHECK_EQ(gex_System_QueryMaxThreads(), 1u);
#else
  CHECK(gex_System_QueryMaxThreads() >= 2);
#endif
  const int level = gex_System_QueryHiddenAMConcurrencyLevel();
  CHECK_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), level);
  if (GASNET_HIDDEN_AM_CONCURRENCY_LEVEL == 0) CHECK_EQ(level, 0);
}

SPEC_CASE(queries, verbose_errors) {
  const int before = gex_System_GetVerboseErrors();
  CHECK(before != 0);  // messages are printed by default
  gex_System_SetVerboseErrors(0);
  CHECK_EQ(gex_System_GetVerboseErrors(), 0);
  gex_System_SetVerboseErrors(1);
  CHECK(gex_System_GetVerboseErrors() != 0);
  gex_System_SetVerboseErrors(before != 0);
}

// Would catch a code without a name, or two codes with one name.
SPEC_CASE(queries, error_names) {
  const std::pair<int, const char*> known[] = {
      {GASNET_OK, "GASNET_OK"},
      {GASNET_ERR_NOT_INIT, "GASNET_ERR_NOT_INIT"},
      {GASNET_ERR_RESOURCE, "GASNET_ERR_RESOURCE"},
      {GASNET_ERR_BAD_ARG, "GASNET_ERR_BAD_ARG"},
      {GASNET_ERR_NOT_READY, "GASNET_ERR_NOT_READY"},
      {GASNET_ERR_BARRIER_MISMATCH, "GASNET_ERR_BARRIER_MISMATCH"}};
  std::set<int> codes;
  std::set<std::string> descriptions;
  for (const auto& [code, name] : known) {
    codes.insert(code);
    CHECK_EQ(std::string(gasnet_ErrorName(code)), std::string(name));
    CHECK(std::strlen(gasnet_ErrorDesc(code)) > 0);
    descriptions.insert(gasnet_ErrorDesc(code));
  }
  CHECK_EQ(codes.size(), std::size(known));
  CHECK_EQ(descriptions.size(), std::size(known));
  CHECK(gasnet_ErrorName(-12345) != nullptr);
  CHECK(gasnet_ErrorDesc(-12345) != nullptr);
}
