/* Compiled as C and as C++ of every level: the header needs nothing before it, twice is once,
 * and every inline function and macro compiles when used. */
#include <gasnet_fwd.h>
#include <gasnetex.h>

#if GASNET_SEQ + 0 != 1
#error "the mode macro is normalised to 1"
#endif
#if GASNET_PAGESIZE < 512 || GEX_AM_INDEX_BASE > 128 || SIZEOF_GEX_RMA_VALUE_T < 4
#error "constants are usable by the preprocessor"
#endif
#if !defined(_INCLUDED_GASNET_TOOLS_H) || GASNETT_SPEC_VERSION_MAJOR < 1 || \
    GASNETT_THREAD_SINGLE + 0 != 1
#error "the tools come with gasnetex.h, in the mode of the client"
#endif

static int flag;
static gex_HSL_t lock = GEX_HSL_INITIALIZER;

int use_everything(gex_TM_t tm, gex_Token_t token, void* p);
int use_everything(gex_TM_t tm, gex_Token_t token, void* p) {
  gex_Event_t event = GEX_EVENT_INVALID;
  gex_AM_Entry_t entry = {0, 0, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP, 0, 0, 0};
  gex_Memvec_t vector = {p, 8};
  int sum = (int)entry.gex_index + (int)vector.gex_len;
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
  sum += gex_AM_RequestShort(tm, 0, 200, 0);
  sum += gex_AM_RequestShort(tm, 0, 200, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  sum += gex_AM_RequestMedium(tm, 0, 200, p, 8, GEX_EVENT_NOW, 0);
  sum += gex_AM_RequestMedium(tm, 0, 200, p, 8, &event, 0, 1);
  sum += gex_AM_RequestLong(tm, 0, 200, p, 8, p, GEX_EVENT_GROUP, 0);
  sum += gex_AM_RequestLong(tm, 0, 200, p, 8, p, GEX_EVENT_NOW, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                            11, 12, 13, 14, 15, 16);
  sum += gex_AM_ReplyShort(token, 200, 0);
  sum += gex_AM_ReplyMedium(token, 200, p, 8, GEX_EVENT_NOW, 0, 1, 2);
  sum += gex_AM_ReplyLong(token, 200, p, 8, p, GEX_EVENT_NOW, 0, 1, 2, 3);
  sum += gex_AM_RequestShort0(tm, 0, 200, 0) + gex_AM_RequestShort2(tm, 0, 200, 0, -1, 2);
  sum += gex_RMA_PutBlocking(tm, 0, p, p, 8, 0) + gex_RMA_GetBlocking(tm, p, 0, p, 8, 0);
  event = gex_RMA_PutNB(tm, 0, p, p, 8, GEX_EVENT_DEFER, 0);
  sum += gex_Event_Test(event);
  gex_Event_Wait(event);
  sum += gex_RMA_PutNBI(tm, 0, p, p, 8, GEX_EVENT_DEFER, 0) + gex_RMA_GetNBI(tm, p, 0, p, 8, 0);
  gex_Event_Wait(gex_RMA_GetNB(tm, p, 0, p, 8, 0));
  sum += (int)gex_RMA_GetBlockingVal(tm, 0, p, 4, 0) + gex_RMA_PutBlockingVal(tm, 0, p, 1, 4, 0);
  sum += gex_RMA_PutNBIVal(tm, 0, p, 1, 4, 0);
  gex_Event_Wait(gex_RMA_PutNBVal(tm, 0, p, 1, 4, 0));
  if (sum)
    GASNET_BLOCKUNTIL(flag == 1);
  else
    gasnet_AMPoll();
  return sum + (int)gex_TM_QueryRank(tm) + (int)gex_TM_QuerySize(tm) + (int)gex_AM_MaxArgs() +
         (int)gex_System_QueryMaxThreads() + (int)gasnett_ticks_to_us(gasnett_ticks_now());
}
