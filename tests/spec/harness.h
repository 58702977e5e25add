// A harness for specification tests of a whole job: cases run in the same order on every rank,
// a failed check on any rank fails the case on all, later cases still run, and only rank 0 says
// how things went. Failed checks are printed by the rank that saw them.
//
// Every source that includes this is compiled once per threading mode.
#pragma once

#include <gasnetex.h>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace spec {

// The objects every case works with. `segment` and the addresses are valid after attachment only.
struct Job {
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Rank_t rank = 0;
  gex_Rank_t size = 0;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;

  gex_Rank_t peer(gex_Rank_t distance = 1) const { return (rank + distance) % size; }
  gex_Rank_t behind(gex_Rank_t distance = 1) const {
    return (rank + size - distance % size) % size;
  }
};
Job& job();

// Starts the library and fills client, ep and tm. The harness' own calls gex_Client_Init; a program
// may define another.
void start_client(Job& job, int* argc, char*** argv);

// Where `offset` bytes into the segment of `rank` is, as that rank sees it.
std::byte* segment_of(gex_Rank_t rank, size_t offset = 0);
std::byte* my_segment(size_t offset = 0);
// Where GEX_FLAG_*_SEG_OFFSET counts from: what is bound to the endpoint of `rank`, which is not
// always where segment_of() begins.
inline std::byte* offset_base([[maybe_unused]] gex_Rank_t rank) {
#ifdef GASNET_SEGMENT_EVERYTHING
  return nullptr;
#else
  return segment_of(rank);
#endif
}
inline void* as_offset(gex_Rank_t rank, const void* address) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) -
                                 reinterpret_cast<uintptr_t>(offset_base(rank)));
}
// Bytes of the segment that every rank has.
size_t segment_bytes();
// The first page of every segment belongs to the harness and to cases that keep small flags.
constexpr size_t kScratchOffset = 4096;

void barrier();
double seconds_now();
// `base` operations on a small job, fewer per rank on a large one, at least `least`.
unsigned scaled(unsigned base, unsigned least = 1);

// ---- cases ----
enum class Phase { unattached, attached };

struct Case {
  const char* group;
  const char* name;
  void (*body)();
  gex_Rank_t min_ranks;
  Phase phase;
};

class Registration {
 public:
  Registration(const char* group, const char* name, void (*body)(), gex_Rank_t min_ranks = 1,
               Phase phase = Phase::attached);
};

// SPEC_CASE(group, name[, least ranks[, phase]]) { body }
#define SPEC_CASE(group, name, ...)                              \
  static void group##_##name();                                  \
  static const ::spec::Registration group##_##name##_registered{ \
      #group, #name, group##_##name __VA_OPT__(, ) __VA_ARGS__}; \
  static void group##_##name()

// ---- handlers ----
template <typename... Args>
concept HandlerArgs = (std::same_as<Args, gex_AM_Arg_t> && ...);

// One active-message handler, declared at namespace scope; the harness registers all of them
// without a wished-for index before the first case and the object then converts to its index.
class Handler {
 public:
  template <typename... Args>
  requires HandlerArgs<Args...> Handler(void (*fn)(gex_Token_t, Args...), gex_Flags_t direction,
                                        const char* name, const void* cdata = nullptr)
      : Handler(reinterpret_cast<gex_AM_Fn_t>(fn), GEX_FLAG_AM_SHORT | direction, sizeof...(Args),
                name, cdata) {}

  template <typename... Args>
  requires HandlerArgs<Args...> Handler(void (*fn)(gex_Token_t, void*, size_t, Args...),
                                        gex_Flags_t flags, const char* name,
                                        const void* cdata = nullptr)
      : Handler(reinterpret_cast<gex_AM_Fn_t>(fn), flags, sizeof...(Args), name, cdata) {}

  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  operator gex_AM_Index_t() const { return entry_.gex_index; }
  const gex_AM_Entry_t& entry() const { return entry_; }

 private:
  friend class HandlerTable;
  Handler(gex_AM_Fn_t fn, gex_Flags_t flags, unsigned nargs, const char* name, const void* cdata);
  gex_AM_Entry_t entry_;
};

// Registers `table` and remembers which indices are taken, for cases that predict the next one.
int register_handlers(gex_AM_Entry_t* table, size_t entries);
bool handler_index_taken(unsigned index);

// ---- checks ----
void report_failure(const char* file, int line, const std::string& text);
// Ends the case early on every rank that calls it; rank 0 prints the reason.
void skip_case(const std::string& reason);

template <typename T>
std::string printed(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_enum_v<T>)
    out << static_cast<long long>(value);
  else if constexpr (std::is_same_v<T, char> || std::is_same_v<T, uint8_t> ||
                     std::is_same_v<T, int8_t>)
    out << static_cast<int>(value);
  else if constexpr (std::is_pointer_v<T> && !std::is_convertible_v<T, std::string_view>)
    out << reinterpret_cast<const void*>(value);
  else
    out << value;
  return out.str();
}

template <typename A, typename B>
bool equal(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, bool> &&
                !std::is_same_v<B, bool> && !std::is_same_v<A, char> && !std::is_same_v<B, char>)
    return std::cmp_equal(a, b);
  else
    return a == b;
}

template <typename A, typename B>
bool check_equal(const A& actual, const B& expected, const char* actual_text,
                 const char* expected_text, const char* file, int line) {
  if (equal(actual, expected)) return true;
  report_failure(file, line,
                 std::string(actual_text) + " is " + printed(actual) + ", expected " +
                     expected_text + " = " + printed(expected));
  return false;
}

// Macros because the text of the expression is the message.
#define CHECK(condition) \
  ((condition) ? true    \
               : (::spec::report_failure(__FILE__, __LINE__, "not true: " #condition), false))
#define CHECK_EQ(actual, expected) \
  ::spec::check_equal((actual), (expected), #actual, #expected, __FILE__, __LINE__)
#define FAIL(text) ::spec::report_failure(__FILE__, __LINE__, (text))

// ---- data ----
// A pattern that depends on the seed and on the position, so that lost, doubled, shifted and
// foreign bytes all show.
void fill(void* memory, size_t bytes, uint64_t seed);
// Position of the first wrong byte, or `bytes`.
size_t first_difference(const void* memory, size_t bytes, uint64_t seed);

#define CHECK_PATTERN(memory, bytes, seed)                                                \
  ::spec::check_equal(::spec::first_difference((memory), (bytes), (seed)),                \
                      static_cast<size_t>(bytes), "first wrong byte of " #memory, #bytes, \
                      __FILE__, __LINE__)

}  // namespace spec
