/* gasnet_mk.h - memory kinds: GASNet-EX Memory Kinds, revision 2025.8.0, section 6.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A gex_MK_t other than GEX_MK_HOST names the memory of one device. Segments of it are made by
 * gex_Segment_Create() and bound to endpoints other than the primordial one. One library serves
 * every class: the GASNET_HAVE_MK_CLASS_* macros say for which ones this program can be compiled
 * (causeway/device_classes.h), and whether this machine has the driver and the device is
 * gex_MK_Create()'s answer. The classes below are there in any case.
 */
#ifndef _INCLUDED_GASNET_MK_H
#define _INCLUDED_GASNET_MK_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  GEX_MK_CLASS_HOST = 0,
  GEX_MK_CLASS_CUDA_UVA = 1,
  GEX_MK_CLASS_HIP = 2,
  GEX_MK_CLASS_ZE = 3,
  /* Not of the specification: a memory-kind plugin by its name, for kinds of other vendors. */
  CWY_MK_CLASS_PLUGIN = 64
} gex_MK_Class_t;

/* Zero what is not set: members may be added. */
typedef struct {
  uint64_t gex_flags; /* must be 0 */
  gex_MK_Class_t gex_class;
  union {
    struct {
      int gex_CUdevice; /* CUdevice, an ordinal */
    } gex_class_cuda_uva;
    struct {
      int gex_hipDevice;
    } gex_class_hip;
    struct {
      void* gex_zeDevice;           /* ze_device_handle_t */
      void* gex_zeContext;          /* ze_context_handle_t; stays the client's */
      uint32_t gex_zeMemoryOrdinal; /* of the device's memory */
    } gex_class_ze;
    struct {
      const char* cwy_name;       /* of the plugin: memkind_<name>.so */
      int32_t cwy_device;         /* ordinal, as `causeway explain --memkind` lists them */
      const void* cwy_native;     /* handles in the form that the plugin's README names, or NULL */
      uint64_t cwy_native_length; /* bytes there */
    } cwy_class_plugin;
  } gex_args;
} gex_MK_Create_args_t;

/* Opens a device. Not collective; any thread, not inside handlers. `flags` must be 0. On success
 * writes *kind_p, which stays valid until gex_MK_Destroy(), and returns GASNET_OK. Otherwise
 * *kind_p is untouched, one line says why (gex_System_SetVerboseErrors), and the answer is
 *   GASNET_ERR_BAD_ARG   an argument is wrong: unknown class, flags, no such device, a device
 *                        without what the class promises (unified addressing for CUDA_UVA);
 *                        GEX_MK_CLASS_HOST, whose only kind is GEX_MK_HOST
 *   GASNET_ERR_RESOURCE  this machine or configuration cannot: plugin or driver missing or too old,
 *                        device lost, no memory.
 * Uses the device's primary context (CUDA, HIP) or the one passed (ZE); makes no context current.
 */
extern int gex_MK_Create(gex_MK_t* kind_p, gex_Client_t client, const gex_MK_Create_args_t* args,
                         gex_Flags_t flags);

/* Ends a kind. Not collective. Its segments have been destroyed; `flags` must be 0. GEX_MK_HOST
 * cannot be destroyed. Misuse ends the job with one line. */
extern void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
