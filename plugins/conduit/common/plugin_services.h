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

}  // namespace causeway::conduit
