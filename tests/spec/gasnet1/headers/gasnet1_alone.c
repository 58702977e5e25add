/* Compiled as C and as C++ of every level: gasnet.h needs nothing before it, twice is once, and
 * every inline function and macro compiles when used. */
#include <gasnet.h>
#include <gasnetex.h>

#ifndef _INCLUDED_GASNET_H
#error "the include guard has the name that clients test"
#endif
#if SIZEOF_GASNET_REGISTER_VALUE_T != 8 || GASNET_SPEC_VERSION_MAJOR != 1 || GASNET_MAXNODES < 2
#error "constants are usable by the preprocessor"
#endif
#if GASNET_BARRIERFLAG_ANONYMOUS == GASNET_BARRIERFLAG_UNNAMED
#error "the flags differ"
#endif

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static int flag;

int use_everything(gasnet_token_t token, void* p);
int use_everything(gasnet_token_t token, void* p) {
  GASNET_BEGIN_FUNCTION();
  gasnet_handle_t handle = GASNET_INVALID_HANDLE;
  gasnet_seginfo_t segment = {0, 0};
  gasnet_nodeinfo_t node;
  gasnet_node_t from = 0;
  gasnet_valget_handle_t value;
  int sum = gasnet_getSegmentInfo(&segment, 1) + gasnet_getNodeInfo(&node, 1);
  sum += (int)gasnet_mynode() + (int)gasnet_nodes() + gasnet_AMGetMsgSource(token, &from);
  sum += (int)(gasnet_AMMaxArgs() + gasnet_AMMaxMedium());
  sum += (int)(gasnet_AMMaxLongRequest() + gasnet_AMMaxLongReply());
  gasnet_hsl_lock(&lock);
  gasnet_hsl_unlock(&lock);
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
  sum += gasnet_AMRequestShort0(0, 200) + gasnet_AMRequestShort2(0, 200, 1, 2);
  sum += gasnet_AMRequestMedium1(0, 200, p, 8, 1) + gasnet_AMRequestLong0(0, 200, p, 8, p);
  sum += gasnet_AMRequestLongAsync16(0, 200, p, 8, p, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                     15, 16);
  sum += gasnet_AMReplyShort0(token, 200) + gasnet_AMReplyMedium0(token, 200, p, 8);
  sum += gasnet_AMReplyLong1(token, 200, p, 8, p, 1);
  gasnet_put(0, p, p, 8);
  gasnet_get(p, 0, p, 8);
  gasnet_put_bulk(0, p, p, 8);
  gasnet_get_bulk(p, 0, p, 8);
  gasnet_memset(0, p, 0, 8);
  handle = gasnet_put_nb(0, p, p, 8);
  gasnet_wait_syncnb(handle);
  handle = gasnet_memset_nb(0, p, 0, 8);
  sum += gasnet_try_syncnb_some(&handle, 1) + gasnet_try_syncnb_all(&handle, 1);
  gasnet_begin_nbi_accessregion();
  gasnet_put_nbi_val(0, p, 1, 4);
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  value = gasnet_get_nb_val(0, p, 4);
  sum += (int)gasnet_wait_syncnb_valget(value) + (int)gasnet_get_val(0, p, 4);
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  sum += gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) + gasnet_barrier_result(&sum);
  sum += gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK);
  GASNET_BLOCKUNTIL(flag == 0);
  return sum;
}
