// What the cases of GASPI share: they run in the same order on every rank, a failed check on any
// rank fails the case on all, later cases still run, and only rank 0 says how things went. The same
// manners as tests/spec/harness.h, by GASPI's own means.
#pragma once

#include <GASPI.h>

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

namespace spec {

struct Job {
  gaspi_rank_t rank = 0, size = 0;
  gaspi_rank_t peer(unsigned distance = 1) const {
    return static_cast<gaspi_rank_t>((rank + distance) % size);
  }
  gaspi_rank_t behind(unsigned distance = 1) const {
    return static_cast<gaspi_rank_t>((rank + size - distance % size) % size);
  }
};
const Job& job();

// Segment 0 of every rank, kBytes long, is there for every case; segment 1 too, half of it. Both
// are zero, without notifications, when a case begins.
inline constexpr size_t kBytes = 1u << 20;
std::byte* memory(size_t offset = 0);
std::byte* memory1(size_t offset = 0);
template <typename T>
T* at(size_t offset) {
  return reinterpret_cast<T*>(memory(offset));
}

void barrier();
double seconds_now();
// Every blocking wait of a case ends: so many milliseconds are for ever on any machine.
inline constexpr gaspi_timeout_t kLong = 60000;
uint64_t seed();  // printed by rank 0, or from --seed=N

struct Case {
  const char *group, *name;
  void (*body)();
  unsigned least_ranks;
};
class Registration {
 public:
  Registration(const char* group, const char* name, void (*body)(), unsigned least_ranks = 1);
};
#define SPEC_CASE(group, name, ...)                              \
  static void group##_##name();                                  \
  static const ::spec::Registration group##_##name##_registered{ \
      #group, #name, group##_##name __VA_OPT__(, ) __VA_ARGS__}; \
  static void group##_##name()

int run_cases(int argc, char** argv);
// The same for a process that has called gaspi_proc_init().
int run_cases_of_started(int argc, char** argv);

void report_failure(const char* file, int line, const std::string& text);
void skip_case(const std::string& reason);

template <typename T>
std::string printed(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_enum_v<T>)
    out << static_cast<long long>(value);
  else if constexpr (std::is_same_v<T, unsigned char> || std::is_same_v<T, char>)
    out << static_cast<int>(value);
  else
    out << value;
  return out.str();
}
template <typename A, typename B>
bool check_equal(const A& actual, const B& expected, const char* what, const char* text,
                 const char* file, int line) {
  bool same;
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>)
    same = std::cmp_equal(actual, expected);
  else
    same = actual == expected;
  if (!same)
    report_failure(file, line,
                   std::string(what) + " is " + printed(actual) + ", expected " + text + " = " +
                       printed(expected));
  return same;
}
#define CHECK(condition) \
  ((condition) ? true    \
               : (::spec::report_failure(__FILE__, __LINE__, "not true: " #condition), false))
#define CHECK_EQ(actual, expected) \
  ::spec::check_equal((actual), (expected), #actual, #expected, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK_EQ(call, GASPI_SUCCESS)

// Waits for one notification of segment `id` and resets it; 0 when it does not come.
gaspi_notification_t take_note(gaspi_segment_id_t id, gaspi_notification_id_t note);

// A small generator: the same numbers from the same seed everywhere.
class Random {
 public:
  explicit Random(uint64_t s) : state_(s * 2654435761u + 88172645463325252ull) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t state_;
};

}  // namespace spec
