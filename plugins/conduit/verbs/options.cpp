#include "options.h"

#include <cstdlib>

#include "../common/plugin_error.h"

namespace causeway::verbs {
namespace {

class Reader {
 public:
  Reader(const cwy_services& services, const cwy_options* opts, cwy_err* err)
      : services_(services), opts_(opts), err_(err) {}

  void text(const char* key, std::string& out) {
    const char* value = nullptr;
    if (good(key, services_.opt_string(opts_, key, &value))) out = value;
  }
  void size(const char* key, uint64_t& out) { good(key, services_.opt_size(opts_, key, &out)); }
  void time(const char* key, uint64_t& out) { good(key, services_.opt_time(opts_, key, &out)); }
  void number(const char* key, int64_t& out) { good(key, services_.opt_int(opts_, key, &out)); }
  void number(const char* key, uint64_t& out) {
    int64_t value = 0;
    if (good(key, services_.opt_int(opts_, key, &value))) out = static_cast<uint64_t>(value);
  }
  template <class Enum, size_t N>
  void choice(const char* key, const char* const (&words)[N], Enum& out) {
    std::string value;
    text(key, value);
    for (size_t i = 0; i < N; ++i) {
      if (value == words[i]) out = static_cast<Enum>(i);
    }
  }
  cwy_status status() const { return status_; }

 private:
  bool good(const char* key, cwy_status status) {
    if (status != CWY_OK && status_ == CWY_OK)
      status_ = report(err_, status, "option '%s' cannot be read", key);
    return status == CWY_OK;
  }

  const cwy_services& services_;
  const cwy_options* opts_;
  cwy_err* err_;
  cwy_status status_ = CWY_OK;
};

}  // namespace

cwy_status read_options(const cwy_services& services, const cwy_options* opts, Options& out,
                        cwy_err* err) {
  static constexpr const char* or_never[] = {"auto", "never"};
  static constexpr const char* cache[] = {"watch", "in_flight", "keep"};
  Reader r(services, opts, err);
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
  r.choice("registration_cache", cache, out.registration_cache);
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
