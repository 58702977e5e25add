// Warnings of what programs do over and over: each text is said once in a process.
#pragma once

#include <string>
#include <utility>

#include "base/log.h"

namespace causeway {

// Whether nobody has asked for this text before.
bool is_first(const std::string& text);

template <typename... Args>
void warn_once(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  if (is_first(text)) log_warn("{}", text);
}

}  // namespace causeway
