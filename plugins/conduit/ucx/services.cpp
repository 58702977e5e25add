#include "services.h"

#include <ucs/debug/log_def.h>

#include <cstdio>
#include <cstring>

namespace causeway::ucx {

namespace {

thread_local char last_complaint[400], unused[1200];

// UCX may tell of names that it had no use for in several messages.
void note_unused(const char* text) {
  const size_t used = std::strlen(unused);
  std::snprintf(unused + used, sizeof unused - used, "%s; ", text);
}

// Called by any thread that is inside UCX.
ucs_log_func_rc_t hear(const char*, unsigned, const char*, ucs_log_level_t level,
                       const ucs_log_component_config_t*, const char* format, va_list ap) {
  char text[400];
  va_list copy;
  va_copy(copy, ap);
  std::vsnprintf(text, sizeof text, format, copy);
  va_end(copy);
  for (char* c = text; *c != '\0'; ++c)
    if (*c == '\n') *c = ' ';
  // The fault of a value is said first, and then that something could not be read.
  const bool explained = std::strncmp(last_complaint, "Invalid value", 13) == 0;
  if (level <= UCS_LOG_LEVEL_ERROR && !explained) std::memcpy(last_complaint, text, sizeof text);
  if (std::strncmp(text, "unused env", 10) == 0) note_unused(text);
  services->log("ucx",
                level == UCS_LOG_LEVEL_FATAL  ? CWY_LOG_ERROR
                : level <= UCS_LOG_LEVEL_WARN ? CWY_LOG_INFO
                                              : CWY_LOG_DEBUG,
                text);
  return UCS_LOG_FUNC_RC_STOP;
}

}  // namespace

void take_ucx_log() {
  ucs_log_push_handler(hear);
}
void return_ucx_log() {
  ucs_log_pop_handler();
}

void forget_complaint() {
  last_complaint[0] = unused[0] = '\0';
}
std::string unused_settings() {
  return unused;
}
std::string complaint() {
  return last_complaint;
}

std::string explain(ucs_status_t status) {
  std::string text = ucs_status_string(status);
  if (last_complaint[0] != '\0') text.append(" (").append(last_complaint).append(")");
  return text;
}

cwy_status to_cwy(ucs_status_t status) {
  switch (status) {
    case UCS_OK:
      return CWY_OK;
    case UCS_INPROGRESS:
      return CWY_INPROGRESS;
    case UCS_ERR_NO_RESOURCE:
    case UCS_ERR_BUSY:
      return CWY_RETRY;
    case UCS_ERR_NO_MEMORY:
    case UCS_ERR_EXCEEDS_LIMIT:
      return CWY_ERR_NOMEM;
    case UCS_ERR_UNSUPPORTED:
    case UCS_ERR_NOT_IMPLEMENTED:
      return CWY_ERR_UNSUPPORTED;
    case UCS_ERR_INVALID_PARAM:
    case UCS_ERR_INVALID_ADDR:
    case UCS_ERR_OUT_OF_RANGE:
      return CWY_ERR_INVALID;
    case UCS_ERR_NO_DEVICE:
      return CWY_ERR_DEVICE_FAILED;
    default:  // connection reset, timed out, cancelled, rejected ...
      return CWY_ERR_PEER_FAILED;
  }
}

}  // namespace causeway::ucx
