// The plugin's face: manifest, module table, domains.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "../common/guard.h"
#include "../common/plugin_error.h"
#include "address.h"
#include "endpoint.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: shm\n"
    "version: 1.0.0\n"
    "api: \"1.0\"\n"
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

const cwy_services* services;

void log(cwy_log_level level, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  services->log("shm", level, text);
}

namespace {

cwy_status list_devices(const cwy_options*, cwyc_device_fn fn, void* arg, cwy_err*) {
  fn(arg, "host", "shared memory of this host");
  return CWY_OK;
}

cwy_status domain_open(const cwy_options* opts, const char* device, cwyc_domain** out,
                       cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    if (device != nullptr && *device != '\0' && std::strcmp(device, "host") != 0)
      return report(err, CWY_ERR_INVALID, "device '%s' does not exist; the only one is 'host'",
                    device);
    auto domain = std::make_unique<cwyc_domain>();
    const cwy_status status = read_options(*services, opts, domain->options, err);
    if (status != CWY_OK) return status;
    const Memory memory = domain->options.memory;
    domain->posix =
        memory == Memory::posix || (memory == Memory::automatic && !descriptors_are_visible());
    domain->pid_namespace = pid_namespace();
    sweep_stale_objects();
    *out = domain.release();
    return CWY_OK;
  });
}

void domain_close(cwyc_domain* domain) {
  delete domain;
}
void fini() {}

constexpr cwyc_ops make_ops() {
  cwyc_ops o{};
  o.head = CWY_HEAD(cwyc_ops);
  o.concurrency = CWYC_MULTI;
  o.put_small = put_small;
  o.put = put;
  o.get = get;
  o.put_notify = put_notify;
  o.putv = putv;
  o.getv = getv;
  o.atomic = atomic;
  o.am_short = am_short;
  o.am_medium = am_medium;
  o.am_long = am_long;
  o.am_prepare = am_prepare;
  o.am_commit = am_commit;
  o.am_cancel = am_cancel;
  o.flush = flush;
  o.check = check;
  return o;
}
constexpr cwyc_ops ops = make_ops();
constexpr const cwyc_ops* tables[] = {&ops};

constexpr cwyc_module make_module() {
  cwyc_module m{};
  m.head = CWY_HEAD(cwyc_module);
  m.ops_count = 1;
  m.ops = tables;
  m.list_devices = list_devices;
  m.domain_open = domain_open;
  m.domain_close = domain_close;
  m.ep_open = ep_open;
  m.ep_close = ep_close;
  m.ep_query = ep_query;
  m.ep_address = ep_address;
  m.ep_threads = ep_threads;
  m.reach = reach;
  m.connect = connect;
  m.disconnect = disconnect;
  m.purge = purge;
  m.mem_alloc = mem_alloc;
  m.mem_reg = mem_reg;
  m.mem_release = mem_release;
  m.rkey_pack = rkey_pack;
  m.rkey_open = rkey_open;
  m.rkey_close = rkey_close;
  m.rkey_direct = rkey_direct;
  m.progress = progress;
  m.nap = nap;
  m.ep_stats = ep_stats;
  m.fini = fini;
  return m;
}
constexpr cwyc_module module_table = make_module();

}  // namespace
}  // namespace causeway::shm

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  causeway::shm::services = core;
  causeway::shm::probe_word = causeway::shm::random_word();
  *module = &causeway::shm::module_table;
  return CWY_OK;
}
