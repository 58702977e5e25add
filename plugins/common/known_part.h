// Reads structures whose writer may be of another minor of the interface.
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

}  // namespace causeway
