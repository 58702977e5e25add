/* The operations of cwyc_ops in one list, for code that treats all of them alike: the core's
 * tables, and conduits that stand in front of others. Empty before C++20. Experimental: no part of
 * the interface that a conduit is built against, and free to change in any minor.
 *
 * To add an operation: its member in conduit.h, its line here, and its implementations.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef CAUSEWAY_OPERATIONS_H
#define CAUSEWAY_OPERATIONS_H

#include <causeway/conduit.h>

#if defined(__cplusplus) && __cplusplus >= 202002L

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace causeway {

/* The connection that serves an operation: rules of `peers:` direct these kinds separately. */
enum class Lane : uint8_t { put, get, atomic, am };

/* One member of cwyc_ops. */
template <auto Member>
struct TableEntry {
  static constexpr auto member = Member;

  const char* name;    /* of the member */
  const char* native;  /* its word in `native:`; NULL: the configuration cannot forbid it */
  uint64_t capability; /* CWYC_CAP_*; 0: every conduit has the operation */
  Lane lane;
  uint32_t reports;  /* CWYC_DONE_* that follow CWY_INPROGRESS; 0: complete on return */
  bool reaches_peer; /* what another process may notice leaves this one during the call */
  int8_t length_at;  /* argument behind `conn`, from 0, that is the payload's bytes; -1: none is */
};

/* In the order of cwyc_ops. */
/* clang-format off */
inline constexpr uint32_t reports_none = 0, reports_local = CWYC_DONE_LOCAL,
                          reports_remote = CWYC_DONE_REMOTE,
                          reports_both = CWYC_DONE_LOCAL | CWYC_DONE_REMOTE;
inline constexpr std::tuple operations{
    TableEntry<&cwyc_ops::put>       {"put",        "put",        CWYC_CAP_PUT,        Lane::put,    reports_both,   true,  4},
    TableEntry<&cwyc_ops::get>       {"get",        "get",        CWYC_CAP_GET,        Lane::get,    reports_remote, false, 4},
    TableEntry<&cwyc_ops::putv>      {"putv",       "vector",     CWYC_CAP_VECTOR,     Lane::put,    reports_both,   true,  -1},
    TableEntry<&cwyc_ops::getv>      {"getv",       "vector",     CWYC_CAP_VECTOR,     Lane::get,    reports_remote, false, -1},
    TableEntry<&cwyc_ops::atomic>    {"atomic",     "atomic",     CWYC_CAP_ATOMIC,     Lane::atomic, reports_remote, true,  -1},
    TableEntry<&cwyc_ops::am_short>  {"am_short",   nullptr,      0,                   Lane::am,     reports_none,   true,  -1},
    TableEntry<&cwyc_ops::am_medium> {"am_medium",  nullptr,      0,                   Lane::am,     reports_local,  true,  5},
    TableEntry<&cwyc_ops::am_long>   {"am_long",    "am_long",    CWYC_CAP_AM_LONG,    Lane::am,     reports_local,  true,  5},
    TableEntry<&cwyc_ops::am_prepare>{"am_prepare", "am_prepare", CWYC_CAP_AM_PREPARE, Lane::am,     reports_none,   false, 1},
    TableEntry<&cwyc_ops::am_commit> {"am_commit",  "am_prepare", CWYC_CAP_AM_PREPARE, Lane::am,     reports_none,   true,  4},
    TableEntry<&cwyc_ops::am_cancel> {"am_cancel",  "am_prepare", CWYC_CAP_AM_PREPARE, Lane::am,     reports_none,   false, -1},
};
/* clang-format on */
inline constexpr size_t operation_count = std::tuple_size_v<decltype(operations)>;

/* Calls fn(operation) for each; its member is a constant, `decltype(operation)::member`. */
template <typename Fn>
constexpr void for_each_operation(Fn&& fn) {
  std::apply([&](const auto&... each) { (fn(each), ...); }, operations);
}

/* The line of a member, and its number in the list. */
template <auto Member>
constexpr auto operation_of() {
  return std::get<TableEntry<Member>>(operations);
}
template <auto Member>
constexpr size_t number_of() {
  size_t number = 0, found = operation_count;
  for_each_operation([&]<typename Each>(const Each&) {
    if constexpr (std::is_same_v<Each, TableEntry<Member>>) found = number;
    ++number;
  });
  return found;
}

/* Every member of cwyc_ops is in the list: they all are function pointers behind the head. */
static_assert(sizeof(cwyc_ops) == offsetof(cwyc_ops, put) + operation_count * sizeof(void*));

} /* namespace causeway */

#endif /* C++20 */
#endif
