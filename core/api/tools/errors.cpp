// Fatal errors and the standard streams.
#include <fmt/core.h>
#include <gasnet_tools.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "api/export.h"
#include "base/context.h"

namespace {

// "rank/size" of an initialised process, else its id.
std::string process_name() {
  if (causeway::g_context != nullptr)
    return fmt::format("{}/{}", causeway::context().rank(), causeway::context().size());
  return fmt::format("pid {}", ::getpid());
}

std::string formatted(const char* format, va_list args) {
  char text[2048];
  std::vsnprintf(text, sizeof text, format, args);
  return text;
}

// A single write, so that lines of several ranks do not tear.
[[noreturn]] void die(const std::string& where, const std::string& text) {
  static std::atomic<bool> dying{false};
  if (dying.exchange(true, std::memory_order_relaxed)) ::abort();  // an error within an error
  std::fflush(stdout);
  const std::string line = fmt::format("*** FATAL ERROR ({}): {}{}\n", process_name(), where, text);
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  gasnett_print_backtrace_ifenabled(STDERR_FILENO);
  gasnett_freezeForDebuggerErr();
  ::abort();
}

}  // namespace

CAUSEWAY_API void cwy_tools_fatal_v1(const char* func, const char* file, int line, const char* fmt,
                                     ...) {
  va_list args;
  va_start(args, fmt);
  const std::string text = formatted(fmt, args);
  va_end(args);
  die(fmt::format("in {}() at {}:{}: ", func, file, line), text);
}

CAUSEWAY_API void cwy_tools_fatal_nopos_v1(const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const std::string text = formatted(fmt, args);
  va_end(args);
  die("", text);
}

CAUSEWAY_API char* cwy_tools_location_v1(const char* func, const char* file, int line) {
  return ::strdup(fmt::format("{}() at {}:{}", func, file, line).c_str());
}

CAUSEWAY_API void gasnett_killmyprocess(int exitcode) {
  ::_exit(exitcode);
}

CAUSEWAY_API void gasnett_flush_streams(void) {
  std::fflush(stdout);
  std::fflush(stderr);
  // Pipes and terminals refuse, files obey.
  (void)::fsync(STDOUT_FILENO);
  (void)::fsync(STDERR_FILENO);
}

CAUSEWAY_API void gasnett_close_streams(void) {
  std::fclose(stdin);
  std::fclose(stdout);
  std::fclose(stderr);
}
