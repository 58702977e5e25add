// What a case says of what it sees. EXPECT_* note a failure and go on, ASSERT_* leave the function
// too; `<< text` says more. They read as those of GoogleTest do, which a vendor's machine need not
// have. Macros, because they name their expressions and their place, and leave a function.
#pragma once

#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>

namespace causeway::conformance {

// Text that is written piece by piece.
class Words {
 public:
  template <typename T>
  Words& operator<<(const T& piece) {
    out_ << piece;
    return *this;
  }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
};

// A failure of the running case, noted when the words about it are assigned.
struct Failure {
  const char* file;
  int line;
  std::string what;
  void operator=(const Words& more) const;
};
// Whether the running case has failed.
bool has_failure();

template <typename T>
void show(std::ostream& out, const T& value) {
  if constexpr (std::is_null_pointer_v<T>) {
    out << "NULL";
  } else if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "true" : "false");
  } else if constexpr (std::is_enum_v<T>) {
    out << static_cast<long long>(value);
  } else if constexpr (std::is_integral_v<T>) {
    out << +value;
  } else if constexpr (std::is_pointer_v<T> && !std::is_convertible_v<T, const char*>) {
    out << reinterpret_cast<const void*>(value);
  } else if constexpr (requires { out << value; }) {
    out << value;
  } else {
    out << "(not to be printed)";
  }
}

// Empty when `holds`; else both expressions and their values.
template <typename A, typename B>
std::string compare(bool holds, const char* a_text, const char* relation, const char* b_text,
                    const A& a, const B& b) {
  if (holds) return "";
  std::ostringstream out;
  out << "expected " << a_text << ' ' << relation << ' ' << b_text << ", which are ";
  show(out, a);
  out << " and ";
  show(out, b);
  return out.str();
}
inline std::string expect_truth(bool holds, const char* text, const char* wanted) {
  if (holds) return "";
  std::ostringstream out;
  out << "expected " << text << " to be " << wanted;
  return out.str();
}

}  // namespace causeway::conformance

// `leave` is `return` or nothing. The switch keeps an `else` that follows from being this one's.
#define CONFORMANCE_FAILURE(...)                                      \
  ::causeway::conformance::Failure{__FILE__, __LINE__, __VA_ARGS__} = \
      ::causeway::conformance::Words()
#define CONFORMANCE_CHECK(complaint, leave)                               \
  switch (0)                                                              \
  case 0:                                                                 \
  default:                                                                \
    if (const std::string complaint_ = (complaint); complaint_.empty()) { \
    } else                                                                \
      leave CONFORMANCE_FAILURE(complaint_)
#define CONFORMANCE_COMPARE(a, relation, b, leave)                                                \
  CONFORMANCE_CHECK(([](const auto& x, const auto& y) {                                           \
                      return ::causeway::conformance::compare(x relation y, #a, #relation, #b, x, \
                                                              y);                                 \
                    }((a), (b))),                                                                 \
                    leave)
#define CONFORMANCE_TRUTH(holds, text, wanted, leave) \
  CONFORMANCE_CHECK(::causeway::conformance::expect_truth((holds), text, wanted), leave)

#define EXPECT_EQ(a, b) CONFORMANCE_COMPARE(a, ==, b, )
#define EXPECT_NE(a, b) CONFORMANCE_COMPARE(a, !=, b, )
#define EXPECT_LT(a, b) CONFORMANCE_COMPARE(a, <, b, )
#define EXPECT_LE(a, b) CONFORMANCE_COMPARE(a, <=, b, )
#define EXPECT_GT(a, b) CONFORMANCE_COMPARE(a, >, b, )
#define EXPECT_GE(a, b) CONFORMANCE_COMPARE(a, >=, b, )
#define EXPECT_TRUE(a) CONFORMANCE_TRUTH(a, #a, "true", )
#define EXPECT_FALSE(a) CONFORMANCE_TRUTH(!(a), #a, "false", )
#define EXPECT_STRNE(a, b) CONFORMANCE_TRUTH(std::strcmp(a, b) != 0, #a, "other than " #b, )
#define ASSERT_EQ(a, b) CONFORMANCE_COMPARE(a, ==, b, return )
#define ASSERT_NE(a, b) CONFORMANCE_COMPARE(a, !=, b, return )
#define ASSERT_LT(a, b) CONFORMANCE_COMPARE(a, <, b, return )
#define ASSERT_LE(a, b) CONFORMANCE_COMPARE(a, <=, b, return )
#define ASSERT_GE(a, b) CONFORMANCE_COMPARE(a, >=, b, return )
#define ASSERT_TRUE(a) CONFORMANCE_TRUTH(a, #a, "true", return )
#define ADD_FAILURE() CONFORMANCE_FAILURE("")
