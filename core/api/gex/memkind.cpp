// gex_MK_*: "Memory Kinds" 6.3.
#include "kinds/memkind.h"

#include "am/send.h"
#include "api/export.h"
#include "api/refuse.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "object/client.h"

using namespace causeway;

namespace {

// The arguments of open_device() that name a device.
struct Wish {
  std::string plugin;
  int32_t ordinal = 0;
  std::string native;
};

// The form in which the plugin `ze` takes the client's handles (plugins/memkind/ze/README.md).
struct ZeNative {
  void* device;
  void* context;
  uint64_t memory_ordinal;
};

// Throws Error(CWY_ERR_INVALID).
Wish wish_of(const gex_MK_Create_args_t& args) {
  switch (static_cast<int>(args.gex_class)) {
    case GEX_MK_CLASS_HOST:
      throw Error(CWY_ERR_INVALID, "the kind of host memory is GEX_MK_HOST and is not created");
    case GEX_MK_CLASS_CUDA_UVA:
      return {"cuda", args.gex_args.gex_class_cuda_uva.gex_CUdevice, {}};
    case GEX_MK_CLASS_HIP:
      return {"hip", args.gex_args.gex_class_hip.gex_hipDevice, {}};
    case GEX_MK_CLASS_ZE: {
      const auto& ze = args.gex_args.gex_class_ze;
      if (ze.gex_zeDevice == nullptr || ze.gex_zeContext == nullptr)
        throw Error(CWY_ERR_INVALID, "gex_zeDevice and gex_zeContext must not be NULL");
      const ZeNative native{ze.gex_zeDevice, ze.gex_zeContext, ze.gex_zeMemoryOrdinal};
      // Which ordinal the handle has is for the plugin to find out.
      return {"ze", -1, std::string(reinterpret_cast<const char*>(&native), sizeof native)};
    }
    case CWY_MK_CLASS_PLUGIN: {
      const auto& plugin = args.gex_args.cwy_class_plugin;
      if (plugin.cwy_name == nullptr) throw Error(CWY_ERR_INVALID, "cwy_name is NULL");
      if (plugin.cwy_native == nullptr && plugin.cwy_native_length != 0)
        throw Error(CWY_ERR_INVALID, "cwy_native is NULL, with {} bytes", plugin.cwy_native_length);
      return {
          plugin.cwy_name, plugin.cwy_device,
          plugin.cwy_native == nullptr
              ? std::string()
              : std::string(static_cast<const char*>(plugin.cwy_native), plugin.cwy_native_length)};
    }
    default:
      throw Error(CWY_ERR_INVALID, "gex_class {} is not one of GEX_MK_CLASS_*",
                  static_cast<int>(args.gex_class));
  }
}

}  // namespace

CAUSEWAY_API int gex_MK_Create(gex_MK_t* kind_p, gex_Client_t client,
                               const gex_MK_Create_args_t* args, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_MK_Create()";
  require_client_context(kCall);
  if (kind_p == nullptr || client == GEX_CLIENT_INVALID || args == nullptr)
    return refuse(kCall, GASNET_ERR_BAD_ARG, "kind_p, client or args is missing");
  flags = flags_of_call(kCall, flags, 0);
  if (flags != 0 || args->gex_flags != 0)
    return refuse(kCall, GASNET_ERR_BAD_ARG, "flags and gex_flags must be 0");
  return guarded(kCall, [&] {
    const Wish wish = wish_of(*args);
    auto device = open_device(wish.plugin, wish.ordinal, wish.native);
    *kind_p = as_c(std::make_unique<MemKind>(as(client), std::move(device)).release());
  });
}

CAUSEWAY_API void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_MK_Destroy()";
  require_no_flags(kCall, flags);
  if (kind == GEX_MK_INVALID) fatal(kCall, "kind is GEX_MK_INVALID");
  if (kind == GEX_MK_HOST) fatal(kCall, "GEX_MK_HOST cannot be destroyed");
  MemKind* const own = as(kind);
  if (own->segments() != 0) {
    fatal(kCall, "{} segment(s) of {} exist; destroy them first", own->segments(),
          own->device().name());
  }
  delete own;
}
