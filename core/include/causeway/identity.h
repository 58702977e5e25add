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
#define CWY_CONDUIT_WORD smp
#elif defined(GASNET_CONDUIT_UDP)
#undef GASNET_CONDUIT_UDP
#define GASNET_CONDUIT_UDP 1
#define GASNET_CONDUIT_NAME UDP
#define GASNET_CONDUIT_NAME_STR "UDP"
#define CWY_CONDUIT_WORD udp
#elif defined(GASNET_CONDUIT_MPI)
#undef GASNET_CONDUIT_MPI
#define GASNET_CONDUIT_MPI 1
#define GASNET_CONDUIT_NAME MPI
#define GASNET_CONDUIT_NAME_STR "MPI"
#define CWY_CONDUIT_WORD mpi
#elif defined(GASNET_CONDUIT_IBV)
#undef GASNET_CONDUIT_IBV
#define GASNET_CONDUIT_IBV 1
#define GASNET_CONDUIT_NAME IBV
#define GASNET_CONDUIT_NAME_STR "IBV"
#define CWY_CONDUIT_WORD ibv
#elif defined(GASNET_CONDUIT_OFI)
#undef GASNET_CONDUIT_OFI
#define GASNET_CONDUIT_OFI 1
#define GASNET_CONDUIT_NAME OFI
#define GASNET_CONDUIT_NAME_STR "OFI"
#define CWY_CONDUIT_WORD ofi
#elif defined(GASNET_CONDUIT_UCX)
#undef GASNET_CONDUIT_UCX
#define GASNET_CONDUIT_UCX 1
#define GASNET_CONDUIT_NAME UCX
#define GASNET_CONDUIT_NAME_STR "UCX"
#define CWY_CONDUIT_WORD ucx
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
#ifdef GASNET_PSHM
#define CWY_PSHM_WORD ",pshm"
#else
#define CWY_PSHM_WORD ",nopshm"
#endif
#ifdef GASNET_DEBUG
#define CWY_DEBUG_WORD ",debug"
#else
#define CWY_DEBUG_WORD ",nodebug"
#endif
#if defined(GASNET_SEQ)
#define CWY_MODE_WORD "SEQ"
#define CWY_MODE_SUFFIX seq
#elif defined(GASNET_PARSYNC)
#define CWY_MODE_WORD "PARSYNC"
#define CWY_MODE_SUFFIX parsync
#else
#define CWY_MODE_WORD "PAR"
#define CWY_MODE_SUFFIX par
#endif

/* Equal in all objects of a program that may be linked together. */
#define GASNET_CONFIG_STRING \
  "RELEASE=" CWY_TEXT(GASNET_RELEASE_VERSION_MAJOR) "." CWY_TEXT(                    \
      GASNET_RELEASE_VERSION_MINOR) "." CWY_TEXT(GASNET_RELEASE_VERSION_PATCH) ",SPEC=" CWY_TEXT( \
      GEX_SPEC_VERSION_MAJOR) "." CWY_TEXT(GEX_SPEC_VERSION_MINOR) ",CONDUIT=" GASNET_CONDUIT_NAME_STR \
  "(" GASNET_CORE_NAME_STR "-" GASNET_CORE_VERSION_STR "/" GASNET_EXTENDED_NAME_STR  \
  "-" GASNET_EXTENDED_VERSION_STR "),THREADMODEL=" CWY_MODE_WORD ",SEGMENT=" CWY_SEGMENT_WORD ",PTR=64bit," \
  "CACHE_LINE_BYTES=64," CWY_ALIGN_WORD CWY_PSHM_WORD CWY_DEBUG_WORD ",notrace,nostats"

/* ---- identities ----
 *
 * A build that defines GASNET_CONDUIT_<NAME> links libgasnet-<name>-<mode>.a, whose one object is
 * this record. What starts a client refers to it, so that the texts in it end up in every program
 * (launchers look for them in the file) and so that objects of different modes do not link. Those
 * for GASNET_SEGMENT_EVERYTHING are installed apart from the others, and have other names. */
#ifdef CWY_CONDUIT_WORD
#ifdef GASNET_SEGMENT_EVERYTHING
#define CWY_IDENTITY__(conduit, mode) cwy_identity_##conduit##_##mode##_everything_v1
#else
#define CWY_IDENTITY__(conduit, mode) cwy_identity_##conduit##_##mode##_v1
#endif
#define CWY_IDENTITY_(conduit, mode) CWY_IDENTITY__(conduit, mode)
#define CWY_IDENTITY CWY_IDENTITY_(CWY_CONDUIT_WORD, CWY_MODE_SUFFIX)
#endif

/* All ranks of the job can map each other's memory; a job where they cannot does not start. */
#define CWY_IDENTITY_SHARED_MEMORY 1u

/* Constant, and as long as the object that holds it is loaded. */
struct cwy_identity {
  uint32_t size;             /* sizeof: later versions append */
  uint32_t promises;         /* CWY_IDENTITY_SHARED_MEMORY or 0 */
  const char* conduit;       /* "smp" */
  const char* mode;          /* "seq" */
  const char* config;        /* YAML: a source between the built-in default and the site's file */
  const char* preferred;     /* conduit of `config` to be missed aloud, "" for none */
  const char* const* idents; /* texts "$Key: value $" for readers of the file, NULL at the end */
};

#endif
