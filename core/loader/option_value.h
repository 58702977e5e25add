// An option's text against its schema: used for the defaults a manifest gives (when it is read) and
// for the values a configuration gives (when an instance is made).
#pragma once

#include <cstdint>
#include <string>

#include "loader/loader.h"

namespace causeway {

struct OptionValue {
  std::string text;
  int64_t integer = 0;  // int
  uint64_t number = 0;  // size (bytes), time (nanoseconds)
  bool flag = false;    // bool
};

// Throws Error(CWY_ERR_INVALID) "'x' is not ...": type, choices, then range.
OptionValue parse_option_value(const OptionSchema& schema, const std::string& text);

// The text used when neither manifest nor configuration gives one.
std::string natural_default(const OptionSchema& schema);

// Checks the schema itself: known type, usable bounds, a default that its own rules admit.
// Throws Error(CWY_ERR_INVALID) with the reason only.
void check_option_schema(const OptionSchema& schema);

}  // namespace causeway
