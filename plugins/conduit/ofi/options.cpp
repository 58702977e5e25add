#include "options.h"

#include <cstring>

#include "../common/plugin_error.h"

namespace causeway::ofi {
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
  void number(const char* key, uint64_t& out) {
    int64_t value = 0;
    if (good(key, services_.opt_int(opts_, key, &value))) out = static_cast<uint64_t>(value);
  }
  void flag(const char* key, bool& out) {
    int32_t value = 0;
    if (good(key, services_.opt_bool(opts_, key, &value))) out = value != 0;
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
  static constexpr const char* endpoints[] = {"auto", "msg", "rdm"};
  static constexpr const char* or_never[] = {"auto", "never"};
  static constexpr const char* multi[] = {"auto", "always", "never"};
  static constexpr const char* delivery[] = {"auto", "complete", "read", "never"};
  static constexpr const char* wait[] = {"auto", "always", "never"};
  static constexpr const char* progress[] = {"manual", "auto"};
  static constexpr const char* cache[] = {"in_flight", "keep"};
  Reader r(services, opts, err);
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
  r.choice("registration_cache", cache, out.registration_cache);
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
