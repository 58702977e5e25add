// LazyTable: objects by number, each made at its first use. Before that it costs a pointer, which
// takes no page of memory where the table is large.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace causeway {

template <typename T>
class LazyTable {
 public:
  explicit LazyTable(size_t count)
      : count_(count), slots_(static_cast<Slot*>(std::calloc(count + 1, sizeof(Slot)))) {
    if (slots_ == nullptr) throw std::bad_alloc();
  }
  LazyTable(const LazyTable&) = delete;
  LazyTable& operator=(const LazyTable&) = delete;
  ~LazyTable() {
    for_each([](T& object) { delete &object; });
    std::free(slots_);
  }

  // NULL: not made. Acquire: the object is complete.
  T* find(size_t i) const { return slots_[i].load(std::memory_order_acquire); }
  // The object, made by make() if need be; where two threads do so at once, the first is kept.
  template <typename Make>
  T& at(size_t i, Make&& make) {
    if (T* const object = find(i)) return *object;
    std::unique_ptr<T> fresh = make();
    T* other = nullptr;
    if (slots_[i].compare_exchange_strong(other, fresh.get(), std::memory_order_acq_rel))
      return *fresh.release();
    return *other;
  }
  template <typename Fn>
  void for_each(Fn&& fn) const {
    for (size_t i = 0; i < count_; ++i)
      if (T* const object = find(i)) fn(*object);
  }

 private:
  using Slot = std::atomic<T*>;  // set once
  static_assert(Slot::is_always_lock_free && sizeof(Slot) == sizeof(T*), "zeros are null pointers");
  size_t count_;
  Slot* slots_;
};

}  // namespace causeway
