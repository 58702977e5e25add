// Shorter: a structure for a plugin to fill that is half as long as the plugin's, as an older
// core's is.
#pragma once

#include <causeway/plugin.h>

#include <cstdint>
#include <cstring>

#include "expect.h"

namespace causeway::conformance {

template <typename T>
class Shorter {
 public:
  Shorter() {
    std::memset(static_cast<void*>(&place_), kMark, sizeof place_);
    place_.value.head = CWY_HEAD(T);
    place_.value.head.struct_size = kRoom;
  }
  T* get() { return &place_.value; }
  // The head is the caller's, and so is every byte behind its size.
  void expect_kept() const {
    EXPECT_EQ(place_.value.head.struct_size, kRoom) << "the head is the caller's";
    const auto* bytes = reinterpret_cast<const uint8_t*>(&place_);
    for (size_t i = kRoom; i < sizeof place_; ++i)
      ASSERT_EQ(bytes[i], kMark) << "byte " << i << " written of a structure of " << kRoom;
  }

 private:
  static constexpr size_t kRoom = sizeof(T) / 2 / 8 * 8;
  static constexpr uint8_t kMark = 0xab;
  struct {
    T value;
    uint8_t behind[64];
  } place_;
};

}  // namespace causeway::conformance
