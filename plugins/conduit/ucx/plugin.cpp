// The plugin's face: manifest and module table.
#include "../common/module_table.h"
#include "domain.h"
#include "endpoint.h"
#include "services.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: ucx\n"
    "version: 1.0.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: networks and shared memory through UCX\n"
    "wanted_by: [/sys/class/infiniband, /dev/kgni0, UCX_TLS, UCX_NET_DEVICES]\n"
    "exceptions: {Cycles.peers: 'UCX keeps some hundred bytes of each replaced peer, and over "
    "shared memory mappings, until its worker is destroyed'}\n"
    "options:\n"
    "  tls: {type: string, default: '',\n"
    "    help: 'transports that UCX may choose among, as UCX_TLS; empty: as UCX itself decides'}\n"
    "  settings: {type: string, default: '',\n"
    "    help: 'further settings of UCX, NAME=value separated by spaces, without the prefix "
    "UCX_'}\n"
    "  medium_max: {type: size, default: 64KiB, min: 4KiB, max: 16MiB,\n"
    "    help: largest payload of a medium active message}\n"
    "  outstanding: {type: int, default: 8192, min: 64, max: 1048576,\n"
    "    help: operations that one endpoint gives to UCX at a time}\n"
    "  peer_timeout: {type: time, default: 0s, min: 0s, max: 24h,\n"
    "    help: 'silence of a peer until it counts as failed; timeouts.peer when not set, 0s leaves "
    "it to UCX'}\n"
    "  ethernet: {type: enum, choices: [take, leave], default: take,\n"
    "    help: 'leave: not opened where there is nothing but plain Ethernet, unless tls or device "
    "are "
    "named'}\n"
    "  wakeup: {type: bool, default: true,\n"
    "    help: whether a waiting rank can sleep until something arrives}\n");

namespace causeway::ucx {

void Conduit::fini() {
  return_ucx_log();
}

}  // namespace causeway::ucx

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  causeway::conduit::Tables<causeway::ucx::Conduit>::start(core, "ucx", module);
  causeway::ucx::take_ucx_log();
  return CWY_OK;
}
