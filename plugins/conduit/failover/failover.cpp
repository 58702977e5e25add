// The conduit `failover`: messages go over one of two conduits, and over the other one when that
// stops working.
//
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <memory>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "../common/option_reader.h"
#include "calls.h"
#include "module.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: failover\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: two conduits to the same peers, of which one may fail\n"
    "options:\n"
    "  over: {type: string, default: ofi, help: 'the conduit that is used while it works: a "
    "configured name, or a plugin'}\n"
    "  spare: {type: string, default: eth, help: 'the conduit that is used meanwhile'}\n"
    "  am_medium: {type: size, default: 12KiB, min: 512, max: 16MiB, help: 'largest payload of one "
    "active message; both conduits must carry 80 bytes more'}\n"
    "  window: {type: int, default: 64, min: 8, max: 4096, help: 'messages per peer and lane "
    "that are not acknowledged; rounded up to a power of 2'}\n"
    "  probe_after: {type: time, default: 200ms, min: 1ms, max: 3600s, help: 'without an "
    "acknowledgement, until both paths are asked'}\n"
    "  patience: {type: time, default: 300ms, min: 1ms, max: 3600s, help: 'that a path may "
    "answer later than the other one'}\n"
    "  retry: {type: time, default: 1s, min: 1ms, max: 3600s, help: 'until a lost path is tried "
    "again'}\n"
    "  peer_timeout: {type: time, default: 30s, min: 1ms, max: 24h, help: 'without success over "
    "either path until a peer counts as failed; timeouts.peer when not set'}\n");

namespace causeway::failover {

wrapping::EndpointTable<Endpoint> endpoints;

namespace {

wrapping::ColdMap<Front*> by_options;

// From `configure` to `fini`: calls may come until then.
std::vector<std::unique_ptr<Front>>& fronts() {
  static auto* const all = new std::vector<std::unique_ptr<Front>>;
  return *all;
}

cwy_status read_options(const cwy_options* opts, Options& out, cwy_err* err) {
  OptionReader r(*services, opts, err);
  r.size("am_medium", out.am_medium);
  r.number("window", out.window);
  r.time("probe_after", out.probe_after_ns);
  r.time("patience", out.patience_ns);
  r.time("retry", out.retry_ns);
  r.time("peer_timeout", out.peer_timeout_ns);
  out.window = std::bit_ceil(out.window);
  return r.status();
}

cwy_status take_behind(const cwy_options* opts, const char* key, std::unique_ptr<Behind>& out,
                       cwy_err* err) {
  cwy_wrapped wrapped;
  const cwy_status status = wrapping::wrap(*services, opts, key, wrapped, err);
  if (status != CWY_OK) return status;
  out = std::make_unique<Behind>(wrapped);
  const char* name = "";
  services->opt_string(opts, key, &name);
  out->name = name;
  return CWY_OK;
}

cwy_status configure(const cwy_options* opts, const cwyc_module** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    auto front = std::make_unique<Front>();
    cwy_status status = read_options(opts, front->options, err);
    if (status == CWY_OK) status = take_behind(opts, "over", front->behind[0], err);
    if (status == CWY_OK) status = take_behind(opts, "spare", front->behind[1], err);
    if (status != CWY_OK) return status;
    if (front->behind[0]->name == front->behind[1]->name)
      return report(err, CWY_ERR_INVALID,
                    "over and spare are both '%s'; two conduits are expected, which may be of one "
                    "plugin with two devices",
                    front->behind[0]->name.c_str());
    by_options.set(opts, front.get());
    // The same for all, for a call finds its front by the options or the domain.
    *out = &conduit::Tables<Conduit>::module;
    fronts().push_back(std::move(front));
    return CWY_OK;
  });
}

void fini() {
  fronts().clear();
}

using Idle = conduit::Tables<wrapping::Unconfigured<configure, fini>>;

}  // namespace

Front* front_of(const cwy_options* opts) {
  return by_options.get(opts);
}

}  // namespace causeway::failover

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  return causeway::failover::Idle::start(core, "failover", module);
}
