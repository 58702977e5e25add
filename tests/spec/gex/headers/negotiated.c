/* Negotiated payloads and handler tables as a strict client writes them: each pattern by both
 * names, and in C a table without casts. Compiled only. */
#include <gasnetex.h>

static void on_medium(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t a) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, bytes, bytes, NULL, 0, 1);
  (void)payload;
  if (sd == GEX_AM_SRCDESC_NO_OP) return;
  if (gex_AM_SrcDescSize(sd) < bytes) {
    (void)gex_AM_CancelReplyMedium(sd, 0);
    return;
  }
  if (bytes != 0) *(char*)gex_AM_SrcDescAddr(sd) = 0;
  if (a) {
    gex_AM_CommitReplyMedium(sd, 200, bytes, a);
  } else {
    gex_AM_CommitReplyMedium1(sd, 200, bytes, a);
  }
}

#ifdef __cplusplus
#define HANDLER(fn) (gex_AM_Fn_t)(fn)
#else
#define HANDLER(fn) fn
#endif
gex_AM_Entry_t table[] = {
    {0, HANDLER(on_medium), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, NULL, "medium"}};

int negotiate(gex_TM_t tm, gex_Token_t token, void* dest) {
  gex_Event_t event;
  int refused = 0;
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(tm, 0, NULL, 1, 2, NULL, 0, 0);
  gex_AM_CommitRequestMedium0(sd, 200, 1);
  gex_AM_CommitRequestMedium(sd, 200, 1);
  gex_AM_CommitRequestMedium(sd, 200, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  sd = gex_AM_PrepareRequestLong(tm, 0, dest, 1, 2, dest, &event, GEX_FLAG_IMMEDIATE, 2);
  gex_AM_CommitRequestLong2(sd, 200, 1, dest, 1, 2);
  gex_AM_CommitRequestLong(sd, 200, 1, dest, 1, 2);
  sd = gex_AM_PrepareReplyLong(token, dest, 1, 2, NULL, GEX_EVENT_NOW, 0, 2);
  gex_AM_CommitReplyLong2(sd, 200, 1, dest, 1, 2);
  gex_AM_CommitReplyLong(sd, 200, 1, dest, 1, 2);
  refused += gex_AM_CommitRequestMedium1_v2(sd, 200, 1, GEX_FLAG_IMMEDIATE, 1);
  refused += gex_AM_CommitRequestMedium_v2(sd, 200, 1, GEX_FLAG_IMMEDIATE, 1);
  refused += gex_AM_CommitReplyMedium_v2(sd, 200, 1, GEX_FLAG_IMMEDIATE);
  refused += gex_AM_CommitRequestLong_v2(sd, 200, 1, dest, GEX_FLAG_IMMEDIATE, 1);
  refused += gex_AM_CommitReplyLong3_v2(sd, 200, 1, dest, GEX_FLAG_IMMEDIATE, 1, 2, 3);
  refused += gex_AM_CommitReplyLong_v2(sd, 200, 1, dest, GEX_FLAG_IMMEDIATE, 1, 2, 3);
  return refused;
}

/* What clients find out at compile time. */
#if !defined(GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM) || GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM != 1
#error "not announced"
#endif
#if !(GASNET_SUPPORTS_AM_CANCEL >= 20240418L) || !(GASNET_SUPPORTS_AM_COMMIT_V2 >= 20240906L)
#error "not announced"
#endif
typedef char descriptors_are_pointers[sizeof(gex_AM_SrcDesc_t) == sizeof(void*) ? 1 : -1];
typedef char least_client[GEX_FLAG_AM_PREPARE_LEAST_CLIENT == 1u << 11 ? 1 : -1];
typedef char least_alloc[GEX_FLAG_AM_PREPARE_LEAST_ALLOC == 1u << 12 ? 1 : -1];
