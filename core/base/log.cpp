#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/refusal.h"

namespace causeway {
namespace {

// Relaxed: a late reader prints one line too many or too few, nothing else hangs on them.
std::atomic<LogLevel> g_level{LogLevel::warn};
std::atomic<uint32_t> g_rank{0};
std::atomic<uint32_t> g_size{0};

const char* level_word(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "error: ";
    case LogLevel::warn:
      return "warning: ";
    case LogLevel::info:
      return "";
    case LogLevel::debug:
      return "debug: ";
  }
  return "";
}

std::string known_rank() {
  const uint32_t size = g_size.load(std::memory_order_relaxed);
  if (size == 0) return {};
  return fmt::format("rank {}/{}: ", g_rank.load(std::memory_order_relaxed), size);
}

// The rank that the launcher's environment names, if any, in a process that has not joined its job
// yet. The number of ranks is not known then.
std::string probable_rank() {
  const char* rank = std::getenv("PMIX_RANK");
  if (rank != nullptr && *rank != '\0') return fmt::format("rank {}: ", rank);
  return fmt::format("process {}: ", ::getpid());
}

void write_as(const std::string& speaker, LogLevel level, std::string_view text) {
  std::string line = "causeway: ";
  line += speaker;
  line += level_word(level);
  line += text;
  line += '\n';
  // A failing stderr leaves nothing better to do.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void set_log_level(LogLevel level) {
  g_level.store(level, std::memory_order_relaxed);
}
LogLevel log_level() {
  return g_level.load(std::memory_order_relaxed);
}

void set_log_identity(uint32_t rank, uint32_t size) {
  g_rank.store(rank, std::memory_order_relaxed);
  g_size.store(size, std::memory_order_relaxed);
}

void write_log_line(LogLevel level, std::string_view text) {
  write_as(known_rank(), level, text);
}

void write_client_error(std::string_view text) {
  const std::string known = known_rank();
  write_as(known.empty() ? probable_rank() : known, LogLevel::error, text);
}

std::atomic<int> verbose_errors{1};

void log_refusal(std::string_view call, std::string_view text) {
  if (verbose_errors.load(std::memory_order_relaxed) != 0)
    write_client_error(fmt::format("{}: {}", call, text));
}

const char* Error::what() const noexcept {
  return text_.c_str();
}

const char* status_name(cwy_status status) {
  switch (status) {
    case CWY_OK:
      return "OK";
    case CWY_INPROGRESS:
      return "INPROGRESS";
    case CWY_RETRY:
      return "RETRY";
    case CWY_ERR_UNSUPPORTED:
      return "UNSUPPORTED";
    case CWY_ERR_INVALID:
      return "INVALID";
    case CWY_ERR_NOMEM:
      return "NOMEM";
    case CWY_ERR_UNREACHABLE:
      return "UNREACHABLE";
    case CWY_ERR_TIMEOUT:
      return "TIMEOUT";
    case CWY_ERR_PEER_FAILED:
      return "PEER_FAILED";
    case CWY_ERR_DEVICE_FAILED:
      return "DEVICE_FAILED";
    default:
      return "unknown status";
  }
}

}  // namespace causeway
