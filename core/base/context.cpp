#include "base/context.h"

namespace causeway {

constinit ProcessContext* g_context = nullptr;
constinit bool g_checks = true;
constinit std::atomic<bool> g_exiting{false};

}  // namespace causeway
