// The plugin's face: manifest, tables, domains.
#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "../common/module_table.h"
#include "calls.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: ofi\n"
    "version: 1.0.0\n"
    "api: \"1.0\"\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: networks that libfabric drives\n" CWY_OFI_OPTIONS);

namespace causeway::ofi {

cwy_status Conduit::list_devices(const cwy_options* opts, cwyc_device_fn fn, void* arg,
                                 cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    Options options;
    const cwy_status status = read_options(*services, opts, options, err);
    if (status != CWY_OK) return status;
    for_each_device(options, [&](const std::string& device, const std::string& description) {
      fn(arg, device.c_str(), description.c_str());
    });
    return CWY_OK;
  });
}

cwy_status Conduit::domain_open(const cwy_options* opts, const char* device, cwyc_domain** out,
                                cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    Options options;
    const cwy_status status = read_options(*services, opts, options, err);
    return status == CWY_OK ? open_domain(options, device, out, err) : status;
  });
}

void Conduit::domain_close(cwyc_domain* domain) {
  delete domain;
}

}  // namespace causeway::ofi

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  causeway::conduit::start(core, "ofi");
  *module = &causeway::conduit::Tables<causeway::ofi::Conduit>::module;
  return CWY_OK;
}
