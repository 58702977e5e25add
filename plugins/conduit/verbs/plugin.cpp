// The plugin's face: manifest, options, tables, devices.
#include <cstdlib>

#include "../common/module_table.h"
#include "calls.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: verbs\n"
    "version: 1.0.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: InfiniBand and RoCE adapters through libibverbs\n"
    "options:\n"
    "  gid_index: {type: int, default: -1, min: -1, max: 255,\n"
    "    help: 'entry of the port''s GID table; -1: RoCE v2 over IPv4 if there is one'}\n"
    "  mtu: {type: enum, choices: [auto, '256', '512', '1024', '2048', '4096'], default: auto,\n"
    "    help: largest packet; both sides use the smaller of theirs}\n"
    "  pkey_index: {type: int, default: 0, min: 0, max: 65535,\n"
    "    help: 'entry of the port''s table of partition keys'}\n"
    "  service_level: {type: int, default: 0, min: 0, max: 15,\n"
    "    help: InfiniBand service level}\n"
    "  traffic_class: {type: int, default: 0, min: 0, max: 255,\n"
    "    help: 'traffic class of routed packets, RoCE''s priority'}\n"
    "  am_medium: {type: size, default: 4KiB, min: 512, max: 1MiB,\n"
    "    help: largest payload of one active message}\n"
    "  credits: {type: int, default: 0, min: 0, max: 4096,\n"
    "    help: 'messages under way per connection and lane; 0 chooses by the size of the job'}\n"
    "  receive_buffers: {type: int, default: 0, min: 0, max: 1048576,\n"
    "    help: 'most receive buffers of an endpoint, all connections together; 0 chooses'}\n"
    "  tx_depth: {type: int, default: 128, min: 8, max: 16384,\n"
    "    help: work requests that a connection has under way}\n"
    "  inline: {type: size, default: 192, min: 0, max: 4KiB,\n"
    "    help: 'most bytes that travel inside a work request, within the device''s limit'}\n"
    "  copy_below: {type: size, default: 8KiB, min: 0, max: 1MiB,\n"
    "    help: 'local buffers that are not registered are copied up to here, and registered "
    "above'}\n"
    "  atomics: {type: enum, choices: [auto, never], default: auto,\n"
    "    help: the atomics that the device has}\n"
    "  registration_cache: {type: enum, choices: [watch, in_flight, keep], default: watch,\n"
    "    help: 'registrations of local buffers: kept and watched by userfaultfd (in_flight where "
    "the kernel refuses that), only while in use, or kept unwatched, for programs that never "
    "unmap such memory'}\n"
    "  registration_cache_bytes: {type: size, default: 256MiB, min: 0, max: 1TiB,\n"
    "    help: most bytes that are kept registered without being in use}\n"
    "  ack_timeout: {type: time, default: '0', min: 0, max: 60s,\n"
    "    help: 'wait for an acknowledgement before a packet is sent again, six times; 0: a "
    "sixteenth of peer_timeout, at most 0.5 s'}\n"
    "  peer_timeout: {type: time, default: 30s, min: 0, max: 3600s,\n"
    "    help: silence after which an idle peer is asked for a sign of life is a quarter of this}\n"
    "  first_contact: {type: enum, choices: [thread, progress], default: thread,\n"
    "    help: 'a thread answers first contacts while the program computes, or calls alone do'}\n"
    "  connect_timeout: {type: time, default: 30s, min: 1ms, max: 3600s,\n"
    "    help: a log line tells of a peer that has not answered for so long}\n");

namespace causeway::verbs {

cwy_status Options::read(const cwy_options* opts, cwy_err* err) {
  OptionReader r(*conduit::services, opts, err);
  read_shared(r);
  std::string largest;
  r.number("gid_index", gid_index);
  r.text("mtu", largest);
  r.number("pkey_index", pkey_index);
  r.number("service_level", service_level);
  r.number("traffic_class", traffic_class);
  r.number("receive_buffers", receive_buffers);
  r.number("tx_depth", tx_depth);
  r.size("inline", inline_bytes);
  r.time("ack_timeout", ack_timeout_ns);
  r.time("peer_timeout", peer_timeout_ns);
  r.choice("first_contact", {"thread", "progress"}, first_contact);
  if (r.status() != CWY_OK) return r.status();
  mtu = largest == "auto" ? 0 : std::strtoull(largest.c_str(), nullptr, 10);
  return CWY_OK;
}

}  // namespace causeway::verbs

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  return causeway::conduit::Tables<causeway::verbs::Conduit>::start(core, "verbs", module);
}
