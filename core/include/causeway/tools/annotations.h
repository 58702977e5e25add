/* causeway/tools/annotations.h - hints to compilers, and small names that clients rely on.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet_tools.h. A client may define
 * GASNETT_USE_GCC_ATTRIBUTE_x as 0 to forbid attribute x.
 */
#ifndef CAUSEWAY_TOOLS_ANNOTATIONS_H
#define CAUSEWAY_TOOLS_ANNOTATIONS_H

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef _STRINGIFY
#define _STRINGIFY_HELPER(x) #x
#define _STRINGIFY(x) _STRINGIFY_HELPER(x)
#endif
#ifndef _CONCAT
#define _CONCAT_HELPER(a, b) a##b
#define _CONCAT(a, b) _CONCAT_HELPER(a, b)
#endif

#ifdef __cplusplus
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_END_EXTERNC }
#define GASNETT_EXTERNC extern "C"
#else
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_END_EXTERNC
#define GASNETT_EXTERNC extern
#endif

/* ---- attributes ---- */
#ifndef GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE
#define GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE
#define GASNETT_INLINE(fn) static inline __attribute__((__always_inline__))
#else
#define GASNETT_INLINE(fn) static inline
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_NOINLINE
#define GASNETT_USE_GCC_ATTRIBUTE_NOINLINE 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_NOINLINE
#define GASNETT_NEVER_INLINE(fn, declarator) __attribute__((__noinline__)) declarator
#else
#define GASNETT_NEVER_INLINE(fn, declarator) declarator
#endif

#ifndef GASNETT_USE_RESTRICT
#define GASNETT_USE_RESTRICT __restrict__
#endif
#define GASNETT_RESTRICT GASNETT_USE_RESTRICT
#ifndef GASNETT_USE_RESTRICT_ON_TYPEDEFS
#define GASNETT_USE_RESTRICT_ON_TYPEDEFS 1
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_USED
#define GASNETT_USE_GCC_ATTRIBUTE_USED 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_USED
#define GASNETT_USED __attribute__((__used__))
#else
#define GASNETT_USED
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_NORETURN
#define GASNETT_USE_GCC_ATTRIBUTE_NORETURN 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_NORETURN
#define GASNETT_NORETURN __attribute__((__noreturn__))
#else
#define GASNETT_NORETURN
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_MALLOC
#define GASNETT_USE_GCC_ATTRIBUTE_MALLOC 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_MALLOC
#define GASNETT_MALLOC __attribute__((__malloc__, __warn_unused_result__))
#else
#define GASNETT_MALLOC
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT
#define GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT
#define GASNETT_WARN_UNUSED_RESULT __attribute__((__warn_unused_result__))
#else
#define GASNETT_WARN_UNUSED_RESULT
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_PURE
#define GASNETT_USE_GCC_ATTRIBUTE_PURE 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_PURE
#define GASNETT_PURE __attribute__((__pure__))
#else
#define GASNETT_PURE
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_CONST
#define GASNETT_USE_GCC_ATTRIBUTE_CONST 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_CONST
#define GASNETT_CONST __attribute__((__const__))
#else
#define GASNETT_CONST
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_HOT
#define GASNETT_USE_GCC_ATTRIBUTE_HOT 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_HOT
#define GASNETT_HOT __attribute__((__hot__))
#else
#define GASNETT_HOT
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_COLD
#define GASNETT_USE_GCC_ATTRIBUTE_COLD 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_COLD
#define GASNETT_COLD __attribute__((__cold__))
#else
#define GASNETT_COLD
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED
#define GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED
#define GASNETT_DEPRECATED __attribute__((__deprecated__))
#else
#define GASNETT_DEPRECATED
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_MAYALIAS
#define GASNETT_USE_GCC_ATTRIBUTE_MAYALIAS 1
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_FORMAT
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR_ARG
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR_ARG 1
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_FORMAT
#define GASNETT_FORMAT_PRINTF(fn, fmtidx, firstvar, declarator) \
  __attribute__((__format__(__printf__, fmtidx, firstvar))) declarator
#else
#define GASNETT_FORMAT_PRINTF(fn, fmtidx, firstvar, declarator) declarator
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR
#define GASNETT_FORMAT_PRINTF_FUNCPTR(fn, fmtidx, firstvar, declarator) \
  __attribute__((__format__(__printf__, fmtidx, firstvar))) declarator
#else
#define GASNETT_FORMAT_PRINTF_FUNCPTR(fn, fmtidx, firstvar, declarator) declarator
#endif

#ifndef GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH
#if defined(__GNUC__) && (__GNUC__ >= 7 || defined(__clang__))
#define GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH 1
#else
#define GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH 0
#endif
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH
#define GASNETT_FALLTHROUGH __attribute__((__fallthrough__));
#else
#define GASNETT_FALLTHROUGH ((void)0);
#endif

/* Pragma forms, for compilers that are not like GNU's. */
#define GASNETT_NORETURNP(fn)
#define GASNETT_MALLOCP(fn)
#define GASNETT_PUREP(fn)
#define GASNETT_CONSTP(fn)

#ifndef GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 1
#endif

/* ---- predictions and promises ---- */
#ifndef GASNETT_USE_BUILTIN_EXPECT
#define GASNETT_USE_BUILTIN_EXPECT 1
#endif
#if GASNETT_USE_BUILTIN_EXPECT
#define GASNETT_PREDICT_TRUE(e) __builtin_expect(!!(e), 1)
#define GASNETT_PREDICT_FALSE(e) __builtin_expect(!!(e), 0)
#else
#define GASNETT_PREDICT_TRUE(e) (!!(e))
#define GASNETT_PREDICT_FALSE(e) (!!(e))
#endif
#ifndef if_pf
#define if_pf(c) if (GASNETT_PREDICT_FALSE(c))
#endif
#ifndef if_pt
#define if_pt(c) if (GASNETT_PREDICT_TRUE(c))
#endif

#ifndef GASNETT_USE_BUILTIN_CONSTANT_P
#define GASNETT_USE_BUILTIN_CONSTANT_P 1
#endif
#if GASNETT_USE_BUILTIN_CONSTANT_P
#define gasnett_constant_p(e) __builtin_constant_p(e)
#else
#define gasnett_constant_p(e) 0
#endif
#ifndef GASNETT_USE_BUILTIN_PREFETCH
#define GASNETT_USE_BUILTIN_PREFETCH 1
#endif
#ifndef GASNETT_USE_BUILTIN_UNREACHABLE
#define GASNETT_USE_BUILTIN_UNREACHABLE 1
#endif
#if GASNETT_USE_BUILTIN_UNREACHABLE
#define gasnett_unreachable() __builtin_unreachable()
/* Configure scripts of clients look for this name. */
#define gasneti_builtin_unreachable() __builtin_unreachable()
#else
#define gasnett_unreachable() ((void)0)
#endif
#ifndef GASNETT_USE_ASSUME
#define GASNETT_USE_ASSUME 1
#endif
#if GASNETT_USE_ASSUME && GASNETT_USE_BUILTIN_UNREACHABLE
#define gasnett_assume(c) ((c) ? (void)0 : __builtin_unreachable())
#else
#define gasnett_assume(c) ((void)0)
#endif

/* Each argument once, in order. */
#define GASNETT_UNUSED_ARGS1(a) ((void)(a))
#define GASNETT_UNUSED_ARGS2(a, b) ((void)(a), (void)(b))
#define GASNETT_UNUSED_ARGS3(a, b, c) (GASNETT_UNUSED_ARGS2(a, b), (void)(c))
#define GASNETT_UNUSED_ARGS4(a, b, c, d) (GASNETT_UNUSED_ARGS3(a, b, c), (void)(d))
#define GASNETT_UNUSED_ARGS5(a, b, c, d, e) (GASNETT_UNUSED_ARGS4(a, b, c, d), (void)(e))
#define GASNETT_UNUSED_ARGS6(a, b, c, d, e, f) (GASNETT_UNUSED_ARGS5(a, b, c, d, e), (void)(f))
#define GASNETT_UNUSED_ARGS7(a, b, c, d, e, f, g) \
  (GASNETT_UNUSED_ARGS6(a, b, c, d, e, f), (void)(g))
#define GASNETT_UNUSED_ARGS8(a, b, c, d, e, f, g, h) \
  (GASNETT_UNUSED_ARGS7(a, b, c, d, e, f, g), (void)(h))

/* Keeps a text in the executable, whatever the linker thinks of it. The name is a symbol with
 * external linkage, so that two definitions of one are noticed. */
#define GASNETT_IDENT(name, text) \
  extern const char name[];       \
  __attribute__((__used__)) const char name[] = text

#endif
