// How long registrations of local buffers are kept: the option `registration_cache`.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace causeway::fabric {

// Kept and watched; ended with the last operation; or kept without watching, for programs that
// never unmap memory they communicate from.
enum class Caching : uint32_t { watch, in_flight, keep };
inline constexpr const char* caching_words[] = {"watch", "in_flight", "keep"};

}  // namespace causeway::fabric
