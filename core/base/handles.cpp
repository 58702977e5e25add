#include "base/handles.h"

#include "base/context.h"
#include "base/fatal.h"

namespace causeway {

void called_too_early(const char* call) {
  fatal(call, "called before gex_Client_Init() (or gasnet_init()) has succeeded");
}

void check_started(const char* call) {
  if (g_context == nullptr) called_too_early(call);
}

void invalid_handle(const char* call, const char* constant) {
  check_started(call);
  fatal(call, "called with {}", constant);
}

}  // namespace causeway
