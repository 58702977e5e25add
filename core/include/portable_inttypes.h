/* portable_inttypes.h - integer types of fixed width and their printf pieces, in C and in every
 * C++.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Stands alone.
 */
#ifndef _PORTABLE_INTTYPES_H
#define _PORTABLE_INTTYPES_H

/* Some C libraries want to be asked before they define the macros for C++. */
#ifndef __STDC_FORMAT_MACROS
#define __STDC_FORMAT_MACROS 1
#endif
#ifndef __STDC_LIMIT_MACROS
#define __STDC_LIMIT_MACROS 1
#endif
#ifndef __STDC_CONSTANT_MACROS
#define __STDC_CONSTANT_MACROS 1
#endif
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

/* size_t and ptrdiff_t */
#ifndef PRIuSZ
#define PRIdSZ "zd"
#define PRIiSZ "zi"
#define PRIoSZ "zo"
#define PRIuSZ "zu"
#define PRIxSZ "zx"
#define PRIXSZ "zX"
#endif
#ifndef PRIdPD
#define PRIdPD "td"
#define PRIiPD "ti"
#define PRIoPD "to"
#define PRIuPD "tu"
#define PRIxPD "tx"
#define PRIXPD "tX"
#endif

#endif
