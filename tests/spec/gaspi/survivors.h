// What the programs of whole lives share: those that lose processes, or start and end themselves,
// and so have no cases. A failed check is told with the process it failed in, and counted or final.
#pragma once

#include <GASPI_Ext.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <vector>

#include "testing.h"

namespace spec {

inline gaspi_rank_t me = 0, all = 0;
inline gaspi_number_t own_incarnation = 1;
inline std::atomic<int> failures{0};

inline void expect(bool condition, const char* text, const char* file, int line) {
  if (condition) return;
  std::fprintf(stderr, "rank %u.%u: %s:%d: not true: %s\n", me, own_incarnation, file, line, text);
  failures.fetch_add(1);
}
#define EXPECT(condition) ::spec::expect((condition), #condition, __FILE_NAME__, __LINE__)

// What later steps rely on: the process ends, so that the others notice instead of waiting.
inline void require(bool condition, const char* text, const char* file, int line) {
  expect(condition, text, file, line);
  if (!condition) ::_exit(1);
}
#define REQUIRE(condition) ::spec::require((condition), #condition, __FILE_NAME__, __LINE__)

inline constexpr double kPatience = 100;  // seconds: longer than any machine takes to notice
inline constexpr gaspi_timeout_t kPortion = 10;

// Calls until it is over, in portions; GASPI_TIMEOUT when it never is.
template <typename Call>
gaspi_return_t in_portions(Call&& call) {
  const double end = seconds_now() + kPatience;
  gaspi_return_t result;
  do {
    result = call(kPortion);
  } while (result == GASPI_TIMEOUT && seconds_now() < end);
  return result;
}

inline std::vector<gaspi_state_t> states() {
  std::vector<gaspi_state_t> out(all);
  REQUIRE(gaspi_state_vec_get(out.data()) == GASPI_SUCCESS);
  return out;
}
inline bool is_corrupt(gaspi_rank_t rank) {
  return states()[rank] == GASPI_STATE_CORRUPT;
}

// Who this is, once gaspi_proc_init() has succeeded.
inline void introduce_oneself() {
  REQUIRE(gaspi_proc_rank(&me) == GASPI_SUCCESS && gaspi_proc_num(&all) == GASPI_SUCCESS);
  REQUIRE(gaspi_proc_incarnation(me, &own_incarnation) == GASPI_SUCCESS);
}

// The group of the others, not committed yet.
inline gaspi_group_t group_without(gaspi_rank_t lost) {
  gaspi_group_t rest = 0;
  REQUIRE(gaspi_group_create(&rest) == GASPI_SUCCESS);
  for (gaspi_rank_t r = 0; r < all; ++r)
    if (r != lost) REQUIRE(gaspi_group_add(rest, r) == GASPI_SUCCESS);
  return rest;
}

}  // namespace spec
