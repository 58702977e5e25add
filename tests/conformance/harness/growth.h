// Growth of a process that does and undoes something again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace causeway::conformance {

// Runs `cycle` `first` times, for what is made once, and then `more` times, with which descriptors
// and mappings must not grow, nor the heap by `most_heap` bytes for each. Pools of libraries grow
// in leaps and a leak with every time, so the heap is judged by the least of up to three rounds.
void expect_no_growth(const char* what, const std::function<void()>& cycle, size_t first = 5,
                      size_t more = 60, size_t most_heap = SIZE_MAX);

}  // namespace causeway::conformance
