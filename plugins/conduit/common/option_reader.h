// Reads a conduit's options one by one; the first that cannot be read is what the error tells.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/plugin.h>

#include <cstdint>
#include <string>

#include "../../common/plugin_error.h"

namespace causeway {

class OptionReader {
 public:
  OptionReader(const cwy_services& services, const cwy_options* opts, cwy_err* err)
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
  void flag(const char* key, bool& out) {
    int32_t value = 0;
    if (good(key, services_.opt_bool(opts_, key, &value))) out = value != 0;
  }
  // `words` in the order of the enumeration; the core has checked that the value is one of them.
  template <class Enum, size_t N>
  void choice(const char* key, const char* const (&words)[N], Enum& out) {
    std::string value;
    text(key, value);
    for (size_t i = 0; i < N; ++i)
      if (value == words[i]) out = static_cast<Enum>(i);
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

}  // namespace causeway
