// Log lines for people. Every line is one write(2), so lines of several ranks do not tear:
//   causeway: rank 2/4: warning: text
// Level and destination come from the configuration (`log:`); before it is read, warnings and
// errors go to stderr.
#pragma once

#include <causeway/plugin.h>
#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace causeway {

enum class LogLevel {
  error = CWY_LOG_ERROR,
  warn = CWY_LOG_WARN,
  info = CWY_LOG_INFO,
  debug = CWY_LOG_DEBUG
};

void set_log_level(LogLevel level);
LogLevel log_level();
// The rank that later lines name. size 0: they name none (tools, launcher).
void set_log_identity(uint32_t rank, uint32_t size);

// Writes one line whatever the level is set to. `text` has no newline. Async-signal-unsafe.
void write_log_line(LogLevel level, std::string_view text);

// The same as information, in a signal handler: without the heap, cut behind 400 bytes.
void write_formatted_in_handler(fmt::string_view format, fmt::format_args arguments);
template <typename... Args>
void write_line_in_handler(fmt::format_string<Args...> format, Args&&... args) {
  write_formatted_in_handler(format, fmt::make_format_args(args...));
}

// The same as an error of a client's process, which has a name for itself before it knows its rank:
// what the launcher's environment says, or else its process id.
void write_client_error(std::string_view text);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (level <= log_level()) write_log_line(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_error(fmt::format_string<Args...> f, Args&&... a) {
  log(LogLevel::error, f, std::forward<Args>(a)...);
}
template <typename... Args>
void log_warn(fmt::format_string<Args...> f, Args&&... a) {
  log(LogLevel::warn, f, std::forward<Args>(a)...);
}
template <typename... Args>
void log_info(fmt::format_string<Args...> f, Args&&... a) {
  log(LogLevel::info, f, std::forward<Args>(a)...);
}
template <typename... Args>
void log_debug(fmt::format_string<Args...> f, Args&&... a) {
  log(LogLevel::debug, f, std::forward<Args>(a)...);
}

}  // namespace causeway
