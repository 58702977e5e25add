// How a plugin fills a cwy_err: one printf-style line and the status, in one statement.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/plugin.h>

#include <cstdarg>
#include <cstdio>

namespace causeway {

// Returns `status`. `err` may be NULL.
__attribute__((format(printf, 3, 4))) inline cwy_status report(cwy_err* err, cwy_status status,
                                                               const char* format, ...) {
  if (err == nullptr) return status;
  err->status = status;
  va_list args;
  va_start(args, format);
  std::vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  return status;
}

}  // namespace causeway
