/* causeway/am_calls.h - the numbered and the argument-counting names of active-message calls.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion. GASNet-EX API v0.18 "Fixed-payload AM APIs" and "Negotiated-payload
 * AM APIs": every pattern gex_AM_*[M] exists for M = 0..16, and the name without a number counts
 * its arguments. The arguments are gathered here and passed as an array, so that the library has
 * one entry per pattern.
 */
#ifndef CAUSEWAY_AM_CALLS_H
#define CAUSEWAY_AM_CALLS_H

/* Parameter lists (with leading comma) and argument lists for M arguments. */
#define CWY_P0
#define CWY_P1 , gex_AM_Arg_t a0
#define CWY_P2 CWY_P1, gex_AM_Arg_t a1
#define CWY_P3 CWY_P2, gex_AM_Arg_t a2
#define CWY_P4 CWY_P3, gex_AM_Arg_t a3
#define CWY_P5 CWY_P4, gex_AM_Arg_t a4
#define CWY_P6 CWY_P5, gex_AM_Arg_t a5
#define CWY_P7 CWY_P6, gex_AM_Arg_t a6
#define CWY_P8 CWY_P7, gex_AM_Arg_t a7
#define CWY_P9 CWY_P8, gex_AM_Arg_t a8
#define CWY_P10 CWY_P9, gex_AM_Arg_t a9
#define CWY_P11 CWY_P10, gex_AM_Arg_t a10
#define CWY_P12 CWY_P11, gex_AM_Arg_t a11
#define CWY_P13 CWY_P12, gex_AM_Arg_t a12
#define CWY_P14 CWY_P13, gex_AM_Arg_t a13
#define CWY_P15 CWY_P14, gex_AM_Arg_t a14
#define CWY_P16 CWY_P15, gex_AM_Arg_t a15
#define CWY_A0 0
#define CWY_A1 a0
#define CWY_A2 CWY_A1, a1
#define CWY_A3 CWY_A2, a2
#define CWY_A4 CWY_A3, a3
#define CWY_A5 CWY_A4, a4
#define CWY_A6 CWY_A5, a5
#define CWY_A7 CWY_A6, a6
#define CWY_A8 CWY_A7, a7
#define CWY_A9 CWY_A8, a8
#define CWY_A10 CWY_A9, a9
#define CWY_A11 CWY_A10, a10
#define CWY_A12 CWY_A11, a11
#define CWY_A13 CWY_A12, a12
#define CWY_A14 CWY_A13, a13
#define CWY_A15 CWY_A14, a14
#define CWY_A16 CWY_A15, a15

#define CWY_DEFINE_AM_CALLS(M)                                                                     \
  static inline int gex_AM_RequestShort##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,   \
                                           gex_Flags_t flags CWY_P##M) {                           \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                        \
    return cwy_am_request_short_v1(tm, rank, handler, flags, M, args);                             \
  }                                                                                                \
  static inline int gex_AM_ReplyShort##M(gex_Token_t token, gex_AM_Index_t handler,                \
                                         gex_Flags_t flags CWY_P##M) {                             \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                        \
    return cwy_am_reply_short_v1(token, handler, flags, M, args);                                  \
  }                                                                                                \
  static inline int gex_AM_RequestMedium##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,  \
                                            const void* source_addr, size_t nbytes,                \
                                            gex_Event_t* lc_opt, gex_Flags_t flags CWY_P##M) {     \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                        \
    return cwy_am_request_medium_v1(tm, rank, handler, source_addr, nbytes, lc_opt, flags, M,      \
                                    args);                                                         \
  }                                                                                                \
  static inline int gex_AM_ReplyMedium##M(gex_Token_t token, gex_AM_Index_t handler,               \
                                          const void* source_addr, size_t nbytes,                  \
                                          gex_Event_t* lc_opt, gex_Flags_t flags CWY_P##M) {       \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                        \
    return cwy_am_reply_medium_v1(token, handler, source_addr, nbytes, lc_opt, flags, M, args);    \
  }                                                                                                \
  static inline int gex_AM_RequestLong##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,    \
                                          const void* source_addr, size_t nbytes, void* dest_addr, \
                                          gex_Event_t* lc_opt, gex_Flags_t flags CWY_P##M) {       \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                        \
    return cwy_am_request_long_v1(tm, rank, handler, source_addr, nbytes, dest_addr, lc_opt,       \
                                  flags, M, args);                                                 \
  }                                                                                                \
  static inline int gex_AM_ReplyLong##M(gex_Token_t token, gex_AM_Index_t handler,                 \
                                        const void* source_addr, size_t nbytes, void* dest_addr,   \
                                        gex_Event_t* lc_opt, gex_Flags_t flags CWY_P##M) {         \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                        \
    return cwy_am_reply_long_v1(token, handler, source_addr, nbytes, dest_addr, lc_opt, flags, M,  \
                                args);                                                             \
  }
CWY_DEFINE_AM_CALLS(0)
CWY_DEFINE_AM_CALLS(1)
CWY_DEFINE_AM_CALLS(2)
CWY_DEFINE_AM_CALLS(3)
CWY_DEFINE_AM_CALLS(4)
CWY_DEFINE_AM_CALLS(5)
CWY_DEFINE_AM_CALLS(6)
CWY_DEFINE_AM_CALLS(7)
CWY_DEFINE_AM_CALLS(8)
CWY_DEFINE_AM_CALLS(9)
CWY_DEFINE_AM_CALLS(10)
CWY_DEFINE_AM_CALLS(11)
CWY_DEFINE_AM_CALLS(12)
CWY_DEFINE_AM_CALLS(13)
CWY_DEFINE_AM_CALLS(14)
CWY_DEFINE_AM_CALLS(15)
CWY_DEFINE_AM_CALLS(16)
#undef CWY_DEFINE_AM_CALLS

/* Commits. The _v2 forms are an extension: they take flags, and with GEX_FLAG_IMMEDIATE a non-zero
 * answer means that nothing was sent and the descriptor is still prepared. */
#define CWY_DEFINE_AM_COMMITS(Way, way, M)                                                        \
  static inline void gex_AM_Commit##Way##Medium##M(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,   \
                                                   size_t nbytes CWY_P##M) {                      \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                       \
    (void)cwy_am_commit_##way##_medium_v1(sd, handler, nbytes, 0, M, args);                       \
  }                                                                                               \
  static inline void gex_AM_Commit##Way##Long##M(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,     \
                                                 size_t nbytes, void* dest_addr CWY_P##M) {       \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                       \
    (void)cwy_am_commit_##way##_long_v1(sd, handler, nbytes, dest_addr, 0, M, args);              \
  }                                                                                               \
  static inline int gex_AM_Commit##Way##Medium##M##_v2(                                           \
      gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, gex_Flags_t flags CWY_P##M) {   \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                       \
    return cwy_am_commit_##way##_medium_v1(sd, handler, nbytes, flags, M, args);                  \
  }                                                                                               \
  static inline int gex_AM_Commit##Way##Long##M##_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, \
                                                     size_t nbytes, void* dest_addr,              \
                                                     gex_Flags_t flags CWY_P##M) {                \
    const gex_AM_Arg_t args[] = {CWY_A##M};                                                       \
    return cwy_am_commit_##way##_long_v1(sd, handler, nbytes, dest_addr, flags, M, args);         \
  }
CWY_DEFINE_AM_COMMITS(Request, request, 0)
CWY_DEFINE_AM_COMMITS(Reply, reply, 0)
CWY_DEFINE_AM_COMMITS(Request, request, 1)
CWY_DEFINE_AM_COMMITS(Reply, reply, 1)
CWY_DEFINE_AM_COMMITS(Request, request, 2)
CWY_DEFINE_AM_COMMITS(Reply, reply, 2)
CWY_DEFINE_AM_COMMITS(Request, request, 3)
CWY_DEFINE_AM_COMMITS(Reply, reply, 3)
CWY_DEFINE_AM_COMMITS(Request, request, 4)
CWY_DEFINE_AM_COMMITS(Reply, reply, 4)
CWY_DEFINE_AM_COMMITS(Request, request, 5)
CWY_DEFINE_AM_COMMITS(Reply, reply, 5)
CWY_DEFINE_AM_COMMITS(Request, request, 6)
CWY_DEFINE_AM_COMMITS(Reply, reply, 6)
CWY_DEFINE_AM_COMMITS(Request, request, 7)
CWY_DEFINE_AM_COMMITS(Reply, reply, 7)
CWY_DEFINE_AM_COMMITS(Request, request, 8)
CWY_DEFINE_AM_COMMITS(Reply, reply, 8)
CWY_DEFINE_AM_COMMITS(Request, request, 9)
CWY_DEFINE_AM_COMMITS(Reply, reply, 9)
CWY_DEFINE_AM_COMMITS(Request, request, 10)
CWY_DEFINE_AM_COMMITS(Reply, reply, 10)
CWY_DEFINE_AM_COMMITS(Request, request, 11)
CWY_DEFINE_AM_COMMITS(Reply, reply, 11)
CWY_DEFINE_AM_COMMITS(Request, request, 12)
CWY_DEFINE_AM_COMMITS(Reply, reply, 12)
CWY_DEFINE_AM_COMMITS(Request, request, 13)
CWY_DEFINE_AM_COMMITS(Reply, reply, 13)
CWY_DEFINE_AM_COMMITS(Request, request, 14)
CWY_DEFINE_AM_COMMITS(Reply, reply, 14)
CWY_DEFINE_AM_COMMITS(Request, request, 15)
CWY_DEFINE_AM_COMMITS(Reply, reply, 15)
CWY_DEFINE_AM_COMMITS(Request, request, 16)
CWY_DEFINE_AM_COMMITS(Reply, reply, 16)
#undef CWY_DEFINE_AM_COMMITS

/* CWY_SUFFIX(fixed count, arguments...): how many arguments come after the fixed ones. */
#define CWY_25TH(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, \
                 _19, _20, _21, _22, _23, _24, n, ...)                                            \
  n
#define CWY_AFTER_3(...)                                                                         \
  CWY_25TH(__VA_ARGS__, x, x, x, x, x, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, \
           x, x, x, x)
#define CWY_AFTER_4(...)                                                                         \
  CWY_25TH(__VA_ARGS__, x, x, x, x, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x, \
           x, x, x)
#define CWY_AFTER_5(...)                                                                         \
  CWY_25TH(__VA_ARGS__, x, x, x, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x, x, \
           x, x, x)
#define CWY_AFTER_6(...)                                                                         \
  CWY_25TH(__VA_ARGS__, x, x, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x, x, x, \
           x, x, x)
#define CWY_AFTER_7(...)                                                                         \
  CWY_25TH(__VA_ARGS__, x, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x, x, x, x, \
           x, x, x)
#define CWY_AFTER_8(...)                                                                         \
  CWY_25TH(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x, x, x, x, x, \
           x, x, x)
#define CWY_JOIN_(a, b) a##b
#define CWY_JOIN(a, b) CWY_JOIN_(a, b)

#define gex_AM_RequestShort(...) \
  CWY_JOIN(gex_AM_RequestShort, CWY_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyShort(...) CWY_JOIN(gex_AM_ReplyShort, CWY_AFTER_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestMedium(...) \
  CWY_JOIN(gex_AM_RequestMedium, CWY_AFTER_7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyMedium(...) CWY_JOIN(gex_AM_ReplyMedium, CWY_AFTER_6(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestLong(...) CWY_JOIN(gex_AM_RequestLong, CWY_AFTER_8(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyLong(...) CWY_JOIN(gex_AM_ReplyLong, CWY_AFTER_7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium(...) \
  CWY_JOIN(gex_AM_CommitRequestMedium, CWY_AFTER_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium(...) \
  CWY_JOIN(gex_AM_CommitReplyMedium, CWY_AFTER_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong(...) \
  CWY_JOIN(gex_AM_CommitRequestLong, CWY_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong(...) \
  CWY_JOIN(gex_AM_CommitReplyLong, CWY_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium_v2(...) \
  CWY_JOIN(CWY_JOIN(gex_AM_CommitRequestMedium, CWY_AFTER_4(__VA_ARGS__)), _v2)(__VA_ARGS__)
#define gex_AM_CommitReplyMedium_v2(...) \
  CWY_JOIN(CWY_JOIN(gex_AM_CommitReplyMedium, CWY_AFTER_4(__VA_ARGS__)), _v2)(__VA_ARGS__)
#define gex_AM_CommitRequestLong_v2(...) \
  CWY_JOIN(CWY_JOIN(gex_AM_CommitRequestLong, CWY_AFTER_5(__VA_ARGS__)), _v2)(__VA_ARGS__)
#define gex_AM_CommitReplyLong_v2(...) \
  CWY_JOIN(CWY_JOIN(gex_AM_CommitReplyLong, CWY_AFTER_5(__VA_ARGS__)), _v2)(__VA_ARGS__)

#endif
