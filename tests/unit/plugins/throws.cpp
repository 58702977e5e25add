// A plugin whose init lets a C++ exception out, which the interface forbids.
#include <causeway/conduit.h>

#include <stdexcept>

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: " VARIANT_NAME
    "\n"
    "version: '1'\n"
    "api: '2.0'\n");

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services*, const cwyc_module**,
                                                  cwy_err*) {
  throw std::runtime_error("on purpose");
}
