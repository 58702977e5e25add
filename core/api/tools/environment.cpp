// Settings from the environment, and reports of them.
#include <gasnet_tools.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "api/export.h"
#include "base/context.h"

namespace {

// 1, 0, or -1 for neither.
int yes_or_no(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word == "y" || word == "yes" || word == "1") return 1;
  if (word == "n" || word == "no" || word == "0") return 0;
  return -1;
}

// Rank 0 reports. Without a runtime the launcher's variable tells; without a launcher there is one.
bool is_first_rank() {
  if (causeway::g_context != nullptr) return causeway::context().rank() == 0;
  const char* rank = std::getenv("PMIX_RANK");
  return rank == nullptr || std::string(rank) == "0";
}

// Each key is reported once, whoever asks for it again.
bool first_report(const char* key) {
  static std::mutex mutex;
  static std::set<std::string> reported;
  const std::lock_guard lock(mutex);
  return reported.insert(key).second;
}

void report(const char* key, const char* value, bool is_default) {
  if (!gasnett_verboseenv() || !first_report(key)) return;
  std::fprintf(stderr, "ENV parameter: %s = %-20s%s\n", key, value, is_default ? " (default)" : "");
}

// Reads a fraction or a number; false for anything else.
bool parse_fraction(const char* text, double& out) {
  char* end = nullptr;
  out = std::strtod(text, &end);
  if (end == text) return false;
  if (*end == '/') {
    const char* below = end + 1;
    const double denominator = std::strtod(below, &end);
    if (end == below || denominator == 0) return false;
    out /= denominator;
  }
  while (*end == ' ' || *end == '\t') ++end;
  return *end == '\0';
}

std::string formatted(int64_t value, bool is_mem) {
  char text[64];
  return gasnett_format_number(value, text, sizeof text, is_mem);
}

}  // namespace

CAUSEWAY_API char* gasnett_getenv(const char* key) {
  return key != nullptr ? std::getenv(key) : nullptr;
}

CAUSEWAY_API char* gasnett_getenv_withdefault(const char* key, const char* dflt) {
  char* value = gasnett_getenv(key);
  gasnett_envstr_display(key, value != nullptr ? value : dflt, value == nullptr);
  return value != nullptr ? value : const_cast<char*>(dflt);
}

CAUSEWAY_API int gasnett_getenv_yesno_withdefault(const char* key, int dflt) {
  const char* value = gasnett_getenv(key);
  const int answer = value != nullptr ? yes_or_no(value) : dflt != 0;
  if (answer < 0) {
    gasnett_fatalerror_nopos("environment variable %s='%s' must be y, yes, 1, n, no or 0", key,
                             value);
  }
  report(key, answer ? "YES" : "NO", value == nullptr);
  return answer;
}

CAUSEWAY_API int64_t gasnett_getenv_int_withdefault(const char* key, int64_t dflt,
                                                    uint64_t mem_size_multiplier) {
  const char* value = gasnett_getenv(key);
  const int64_t answer = value != nullptr ? gasnett_parse_int(value, mem_size_multiplier) : dflt;
  gasnett_envint_display(key, answer, value == nullptr, mem_size_multiplier != 0);
  return answer;
}

CAUSEWAY_API double gasnett_getenv_dbl_withdefault(const char* key, double dflt) {
  const char* value = gasnett_getenv(key);
  double answer = dflt;
  if (value != nullptr && !parse_fraction(value, answer)) {
    gasnett_fatalerror_nopos("environment variable %s='%s' must be a number or a fraction a/b", key,
                             value);
  }
  gasnett_envdbl_display(key, answer, value == nullptr);
  return answer;
}

CAUSEWAY_API void gasnett_setenv(const char* key, const char* value) {
  ::setenv(key, value, 1);
}
CAUSEWAY_API void gasnett_unsetenv(const char* key) {
  ::unsetenv(key);
}

CAUSEWAY_API int gasnett_verboseenv(void) {
  const char* value = std::getenv("GASNET_VERBOSEENV");
  // Set to anything but no: this variable must never be the reason why a program ends.
  return value != nullptr && yes_or_no(value) != 0 && is_first_rank();
}

CAUSEWAY_API void gasnett_envstr_display(const char* key, const char* val, int is_dflt) {
  report(key, val == nullptr ? "*not set*" : *val == '\0' ? "*empty*" : val, is_dflt != 0);
}
CAUSEWAY_API void gasnett_envint_display(const char* key, int64_t val, int is_dflt,
                                         int is_mem_size) {
  report(key, formatted(val, is_mem_size != 0).c_str(), is_dflt != 0);
}
CAUSEWAY_API void gasnett_envdbl_display(const char* key, double val, int is_dflt) {
  char text[64];
  std::snprintf(text, sizeof text, "%g", val);
  report(key, text, is_dflt != 0);
}
