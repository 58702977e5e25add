// Memory of a container in cache lines of its own: what every operation reads lies beside nothing
// that another thread writes.
#pragma once

#include <cstddef>
#include <new>

namespace causeway {

template <typename T>
struct LineAllocator {
  using value_type = T;
  static constexpr size_t kLine = 64;

  LineAllocator() = default;
  template <typename Other>
  LineAllocator(const LineAllocator<Other>&) {}  // as a container's other types need it

  T* allocate(size_t count) {
    const size_t bytes = (count * sizeof(T) + kLine - 1) / kLine * kLine;
    return static_cast<T*>(::operator new (bytes, std::align_val_t{kLine}));
  }
  void deallocate(T* memory, size_t) { ::operator delete (memory, std::align_val_t{kLine}); }
  bool operator==(const LineAllocator&) const = default;
};

}  // namespace causeway
