// Work that polls and waits do for the rooms above. Set by wiring.cpp, constant afterwards.
#pragma once

#include <cstdint>

namespace causeway {

struct ProgressHooks {
  // Moves on what the rooms above have counted in `poll_hints` (hints.h). Returns how many things
  // happened.
  uint32_t (*push)() = [] { return uint32_t{0}; };
  // A poll from client context has found ProcessContext::attention set.
  void (*attend)() = [] {};
  // Copies of devices are under way, which wake nobody and are done before a sleep would be over.
  bool (*copies_pending)() = [] { return false; };
  // A thread is about to sleep. True when others were told, so that they wake it: it polls once
  // more before it sleeps, and calls end_nap() afterwards.
  bool (*announce_nap)() = [] { return false; };
  void (*end_nap)() = [] {};
};

extern ProgressHooks progress_hooks;

}  // namespace causeway
