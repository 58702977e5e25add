// Compares what the plugins declare of a driver's library (plugins/memkind/*/facts.h) with the
// library's own headers, where a machine has them. Everything is decided when this compiles.
//
// The plugins' names for types are others than the headers', so what must agree is what a call
// passes: as many arguments, each of the same size and sort.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace driver_facts {

template <typename Ours, typename Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return static_cast<long long>(ours) == static_cast<long long>(theirs);
}

template <typename Ours, typename Theirs>
constexpr bool passes_alike() {
  constexpr bool numbers = (std::is_integral_v<Ours> || std::is_enum_v<Ours>)&&(
      std::is_integral_v<Theirs> || std::is_enum_v<Theirs>);
  constexpr bool pointers = std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  constexpr bool records = std::is_class_v<Ours> && std::is_class_v<Theirs>;
  if constexpr (numbers || pointers || records) {
    return sizeof(Ours) == sizeof(Theirs);
  } else {
    return false;
  }
}

template <typename Ours, typename Theirs, size_t... I>
constexpr bool all_alike(std::index_sequence<I...>) {
  return (passes_alike<std::tuple_element_t<I, Ours>, std::tuple_element_t<I, Theirs>>() && ...);
}

template <typename Ours, typename Theirs>
struct Fits : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
struct Fits<R (*)(A...), S (*)(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) == sizeof...(B)) {
      return passes_alike<R, S>() &&
             all_alike<std::tuple<A...>, std::tuple<B...>>(std::index_sequence_for<A...>());
    } else {
      return false;
    }
  }();
};

// Do two structures have members of the same size at the same place?
#define DRIVER_FACT_MEMBER(ours, member, theirs, their_member)              \
  static_assert(offsetof(ours, member) == offsetof(theirs, their_member) && \
                sizeof(static_cast<ours*>(nullptr)->member) ==              \
                    sizeof(static_cast<theirs*>(nullptr)->their_member))
// Does an entry of a plugin's Api have the shape of the library's function?
#define DRIVER_FACT_CALL(name)                                                                     \
  static_assert(driver_facts::Fits<decltype(std::declval<Api&>().name), decltype(&::name)>::value, \
                #name)

}  // namespace driver_facts
