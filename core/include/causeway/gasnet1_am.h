/* causeway/gasnet1_am.h - the numbered active-message calls of GASNet-1, 2.3.3 and 2.3.4.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet.h. M is 0..16.
 */
#ifndef CAUSEWAY_GASNET1_AM_H
#define CAUSEWAY_GASNET1_AM_H

/* The entry of the library wants a pointer even for no arguments; CWY_A0 is a dummy. All calls
 * return GASNET_OK; without GEX_FLAG_IMMEDIATE the library's entries have no other answer.
 *
 * LongAsync leaves its source to the network until the reply's handler runs, so nobody waits for
 * its local completion: it is counted with the thread's implicit messages, which no call of
 * GASNet-1 synchronises. */
#define CWY_DEFINE_GASNET1_REQUESTS(M)                                                            \
  static inline int gasnet_AMRequestShort##M(gasnet_node_t dest,                                  \
                                             gasnet_handler_t handler CWY_P##M) {                 \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                       \
    return cwy_am_request_short_v1(cwy_gasnet1_team("gasnet_AMRequestShort()"), dest, handler, 0, \
                                   M, args);                                                      \
  }                                                                                               \
  static inline int gasnet_AMRequestMedium##M(gasnet_node_t dest, gasnet_handler_t handler,       \
                                              const void* source_addr, size_t nbytes CWY_P##M) {  \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                       \
    return cwy_am_request_medium_v1(cwy_gasnet1_team("gasnet_AMRequestMedium()"), dest, handler,  \
                                    source_addr, nbytes, GEX_EVENT_NOW, 0, M, args);              \
  }                                                                                               \
  static inline int gasnet_AMRequestLong##M(gasnet_node_t dest, gasnet_handler_t handler,         \
                                            const void* source_addr, size_t nbytes,               \
                                            void* dest_addr CWY_P##M) {                           \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                       \
    return cwy_am_request_long_v1(cwy_gasnet1_team("gasnet_AMRequestLong()"), dest, handler,      \
                                  source_addr, nbytes, dest_addr, GEX_EVENT_NOW, 0, M, args);     \
  }                                                                                               \
  static inline int gasnet_AMRequestLongAsync##M(gasnet_node_t dest, gasnet_handler_t handler,    \
                                                 const void* source_addr, size_t nbytes,          \
                                                 void* dest_addr CWY_P##M) {                      \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                       \
    return cwy_am_request_long_v1(cwy_gasnet1_team("gasnet_AMRequestLongAsync()"), dest, handler, \
                                  source_addr, nbytes, dest_addr, GEX_EVENT_GROUP, 0, M, args);   \
  }
#define CWY_DEFINE_GASNET1_REPLIES(M)                                                              \
  static inline int gasnet_AMReplyShort##M(gasnet_token_t token,                                   \
                                           gasnet_handler_t handler CWY_P##M) {                    \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                        \
    return cwy_am_reply_short_v1(token, handler, 0, M, args);                                      \
  }                                                                                                \
  static inline int gasnet_AMReplyMedium##M(gasnet_token_t token, gasnet_handler_t handler,        \
                                            const void* source_addr, size_t nbytes CWY_P##M) {     \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                        \
    return cwy_am_reply_medium_v1(token, handler, source_addr, nbytes, GEX_EVENT_NOW, 0, M, args); \
  }                                                                                                \
  static inline int gasnet_AMReplyLong##M(gasnet_token_t token, gasnet_handler_t handler,          \
                                          const void* source_addr, size_t nbytes,                  \
                                          void* dest_addr CWY_P##M) {                              \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                        \
    return cwy_am_reply_long_v1(token, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW, 0,  \
                                M, args);                                                          \
  }
#define CWY_DEFINE_GASNET1_AM(M) \
  CWY_DEFINE_GASNET1_REQUESTS(M) \
  CWY_DEFINE_GASNET1_REPLIES(M)

CWY_DEFINE_GASNET1_AM(0)
CWY_DEFINE_GASNET1_AM(1)
CWY_DEFINE_GASNET1_AM(2)
CWY_DEFINE_GASNET1_AM(3)
CWY_DEFINE_GASNET1_AM(4)
CWY_DEFINE_GASNET1_AM(5)
CWY_DEFINE_GASNET1_AM(6)
CWY_DEFINE_GASNET1_AM(7)
CWY_DEFINE_GASNET1_AM(8)
CWY_DEFINE_GASNET1_AM(9)
CWY_DEFINE_GASNET1_AM(10)
CWY_DEFINE_GASNET1_AM(11)
CWY_DEFINE_GASNET1_AM(12)
CWY_DEFINE_GASNET1_AM(13)
CWY_DEFINE_GASNET1_AM(14)
CWY_DEFINE_GASNET1_AM(15)
CWY_DEFINE_GASNET1_AM(16)
#undef CWY_DEFINE_GASNET1_AM
#undef CWY_DEFINE_GASNET1_REQUESTS
#undef CWY_DEFINE_GASNET1_REPLIES

#endif
