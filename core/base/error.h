// Error: what code inside the core throws. Never crosses a C boundary: the api/ rooms and the
// plugin upcalls catch it and turn it into a status or a fatal message.
#pragma once

#include <causeway/plugin.h>
#include <fmt/core.h>

#include <exception>
#include <string>
#include <utility>

namespace causeway {

class Error : public std::exception {
 public:
  Error(cwy_status status, std::string text) : status_(status), text_(std::move(text)) {}

  template <typename... Args>
  Error(cwy_status status, fmt::format_string<Args...> format, Args&&... args)
      : status_(status), text_(fmt::format(format, std::forward<Args>(args)...)) {}

  // Not inline, so that there is one type_info of the class in the process: libcauseway_gaspi.so
  // catches what libcauseway.so throws.
  const char* what() const noexcept override;
  const std::string& text() const { return text_; }
  cwy_status status() const { return status_; }

 private:
  cwy_status status_;
  std::string text_;
};

// Neither OK nor INPROGRESS. A positive number that is no status counts, too: one compare.
constexpr bool is_error(cwy_status status) {
  return static_cast<uint32_t>(status) > CWY_INPROGRESS;
}

// Has the number a name?
constexpr bool is_status(cwy_status status) {
  return status <= CWY_INPROGRESS && status >= CWY_ERR_DEVICE_FAILED;
}

// "RETRY", "PEER_FAILED" ...: the words of the plugin interface's README.
const char* status_name(cwy_status status);

}  // namespace causeway
