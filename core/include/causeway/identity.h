/* causeway/identity.h - what a build says about itself: conduit name, configuration strings.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion. One library serves all transports; a build that was given
 * -DGASNET_CONDUIT_<NAME> carries that name, any other a neutral one. At most one of the known
 * macros may be defined, bare or as 1; it is 1 afterwards.
 */
#ifndef CAUSEWAY_IDENTITY_H
#define CAUSEWAY_IDENTITY_H

#if defined(GASNET_CONDUIT_SMP) + defined(GASNET_CONDUIT_UDP) + defined(GASNET_CONDUIT_MPI) +     \
        defined(GASNET_CONDUIT_IBV) + defined(GASNET_CONDUIT_OFI) + defined(GASNET_CONDUIT_UCX) > \
    1
#error "define at most one of GASNET_CONDUIT_SMP, _UDP, _MPI, _IBV, _OFI, _UCX"
#endif
#if defined(GASNET_CONDUIT_SMP)
#undef GASNET_CONDUIT_SMP
#define GASNET_CONDUIT_SMP 1
#define GASNET_CONDUIT_NAME SMP
#define GASNET_CONDUIT_NAME_STR "SMP"
#elif defined(GASNET_CONDUIT_UDP)
#undef GASNET_CONDUIT_UDP
#define GASNET_CONDUIT_UDP 1
#define GASNET_CONDUIT_NAME UDP
#define GASNET_CONDUIT_NAME_STR "UDP"
#elif defined(GASNET_CONDUIT_MPI)
#undef GASNET_CONDUIT_MPI
#define GASNET_CONDUIT_MPI 1
#define GASNET_CONDUIT_NAME MPI
#define GASNET_CONDUIT_NAME_STR "MPI"
#elif defined(GASNET_CONDUIT_IBV)
#undef GASNET_CONDUIT_IBV
#define GASNET_CONDUIT_IBV 1
#define GASNET_CONDUIT_NAME IBV
#define GASNET_CONDUIT_NAME_STR "IBV"
#elif defined(GASNET_CONDUIT_OFI)
#undef GASNET_CONDUIT_OFI
#define GASNET_CONDUIT_OFI 1
#define GASNET_CONDUIT_NAME OFI
#define GASNET_CONDUIT_NAME_STR "OFI"
#elif defined(GASNET_CONDUIT_UCX)
#undef GASNET_CONDUIT_UCX
#define GASNET_CONDUIT_UCX 1
#define GASNET_CONDUIT_NAME UCX
#define GASNET_CONDUIT_NAME_STR "UCX"
#else
#define GASNET_CONDUIT_NAME CAUSEWAY
#define GASNET_CONDUIT_NAME_STR "CAUSEWAY"
#endif

/* The reference has two layers with versions of their own; here they are one. */
#define GASNET_CORE_NAME GASNET_CONDUIT_NAME
#define GASNET_CORE_NAME_STR GASNET_CONDUIT_NAME_STR
#define GASNET_CORE_VERSION 1.0
#define GASNET_CORE_VERSION_STR "1.0"
#define GASNET_EXTENDED_NAME GASNET_CONDUIT_NAME
#define GASNET_EXTENDED_NAME_STR GASNET_CONDUIT_NAME_STR
#define GASNET_EXTENDED_VERSION 1.0
#define GASNET_EXTENDED_VERSION_STR "1.0"

#define CWY_TEXT_(x) #x
#define CWY_TEXT(x) CWY_TEXT_(x)

#if GASNET_ALIGNED_SEGMENTS
#define CWY_ALIGN_WORD "align"
#else
#define CWY_ALIGN_WORD "noalign"
#endif
#if defined(GASNET_SEQ)
#define CWY_MODE_WORD "SEQ"
#elif defined(GASNET_PARSYNC)
#define CWY_MODE_WORD "PARSYNC"
#else
#define CWY_MODE_WORD "PAR"
#endif

/* Equal in all objects of a program that may be linked together. */
#define GASNET_CONFIG_STRING \
  "RELEASE=" CWY_TEXT(GASNET_RELEASE_VERSION_MAJOR) "." CWY_TEXT(                    \
      GASNET_RELEASE_VERSION_MINOR) "." CWY_TEXT(GASNET_RELEASE_VERSION_PATCH) ",SPEC=" CWY_TEXT( \
      GEX_SPEC_VERSION_MAJOR) "." CWY_TEXT(GEX_SPEC_VERSION_MINOR) ",CONDUIT=" GASNET_CONDUIT_NAME_STR \
  "(" GASNET_CORE_NAME_STR "-" GASNET_CORE_VERSION_STR "/" GASNET_EXTENDED_NAME_STR  \
  "-" GASNET_EXTENDED_VERSION_STR "),THREADMODEL=" CWY_MODE_WORD ",SEGMENT=FAST,PTR=64bit," \
  "CACHE_LINE_BYTES=64," CWY_ALIGN_WORD ",pshm,nodebug,notrace,nostats"

#endif
