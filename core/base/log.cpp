#include "base/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/refusal.h"

namespace causeway {
namespace {

// Relaxed: a late reader prints one line too many or too few, nothing else hangs on them.
std::atomic<LogLevel> g_level{LogLevel::warn};
std::atomic<uint32_t> g_rank{0};
std::atomic<uint32_t> g_size{0};

constexpr const char* kLevelWords[] = {"error: ", "warning: ", "", "debug: "};

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
  std::string line = "causeway: " + speaker;
  // A plugin's level is what it passes.
  if (const auto word = static_cast<size_t>(level); word < std::size(kLevelWords))
    line += kLevelWords[word];
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

void write_formatted_in_handler(fmt::string_view format, fmt::format_args arguments) {
  std::array<char, 400> line;
  const uint32_t size = g_size.load(std::memory_order_relaxed);
  const uint32_t rank = g_rank.load(std::memory_order_relaxed);
  char* at = line.data();
  at = size > 0 ? fmt::format_to(at, "causeway: rank {}/{}: ", rank, size)
                : fmt::format_to(at, "causeway: process {}: ", ::getpid());
  at = fmt::vformat_to_n(at, static_cast<size_t>(line.end() - at) - 1, format, arguments).out;
  *at++ = '\n';
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, line.data(), static_cast<size_t>(at - line.data()));
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
  constexpr std::pair<cwy_status, const char*> names[] = {
      {CWY_OK, "OK"},
      {CWY_INPROGRESS, "INPROGRESS"},
      {CWY_RETRY, "RETRY"},
      {CWY_ERR_UNSUPPORTED, "UNSUPPORTED"},
      {CWY_ERR_INVALID, "INVALID"},
      {CWY_ERR_NOMEM, "NOMEM"},
      {CWY_ERR_UNREACHABLE, "UNREACHABLE"},
      {CWY_ERR_TIMEOUT, "TIMEOUT"},
      {CWY_ERR_PEER_FAILED, "PEER_FAILED"},
      {CWY_ERR_DEVICE_FAILED, "DEVICE_FAILED"},
  };
  for (const auto& [code, name] : names)
    if (code == status) return name;
  return "unknown status";
}

}  // namespace causeway
