// The plugin's face: manifest, options, tables, devices.
#include "../common/module_table.h"
#include "calls.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: ofi\n"
    "version: 1.0.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: networks that libfabric drives\n"
    "wanted_by: [/sys/class/infiniband, /sys/class/cxi, /sys/class/cxi_user, FI_PROVIDER]\n"
    "exceptions:\n"
    "  Rma.released_registration_is_out_of_reach with provider=shm: libfabric reports nothing of a "
    "put to released memory\n"
    "  Failure.killed_* with provider=shm: 'who is killed inside libfabric may hold a lock in "
    "shared "
    "memory, for which others wait for ever'\n"
    "options:\n"
    "  provider: {type: string, default: '',\n"
    "    help: 'libfabric provider as fi_info prints it, such as tcp or tcp;ofi_rxm; empty: the "
    "best usable one'}\n"
    "  domain: {type: string, default: '',\n"
    "    help: 'libfabric domain or local address; the same as device, which has precedence'}\n"
    "  endpoint: {type: enum, choices: [auto, msg, rdm], default: auto,\n"
    "    help: connected (msg) or reliable-datagram (rdm) endpoints}\n"
    "  tx_size: {type: int, default: 0, min: 0, max: 1048576,\n"
    "    help: operations in the hands of the provider; 0 takes its default}\n"
    "  rx_size: {type: int, default: 0, min: 0, max: 1048576,\n"
    "    help: receive buffers in the hands of the provider; 0 takes its default}\n"
    "  cq_size: {type: int, default: 0, min: 0, max: 1048576,\n"
    "    help: 'completions that the queue has room for, twice as many as operations under way; 0: "
    "the "
    "provider''s default, and for adapters all that may be outstanding'}\n"
    "  am_medium: {type: size, default: 16KiB, min: 512, max: 16MiB,\n"
    "    help: largest payload of one active message}\n"
    "  credits: {type: int, default: 0, min: 0, max: 4096,\n"
    "    help: messages under way per connection and lane; 0 chooses by the size of the job}\n"
    "  multi_receive: {type: enum, choices: [auto, always, never], default: auto,\n"
    "    help: 'buffers that take several messages, where the provider has them; auto: but not "
    "over shm'}\n"
    "  multi_receive_bytes: {type: size, default: 1MiB, min: 64KiB, max: 1GiB,\n"
    "    help: 'bytes of one such buffer, four of the largest messages at least'}\n"
    "  inject: {type: size, default: 64KiB, min: 0, max: 1GiB,\n"
    "    help: most bytes given to inject calls, within the provider's limit}\n"
    "  copy_below: {type: size, default: 8KiB, min: 0, max: 1MiB,\n"
    "    help: local buffers that need a registration and have none are copied up to here}\n"
    "  delivery: {type: enum, choices: [auto, complete, read, never], default: auto,\n"
    "    help: 'how a put knows that its data is visible: delivery-complete, a read behind it; "
    "never leaves puts to the core'}\n"
    "  atomics: {type: enum, choices: [auto, never], default: auto,\n"
    "    help: the atomics that the provider has}\n"
    "  wait: {type: enum, choices: [auto, always, never], default: auto,\n"
    "    help: 'a descriptor to sleep on, where the provider has one; auto: where the host has "
    "more ranks than processors'}\n"
    "  progress: {type: enum, choices: [manual, auto], default: manual,\n"
    "    help: who moves data forward; auto may start a thread of the provider}\n"
    "  registration_cache: {type: enum, choices: [watch, in_flight, keep], default: watch,\n"
    "    help: 'registrations of local buffers: kept and watched by userfaultfd (in_flight where "
    "the kernel refuses that), only while in use, or kept unwatched, for programs that never "
    "unmap such memory'}\n"
    "  registration_cache_entries: {type: int, default: 1024, min: 1, max: 1048576,\n"
    "    help: 'most registrations that are kept while not in use'}\n"
    "  registration_cache_bytes: {type: size, default: 1GiB, min: 4KiB,\n"
    "    help: 'most bytes of those'}\n"
    "  ethernet: {type: enum, choices: [take, leave], default: take,\n"
    "    help: 'leave: not the choice over plain Ethernet, unless provider or device are named'}\n"
    "  hmem: {type: bool, default: false,\n"
    "    help: ask the provider for device memory}\n"
    "  allow_faulty: {type: bool, default: false,\n"
    "    help: take a provider that is refused because it is known to crash or hang}\n"
    "  connect_timeout: {type: time, default: 30s, min: 1ms, max: 3600s,\n"
    "    help: a log line tells of a peer that has not answered for so long}\n");

namespace causeway::ofi {

cwy_status Options::read(const cwy_options* opts, cwy_err* err) {
  OptionReader r(*conduit::services, opts, err);
  read_shared(r);
  r.text("provider", provider);
  r.text("domain", domain);
  r.choice("endpoint", {"auto", "msg", "rdm"}, endpoint);
  r.number("tx_size", tx_size);
  r.number("rx_size", rx_size);
  r.number("cq_size", cq_size);
  r.choice("multi_receive", {"auto", "always", "never"}, multi_receive);
  r.size("multi_receive_bytes", multi_receive_bytes);
  r.size("inject", inject);
  r.choice("delivery", {"auto", "complete", "read", "never"}, delivery);
  r.choice("wait", {"auto", "always", "never"}, wait);
  r.choice("progress", {"manual", "auto"}, progress);
  r.number("registration_cache_entries", registration_cache_entries);
  r.choice("ethernet", {"take", "leave"}, ethernet);
  r.flag("hmem", hmem);
  r.flag("allow_faulty", allow_faulty);
  return r.status();
}

}  // namespace causeway::ofi

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  return causeway::conduit::Tables<causeway::ofi::Conduit>::start(core, "ofi", module);
}
