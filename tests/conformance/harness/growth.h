// What grows when something is done and undone again and again.
#pragma once

#include <functional>

namespace causeway::conformance {

// Runs `cycle` `first` times, for what is made once, and then `more` times, with which descriptors
// and mappings must not grow. Answers the bytes of heap that each of these took.
size_t expect_no_growth(const char* what, const std::function<void()>& cycle, size_t first = 5,
                        size_t more = 60);

}  // namespace causeway::conformance
