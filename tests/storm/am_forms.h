// Active messages with a number of arguments that is known at run time: 5, 6, 8 or 16, so that what
// stands before a payload has every length that matters to where it lies.
#pragma once

#include <gasnetex.h>

#include "random.h"

namespace storm {

inline constexpr unsigned kMostArgs = 16;
struct Args {
  unsigned count = 5;
  gex_AM_Arg_t a[kMostArgs] = {};
};
inline unsigned random_arg_count(Random& random) {
  return random.one_of({5u, 6u, 8u, 16u});
}

#define STORM_A5 x.a[0], x.a[1], x.a[2], x.a[3], x.a[4]
#define STORM_A6 STORM_A5, x.a[5]
#define STORM_A8 STORM_A6, x.a[6], x.a[7]
#define STORM_A16 STORM_A8, x.a[8], x.a[9], x.a[10], x.a[11], x.a[12], x.a[13], x.a[14], x.a[15]
// A function `name` that calls gex_AM_<Call>5, 6, 8 or 16.
#define STORM_FORM(result, name, Call, parameters, ...)   \
  inline result name parameters {                         \
    switch (x.count) {                                    \
      case 5:                                             \
        return gex_AM_##Call##5(__VA_ARGS__, STORM_A5);   \
      case 6:                                             \
        return gex_AM_##Call##6(__VA_ARGS__, STORM_A6);   \
      case 8:                                             \
        return gex_AM_##Call##8(__VA_ARGS__, STORM_A8);   \
      default:                                            \
        return gex_AM_##Call##16(__VA_ARGS__, STORM_A16); \
    }                                                     \
  }

STORM_FORM(int, request_short, RequestShort,
           (gex_TM_t tm, gex_Rank_t to, gex_AM_Index_t h, gex_Flags_t f, const Args& x), tm, to, h,
           f)
STORM_FORM(int, request_medium, RequestMedium,
           (gex_TM_t tm, gex_Rank_t to, gex_AM_Index_t h, const void* src, size_t n,
            gex_Event_t* lc, gex_Flags_t f, const Args& x),
           tm, to, h, src, n, lc, f)
STORM_FORM(int, request_long, RequestLong,
           (gex_TM_t tm, gex_Rank_t to, gex_AM_Index_t h, const void* src, size_t n, void* dst,
            gex_Event_t* lc, gex_Flags_t f, const Args& x),
           tm, to, h, src, n, dst, lc, f)
STORM_FORM(int, reply_short, ReplyShort,
           (gex_Token_t t, gex_AM_Index_t h, gex_Flags_t f, const Args& x), t, h, f)
STORM_FORM(int, reply_medium, ReplyMedium,
           (gex_Token_t t, gex_AM_Index_t h, const void* src, size_t n, gex_Event_t* lc,
            gex_Flags_t f, const Args& x),
           t, h, src, n, lc, f)
STORM_FORM(int, reply_long, ReplyLong,
           (gex_Token_t t, gex_AM_Index_t h, const void* src, size_t n, void* dst, gex_Event_t* lc,
            gex_Flags_t f, const Args& x),
           t, h, src, n, dst, lc, f)
STORM_FORM(void, commit_request_medium, CommitRequestMedium,
           (gex_AM_SrcDesc_t sd, gex_AM_Index_t h, size_t n, const Args& x), sd, h, n)
STORM_FORM(void, commit_request_long, CommitRequestLong,
           (gex_AM_SrcDesc_t sd, gex_AM_Index_t h, size_t n, void* dst, const Args& x), sd, h, n,
           dst)
STORM_FORM(void, commit_reply_medium, CommitReplyMedium,
           (gex_AM_SrcDesc_t sd, gex_AM_Index_t h, size_t n, const Args& x), sd, h, n)
STORM_FORM(void, commit_reply_long, CommitReplyLong,
           (gex_AM_SrcDesc_t sd, gex_AM_Index_t h, size_t n, void* dst, const Args& x), sd, h, n,
           dst)
#undef STORM_FORM
#undef STORM_A16
#undef STORM_A8
#undef STORM_A6
#undef STORM_A5

}  // namespace storm
