#include "options.h"

#include "../common/option_reader.h"

namespace causeway::ofi {

cwy_status read_options(const cwy_services& services, const cwy_options* opts, Options& out,
                        cwy_err* err) {
  static constexpr const char* endpoints[] = {"auto", "msg", "rdm"};
  static constexpr const char* or_never[] = {"auto", "never"};
  static constexpr const char* multi[] = {"auto", "always", "never"};
  static constexpr const char* delivery[] = {"auto", "complete", "read", "never"};
  static constexpr const char* wait[] = {"auto", "always", "never"};
  static constexpr const char* progress[] = {"manual", "auto"};
  OptionReader r(services, opts, err);
  r.text("provider", out.provider);
  r.text("domain", out.domain);
  r.choice("endpoint", endpoints, out.endpoint);
  r.number("tx_size", out.tx_size);
  r.number("rx_size", out.rx_size);
  r.size("am_medium", out.am_medium);
  r.number("credits", out.credits);
  r.choice("multi_receive", multi, out.multi_receive);
  r.size("multi_receive_bytes", out.multi_receive_bytes);
  r.size("inject", out.inject);
  r.size("copy_below", out.copy_below);
  r.choice("delivery", delivery, out.delivery);
  r.choice("atomics", or_never, out.atomics);
  r.choice("wait", wait, out.wait);
  r.choice("progress", progress, out.progress);
  r.choice("registration_cache", fabric::caching_words, out.registration_cache);
  r.number("registration_cache_entries", out.registration_cache_entries);
  r.size("registration_cache_bytes", out.registration_cache_bytes);
  r.flag("hmem", out.hmem);
  r.flag("allow_faulty", out.allow_faulty);
  r.time("connect_timeout", out.connect_timeout_ns);
  if (r.status() != CWY_OK) return r.status();
  out.am_medium = out.am_medium / 8 * 8;
  return CWY_OK;
}

}  // namespace causeway::ofi
