// The plugin's face: manifest, tables, domains.
#include <cstdarg>
#include <cstdio>

#include "../common/guard.h"
#include "../common/plugin_error.h"
#include "calls.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: verbs\n"
    "version: 1.0.0\n"
    "api: \"1.0\"\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: InfiniBand and RoCE adapters through libibverbs\n" CWY_VERBS_OPTIONS);

namespace causeway::verbs {

const cwy_services* services;

void log(cwy_log_level level, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  services->log("verbs", level, text);
}

namespace {

cwy_status list_devices(const cwy_options* opts, cwyc_device_fn fn, void* arg, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    Options options;
    const cwy_status status = read_options(*services, opts, options, err);
    if (status != CWY_OK) return status;
    for_each_port(options, [&](Port&& port) { fn(arg, port.name.c_str(), port.about.c_str()); });
    return CWY_OK;
  });
}

cwy_status domain_open(const cwy_options* opts, const char* device, cwyc_domain** out,
                       cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    Options options;
    const cwy_status status = read_options(*services, opts, options, err);
    return status == CWY_OK ? open_domain(options, device, out, err) : status;
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
  o.atomic = atomic;
  o.am_short = am_short;
  o.am_medium = am_medium;
  o.am_long = am_long;
  o.am_prepare = am_prepare;
  o.am_commit = am_commit;
  o.am_cancel = am_cancel;
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
  m.mem_reg = mem_reg;
  m.mem_release = mem_release;
  m.rkey_pack = rkey_pack;
  m.rkey_open = rkey_open;
  m.rkey_close = rkey_close;
  m.progress = progress;
  m.wait_fd = wait_fd;
  m.arm = arm;
  m.ep_stats = ep_stats;
  m.fini = fini;
  return m;
}
constexpr cwyc_module module_table = make_module();

}  // namespace
}  // namespace causeway::verbs

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  causeway::verbs::services = core;
  *module = &causeway::verbs::module_table;
  return CWY_OK;
}
