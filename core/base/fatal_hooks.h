// How a process ends for what fatal.h says. Set by wiring.cpp, constant afterwards.
#pragma once

#include <cstdint>
#include <string>

namespace causeway {

// None but `let_launcher_speak` comes back.
struct FatalHooks {
  void (*text)(const char* call, const std::string& text) = nullptr;
  void (*peer_lost)(const char* call, const std::string& text) = nullptr;
  void (*unreached)(const char* call, const std::string& text) = nullptr;
  void (*without)(uint32_t rank, const std::string& text) = nullptr;
  void (*let_launcher_speak)() = nullptr;
};
extern FatalHooks fatal_hooks;

}  // namespace causeway
