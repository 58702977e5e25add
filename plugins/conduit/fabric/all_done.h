// Waiting until every item of a list is done, at a look for each item rather than for each
// question.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace causeway::fabric {

// Returns a question: does `done` hold for all items? Each call goes on at the item for which it
// did not hold the last time, and behind the last item begins anew. Items may be added meanwhile.
template <class Items, class Done>
auto all_done(const Items& items, Done done) {
  return [&items, done, at = size_t{0}]() mutable {
    const auto undone = [&](size_t from) {
      while (from < items.size() && done(items[from])) ++from;
      return from;
    };
    at = undone(at);
    if (at >= items.size()) at = undone(0);
    return at >= items.size();
  };
}

}  // namespace causeway::fabric
