#include "base/fatal.h"

#include <cstdlib>

#include "base/fatal_hooks.h"

namespace causeway {

constinit FatalHooks fatal_hooks;

void fatal_text(const char* call, const std::string& text) {
  fatal_hooks.text(call, text);
  std::abort();
}

void fatal_peer_lost(const char* call, const std::string& text) {
  fatal_hooks.peer_lost(call, text);
  std::abort();
}

void fatal_unreached(const char* call, const std::string& text) {
  fatal_hooks.unreached(call, text);
  std::abort();
}

void end_without(uint32_t rank, const std::string& text) {
  fatal_hooks.without(rank, text);
  std::abort();
}

void let_launcher_speak() {
  fatal_hooks.let_launcher_speak();
}

}  // namespace causeway
