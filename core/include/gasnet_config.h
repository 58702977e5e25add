/* gasnet_config.h - versions of this library and of the interfaces it offers.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Included by the other headers. Build systems read this file as text: each name stands on exactly
 * one line, with its number as the third word.
 */
#ifndef CAUSEWAY_GASNET_CONFIG_H
#define CAUSEWAY_GASNET_CONFIG_H

#define GASNET_RELEASE_VERSION_MAJOR 2026
#define GASNET_RELEASE_VERSION_MINOR 11
#define GASNET_RELEASE_VERSION_PATCH 0
#define GEX_SPEC_VERSION_MAJOR 0
#define GEX_SPEC_VERSION_MINOR 18
#define GASNET_SPEC_VERSION_MAJOR 1
#define GASNET_SPEC_VERSION_MINOR 8
#define GASNETT_SPEC_VERSION_MAJOR 1
#define GASNETT_SPEC_VERSION_MINOR 20

/* One build of the library serves everybody, and it is an optimised one. A client that is built
 * with GASNET_DEBUG gets `checks: full` from it, which is what a debugging build is asked for
 * elsewhere; the configuration can still say otherwise. */
#ifdef GASNET_DEBUG
#undef GASNET_DEBUG
#undef GASNET_NDEBUG
#define GASNET_DEBUG 1
#else
#undef GASNET_NDEBUG
#define GASNET_NDEBUG 1
#endif

#endif
