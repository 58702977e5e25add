// Refusals: why a call does not do what it is asked for.
#pragma once

#include <GASPI.h>
#include <fmt/core.h>

#include <exception>
#include <string>
#include <utility>

namespace causeway::gaspi {

// Thrown by what a call does, and caught by the front of the call (entry.h).
class Refusal : public std::exception {
 public:
  Refusal(gaspi_return_t code, std::string why) : code_(code), why_(std::move(why)) {}
  const char* what() const noexcept override { return why_.c_str(); }
  gaspi_return_t code() const { return code_; }

 private:
  gaspi_return_t code_;
  std::string why_;
};

// Arguments are copied, so that calls which go well need not have them in memory.
template <typename... Args>
[[noreturn, gnu::cold, gnu::noinline]] void refuse(gaspi_return_t code,
                                                   fmt::format_string<Args...> format,
                                                   Args... args) {
  throw Refusal(code, fmt::format(format, std::move(args)...));
}

// What the call returns for an exception. With verbose errors (gex_System_SetVerboseErrors) one
// line says why.
gaspi_return_t report_exception(const char* call, const std::exception& exception) noexcept;

}  // namespace causeway::gaspi
