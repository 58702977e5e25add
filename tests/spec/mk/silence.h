// Flags that ranks of one host see without the library: what one does while it is silent, that is,
// in no call of the library's, and how it learns that the others went on.
#pragma once

#include <atomic>

namespace mk {

// Numbered from 0; all 0 at first. Collective at its first call.
constexpr unsigned kFlags = 16;
std::atomic<int>& flag(unsigned number);

// Collective: all of them are 0 again.
void clear_flags();
// Outside of the library until somebody has set the flag. False after a time that no busy machine
// needs.
bool silent_until(unsigned number);
// The same in polls.
bool polling_until(unsigned number);

}  // namespace mk
