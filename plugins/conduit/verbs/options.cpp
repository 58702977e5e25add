#include "options.h"

#include <cstdlib>

#include "../common/option_reader.h"

namespace causeway::verbs {

cwy_status read_options(const cwy_services& services, const cwy_options* opts, Options& out,
                        cwy_err* err) {
  static constexpr const char* or_never[] = {"auto", "never"};
  OptionReader r(services, opts, err);
  std::string mtu;
  r.number("gid_index", out.gid_index);
  r.text("mtu", mtu);
  r.number("pkey_index", out.pkey_index);
  r.number("service_level", out.service_level);
  r.number("traffic_class", out.traffic_class);
  r.size("am_medium", out.am_medium);
  r.number("credits", out.credits);
  r.number("receive_buffers", out.receive_buffers);
  r.number("tx_depth", out.tx_depth);
  r.size("inline", out.inline_bytes);
  r.size("copy_below", out.copy_below);
  r.choice("atomics", or_never, out.atomics);
  r.choice("registration_cache", fabric::caching_words, out.registration_cache);
  r.size("registration_cache_bytes", out.registration_cache_bytes);
  r.time("ack_timeout", out.ack_timeout_ns);
  r.time("peer_timeout", out.peer_timeout_ns);
  r.time("connect_timeout", out.connect_timeout_ns);
  if (r.status() != CWY_OK) return r.status();
  out.mtu = mtu == "auto" ? 0 : std::strtoull(mtu.c_str(), nullptr, 10);
  out.am_medium = out.am_medium / 8 * 8;
  return CWY_OK;
}

}  // namespace causeway::verbs
