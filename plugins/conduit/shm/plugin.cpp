// The plugin's face: manifest, module table, domains.

#include <cstring>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "../common/adapter_facts.h"
#include "../common/module_table.h"
#include "address.h"
#include "endpoint.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: shm\n"
    "version: 1.0.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: processes of one host, through shared memory\n"
    "options:\n"
    "  memory: {type: enum, choices: [auto, memfd, posix], default: auto,\n"
    "    help: what shared memory is made of; memfd leaves nothing behind whatever happens}\n"
    "  ring_bytes: {type: size, default: 0, min: 0, max: 256MiB,\n"
    "    help: 'bytes of one message queue, a multiple of 4 KiB; 0 chooses by the ranks of the "
    "host'}\n"
    "  connections: {type: int, default: 0, min: 0, max: 65536,\n"
    "    help: most senders to one endpoint; 0 chooses by the ranks of the host}\n"
    "  huge_pages: {type: enum, choices: [never, try, require], default: never,\n"
    "    help: huge pages for segments}\n"
    "  numa: {type: enum, choices: [first_touch, local, interleave], default: first_touch,\n"
    "    help: 'node of the pages of a segment: of who touches first, of the owner, or all in "
    "turn'}\n"
    "  reserve: {type: enum, choices: [auto, always, never], default: auto,\n"
    "    help: whether the pages of a segment are taken when it is made; auto does so for POSIX "
    "only}\n"
    "  cma: {type: enum, choices: [auto, never, require], default: auto,\n"
    "    help: cross-memory attach for memory that the client allocated}\n"
    "  wakeup: {type: enum, choices: [auto, membarrier, bounded], default: auto,\n"
    "    help: how a sleeper avoids missing a message}\n");

namespace causeway::shm {

cwy_status Conduit::list_devices(const cwy_options*, cwyc_device_fn fn, void* arg, cwy_err*) {
  AdapterFacts facts;
  facts.state = CWYC_DEVICE_UP;
  tell_device(fn, arg, "host", "shared memory of this host", facts);
  return CWY_OK;
}

cwy_status Conduit::domain_open(const cwy_options* opts, const cwyc_domain_params* params,
                                cwyc_domain** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    if (*params->device != '\0' && std::strcmp(params->device, "host") != 0)
      return report(err, CWY_ERR_INVALID, "device '%s' does not exist; the only one is 'host'",
                    params->device);
    auto domain = std::make_unique<cwyc_domain>();
    const cwy_status status = read_options(*services, opts, domain->options, err);
    if (status != CWY_OK) return status;
    const Memory memory = domain->options.memory;
    domain->posix = memory == Memory::posix || (memory == Memory::automatic && !memfds_serve());
    domain->pid_namespace = pid_namespace();
    std::memcpy(&domain->job, params->job_key, sizeof domain->job);
    sweep_stale_objects();
    *out = domain.release();
    return CWY_OK;
  });
}

}  // namespace causeway::shm

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  causeway::conduit::Tables<causeway::shm::Conduit>::start(core, "shm", module);
  causeway::shm::probe_word = causeway::shm::random_word();
  return CWY_OK;
}
