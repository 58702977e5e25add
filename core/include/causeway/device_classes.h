/* causeway/device_classes.h - GASNET_HAVE_MK_CLASS_*: the memory kinds a client can be compiled
 * for.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnetex.h. The library serves every class; what is present
 * on a machine is gex_MK_Create()'s answer. Clients take these macros for leave to include the
 * vendor's headers, so a class is announced where those are found with the flags of this
 * compilation. A client that needs none of them defines the macro itself.
 */
#ifndef CAUSEWAY_DEVICE_CLASSES_H
#define CAUSEWAY_DEVICE_CLASSES_H

#define GASNET_HAVE_MK_CLASS_HOST 1

#ifdef __has_include
#if __has_include(<cuda.h>) || __has_include(<cuda_runtime_api.h>)
#define CWY_CLIENT_HAS_CUDA
#endif
/* These want to be told for whose devices. */
#if __has_include(<hip/hip_runtime_api.h>) &&                                                   \
    (defined(__HIP__) || defined(__HIPCC__) || defined(__HIP_PLATFORM_AMD__) ||                 \
     defined(__HIP_PLATFORM_HCC__) || defined(__HIP_PLATFORM_NVIDIA__) ||                       \
     defined(__HIP_PLATFORM_NVCC__))
#define CWY_CLIENT_HAS_HIP
#endif
#if __has_include(<level_zero/ze_api.h>) || __has_include(<ze_api.h>)
#define CWY_CLIENT_HAS_ZE
#endif
#endif

#if defined(GASNET_HAVE_MK_CLASS_CUDA_UVA) || defined(CWY_CLIENT_HAS_CUDA)
#undef GASNET_HAVE_MK_CLASS_CUDA_UVA
#define GASNET_HAVE_MK_CLASS_CUDA_UVA 1
#endif
#if defined(GASNET_HAVE_MK_CLASS_HIP) || defined(CWY_CLIENT_HAS_HIP)
#undef GASNET_HAVE_MK_CLASS_HIP
#define GASNET_HAVE_MK_CLASS_HIP 1
#endif
#if defined(GASNET_HAVE_MK_CLASS_ZE) || defined(CWY_CLIENT_HAS_ZE)
#undef GASNET_HAVE_MK_CLASS_ZE
#define GASNET_HAVE_MK_CLASS_ZE 1
#endif
#if defined(GASNET_HAVE_MK_CLASS_CUDA_UVA) || defined(GASNET_HAVE_MK_CLASS_HIP) || \
    defined(GASNET_HAVE_MK_CLASS_ZE)
#define GASNET_HAVE_MK_CLASS_MULTIPLE 1
#endif

#endif
