// Canonical spellings, so that two configurations that mean the same read the same.
#pragma once

#include <cstdint>
#include <string>

namespace causeway {

std::string format_size(uint64_t bytes);        // "64KiB", "4096" -> "4KiB", "5000" -> "5000"
std::string format_time(uint64_t nanoseconds);  // "1ms", "1500us"; "0s"

// Throws Error(CWY_ERR_INVALID).
int64_t parse_integer(const std::string& text);

}  // namespace causeway
