// Structures that cross between two minors of the interface.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/plugin.h>

#include <algorithm>
#include <cstring>

namespace causeway {

// The members that the writer of `given` filled; later ones are 0.
template <class T>
T known_part(const T& given) {
  T out{};
  std::memcpy(&out, &given, std::min<size_t>(given.head.struct_size, sizeof out));
  return out;
}

// Writes as much of `all` as the caller's structure has room for; one that names no size is of
// ours. The head stays the caller's.
template <class T>
void give_known_part(T all, T* out) {
  all.head = out->head;
  const size_t room = all.head.struct_size;
  std::memcpy(out, &all, room != 0 && room < sizeof all ? room : sizeof all);
}

}  // namespace causeway
