// Text that a plugin, a file or the dynamic linker wrote, made fit for one line of a message; and
// text that a plugin is given.
#pragma once

#include <causeway/plugin.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/shown_text.h"

namespace causeway {

// At most `most` bytes, no control characters, no blank at either end.
inline std::string one_line(std::string_view text, size_t most = 400) {
  std::string line(text.substr(0, std::min(text.size(), most)));
  std::ranges::replace_if(line, is_control, ' ');
  const size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  line = line.substr(first, line.find_last_not_of(' ') - first + 1);
  if (text.size() > most) line += "...";
  return line;
}

// A plugin's text, or `otherwise` where it gave none.
inline std::string given(const char* text, const char* otherwise) {
  return text != nullptr ? one_line(text) : otherwise;
}

inline std::string text_of(const cwy_err& err) {
  return one_line({err.text, ::strnlen(err.text, sizeof err.text - 1)}, sizeof err.text);
}

// Why a call failed that answered `status`: its text, or else the status.
std::string reason(const cwy_err& err, cwy_status status);

// Does nothing where `err` is NULL or, being of an older interface, has no room.
void write_error(cwy_err* err, cwy_status status, std::string_view text);

// A plugin's answer, where OK comes with an object: without it the plugin is at fault, and named.
// An error without a text gets one.
cwy_status checked_answer(cwy_status status, bool has_object, cwy_err& err, const char* call);
// By reference: the argument may be evaluated before the call that sets the object.
template <class T>
cwy_status checked_answer(cwy_status status, T* const& object, cwy_err& err, const char* call) {
  return checked_answer(status, object != nullptr, err, call);
}

}  // namespace causeway
