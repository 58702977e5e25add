// The plugin's face: manifest and module table.
#include "domain.h"
#include "endpoint.h"
#include "services.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: ucx\n"
    "version: 1.0.0\n"
    "api: \"1.0\"\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: networks and shared memory through UCX\n"
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
    "  wakeup: {type: bool, default: true,\n"
    "    help: whether a waiting rank can sleep until something arrives}\n");

namespace causeway::ucx {
namespace {

cwy_status ep_threads(cwyc_ep*, uint32_t) {
  return CWY_OK;  // the core lets one thread in at a time
}

void fini() {
  return_ucx_log();
}

constexpr cwyc_ops make_ops() {
  cwyc_ops o{};
  o.head = CWY_HEAD(cwyc_ops);
  o.concurrency = CWYC_SERIAL;
  o.put_small = put_small;
  o.put = put;
  o.get = get;
  o.atomic = atomic;
  o.am_short = am_short;
  o.am_medium = am_medium;
  o.am_long = am_long;
  o.am_prepare = am_prepare;
  o.am_commit = am_commit;
  o.am_cancel = am_cancel;
  o.flush = flush;
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
  m.wait_fd = wait_fd;
  m.arm = arm;
  m.ep_stats = ep_stats;
  m.fini = fini;
  return m;
}
constexpr cwyc_module module_table = make_module();

}  // namespace
}  // namespace causeway::ucx

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  causeway::ucx::services = core;
  causeway::ucx::take_ucx_log();
  *module = &causeway::ucx::module_table;
  return CWY_OK;
}
