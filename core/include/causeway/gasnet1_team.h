/* causeway/gasnet1_team.h - the team that GASNet-1 calls mean.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet.h, and of the older half of gasnet_vis.h.
 */
#ifndef CAUSEWAY_GASNET1_TEAM_H
#define CAUSEWAY_GASNET1_TEAM_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* GEX_TM_INVALID until attached. Written once, before any other thread may be in the library. */
extern gex_TM_t cwy_gasnet1_team_v1;
extern void cwy_gasnet1_missing_v1(const char* call) __attribute__((noreturn, cold));

/* One predicted branch: GASNet-1 has no object that a caller could only have after
 * initialisation, so this is the one place where that mistake can be told from a wild pointer. */
static inline gex_TM_t cwy_gasnet1_team(const char* call) {
  gex_TM_t tm = cwy_gasnet1_team_v1;
  if (__builtin_expect(tm == GEX_TM_INVALID, 0)) cwy_gasnet1_missing_v1(call);
  return tm;
}

#ifdef __cplusplus
}
#endif
#endif
