// Reading a whole file that a user names, or a line of the kernel's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace causeway {

// The content of a regular file of at most `most` bytes, or nothing, with the reason in `why`. A
// pipe, terminal or device could keep its reader for ever, so only regular files are read, and the
// empty device.
std::optional<std::string> read_regular_file(const std::string& path, size_t most,
                                             std::string& why);

// Without its end; empty where there is none.
std::string first_line_of(const std::string& path);

}  // namespace causeway
