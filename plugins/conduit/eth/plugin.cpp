// The plugin's face: manifest, options, tables, devices.
#include <set>

#include "../common/adapter_facts.h"
#include "../common/module_table.h"
#include "calls.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: eth\n"
    "version: 1.0.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: Ethernet, by the kernel's own sockets\n"
    "options:\n"
    "  am_medium: {type: size, default: 64KiB, min: 512, max: 16MiB,\n"
    "    help: largest payload of one active message}\n"
    "  credits: {type: int, default: 0, min: 0, max: 4096,\n"
    "    help: messages under way per connection and lane; 0 chooses by the size of the job}\n"
    "  atomics: {type: enum, choices: [auto, never], default: auto,\n"
    "    help: by the progress of the process that owns the memory}\n"
    "  socket_buffer: {type: size, default: 0, min: 0, max: 1GiB,\n"
    "    help: 'bytes that the kernel keeps each way per connection, 16KiB at least; 0: as many as "
    "it finds right'}\n"
    "  connections: {type: int, default: 0, min: 0, max: 1000000,\n"
    "    help: 'of an endpoint at once, 8 at least: quiet ones are closed for others; 0: three "
    "quarters of the limit of open files'}\n"
    "  datagrams: {type: bool, default: true,\n"
    "    help: 'for what is small, beside the stream, where they arrive'}\n"
    "  peer_timeout: {type: time, default: 30s, min: 1ms, max: 24h,\n"
    "    help: 'silence of a host until it counts as failed, in whole seconds; timeouts.peer when "
    "not set'}\n"
    "  connect_timeout: {type: time, default: 30s, min: 1ms, max: 3600s,\n"
    "    help: silence of a host until a connection to it fails}\n");

namespace causeway::eth {

cwy_status Options::read(const cwy_options* opts, cwy_err* err) {
  OptionReader r(*conduit::services, opts, err);
  read_basic(r);
  r.size("socket_buffer", socket_buffer);
  r.number("connections", connections);
  r.flag("datagrams", datagrams);
  r.time("peer_timeout", peer_timeout_ns);
  if (r.status() == CWY_OK && connections != 0 && connections < 8)
    return report(err, CWY_ERR_INVALID,
                  "option 'connections' is %llu; expected 8 at least, or 0: by ulimit -n",
                  static_cast<unsigned long long>(connections));
  // Jobs of 2 ranks that took 8 s with 16 KiB took minutes with 4: each few packets wait for an
  // acknowledgement.
  constexpr uint64_t least = 16 << 10;
  if (r.status() == CWY_OK && socket_buffer != 0 && socket_buffer < least)
    return report(err, CWY_ERR_INVALID,
                  "option 'socket_buffer' is %llu, with which everything would crawl; expected "
                  "16KiB at least, or 0, which leaves it to the kernel",
                  static_cast<unsigned long long>(socket_buffer));
  return r.status();
}

// An interface with several addresses is one device: a peer gets all of them.
void Network::list_devices(const Options&, cwyc_device_fn fn, void* arg) {
  std::set<std::string> listed;
  const std::vector<Interface> all = find_interfaces();
  for (const Interface& one : all) {
    if (!listed.insert(one.name).second) continue;
    std::string addresses;
    for (const Interface& other : all)
      if (other.name == one.name)
        addresses += (addresses.empty() ? "" : ", ") + text_of(other.place);
    tell_device(fn, arg, one.name, addresses, interface_facts(one.name));
  }
}

}  // namespace causeway::eth

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  return causeway::conduit::Tables<causeway::eth::Conduit>::start(core, "eth", module);
}
