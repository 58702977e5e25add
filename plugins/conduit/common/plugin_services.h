// The core's services to a conduit, and the conduit's lines in the log.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstdarg>
#include <cstdio>

namespace causeway::conduit {

// Set by the plugin's init and constant afterwards. Hidden symbols: each plugin has its own.
inline const cwy_services* services = nullptr;
inline const char* plugin_name = "";

inline void start(const cwy_services* core, const char* name) {
  services = core;
  plugin_name = name;
}

__attribute__((format(printf, 2, 3))) inline void log(cwy_log_level level, const char* format,
                                                      ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  services->log(plugin_name, level, text);
}

// Tells the core what the conduit has learnt of a peer; in its place a conduit in front, where
// there is one.
inline void tell_peer_state(const cwyc_ep_params& params, cwy_peer peer, cwy_peer_state state,
                            const char* why) {
  const auto tell = params.peer_state != nullptr ? params.peer_state : services->peer_state;
  tell(params.core_ep, peer, state, why);
}

}  // namespace causeway::conduit
