#include "config/gasnet_environment.h"

#include <fmt/core.h>
#include <strings.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace causeway {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

const char* value_of(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

void add(Settings& out, const char* variable, const std::string& key, const std::string& value) {
  out.emplace_back(fmt::format("{}={}", variable, value_of(variable)), key + "=" + value);
}

// y, yes, 1, n, no, 0 in any case; -1 for anything else.
int yes_or_no(const char* text) {
  for (const char* word : {"y", "yes", "1"}) {
    if (::strcasecmp(text, word) == 0) return 1;
  }
  for (const char* word : {"n", "no", "0"}) {
    if (::strcasecmp(text, word) == 0) return 0;
  }
  return -1;
}

// "<number>[.<digits>][ ]<unit>" with units that are powers of 1024, as bytes; a number with a
// point and no unit is a share of the host's memory. What is none of that comes back unchanged.
std::string bytes_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || text[0] < '0' || text[0] > '9' || end == text.c_str()) return text;
  while (*end == ' ') ++end;
  double unit = 1;
  if (*end == '\0') {
    const bool share = text.find('.') != std::string::npos && number <= 1.0;
    if (share) {
      unit = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
             static_cast<double>(::sysconf(_SC_PAGESIZE));
    }
  } else {
    const std::string letters = "BKMGT";
    const size_t power = letters.find(static_cast<char>(*end & ~0x20));
    const bool alone = end[1] == '\0' || (power > 0 && ::strcasecmp(end + 1, "B") == 0) ||
                       (power > 0 && ::strcasecmp(end + 1, "iB") == 0);
    if (power == std::string::npos || !alone) return text;
    for (size_t i = 0; i < power; ++i) unit *= 1024;
  }
  const double bytes = number * unit;
  return bytes < 9e18 ? std::to_string(static_cast<uint64_t>(bytes)) : text;
}

// A ceiling for the segment of each process (/P, which is what no suffix means) or of all
// processes of a host together (/H). Less than a page is a page.
void add_segment(Settings& out) {
  const char* variable = "GASNET_MAX_SEGSIZE";
  const char* value = value_of(variable);
  if (value == nullptr) return;
  std::string text = value;
  bool host = false;
  if (const size_t slash = text.find('/'); slash != std::string::npos) {
    const std::string of = text.substr(slash + 1);
    host = ::strcasecmp(of.c_str(), "H") == 0;
    if (host || ::strcasecmp(of.c_str(), "P") == 0) text.resize(slash);
  }
  add(out, variable, "segment.max", bytes_of(text));
  add(out, variable, "segment.of", host ? "host" : "rank");
}

void add_neighborhood(Settings& out) {
  const char* variable = "GASNET_SUPERNODE_MAXSIZE";
  const char* value = value_of(variable);
  if (value == nullptr) return;
  add(out, variable, "neighborhood.ranks", std::string(value) == "0" ? "auto" : value);
}

// Only where a build relies on it; elsewhere programs poll, and a thread would cost them.
void add_receive_thread(Settings& out, const Identity* program) {
  const char* variable = "GASNET_RCV_THREAD";
  const char* value = value_of(variable);
  if (value == nullptr || program == nullptr || program->conduit != "ibv") return;
  const int wanted = yes_or_no(value);
  if (wanted == 1 && program->mode != "par")
    return;  // handlers of such a program run in its thread
  add(out, variable, "threads.progress", wanted < 0 ? value : wanted == 1 ? "thread" : "none");
}

void add_exit_time(Settings& out) {
  const char* variable = "GASNET_EXITTIMEOUT";
  const char* value = value_of(variable);
  char* end = nullptr;
  if (value == nullptr || std::strtod(value, &end) <= 0 || *end != '\0') return;
  if (std::string(value).find_first_not_of("0123456789.") != std::string::npos) return;
  add(out, variable, "timeouts.exit", std::string(value) + "s");
}

}  // namespace

const std::vector<const char*>& gasnet_variables() {
  static const std::vector<const char*> all{
      "GASNET_PSHM_NODES",  "GASNET_MAX_SEGSIZE", "GASNET_SUPERNODE_MAXSIZE", "GASNET_RCV_THREAD",
      "GASNET_EXITTIMEOUT", "GASNET_TMPDIR",      "GASNET_BACKTRACE",         "GASNET_QUIET"};
  return all;
}

Settings gasnet_settings(const Identity* program) {
  Settings out;
  add_segment(out);
  add_neighborhood(out);
  add_receive_thread(out, program);
  add_exit_time(out);
  return out;
}

}  // namespace causeway
