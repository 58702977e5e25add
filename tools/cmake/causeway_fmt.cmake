# fmt::fmt, which every room may use.
#
# Clang 14 gives functions that fmt 9's library holds other names than g++, by which Debian builds that library
# (the two read the ABI differently). Where a program does not link for that reason, fmt's headers carry them.
include(CheckCXXSourceCompiles)
find_package(fmt REQUIRED)
set(CMAKE_REQUIRED_LIBRARIES fmt::fmt)
check_cxx_source_compiles([[
#include <fmt/core.h>
int main(int count, char**) {
  char text[8];
  return static_cast<int>(fmt::format_to_n(text, sizeof text, "{}", count).size);
}
]] CAUSEWAY_FMT_LINKS)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT CAUSEWAY_FMT_LINKS)
  set_property(TARGET fmt::fmt APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
endif()
