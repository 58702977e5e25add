// Invariants: what the code relies on, checked in builds without NDEBUG (the debug preset and those
// of the sanitizers). One that does not hold ends the process with a line that names it, the rank
// and the place. Other builds do not look, and pay nothing.
#pragma once

namespace causeway {

#ifdef NDEBUG
inline constexpr bool kChecksInvariants = false;
#else
inline constexpr bool kChecksInvariants = true;
#endif

// The end of the process, with a core file where the system keeps them.
[[noreturn]] void invariant_broken(const char* invariant, const char* file, int line);

// `invariant` says in words what `holds()` looks at; looking changes nothing.
template <typename Holds>
inline void ensure([[maybe_unused]] const char* invariant, [[maybe_unused]] const Holds& holds,
                   [[maybe_unused]] const char* file = __builtin_FILE(),
                   [[maybe_unused]] int line = __builtin_LINE()) {
  if constexpr (kChecksInvariants) {
    if (!holds()) [[unlikely]]
      invariant_broken(invariant, file, line);
  }
}

}  // namespace causeway
