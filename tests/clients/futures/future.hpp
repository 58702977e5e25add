// Futures: values that arrive while somebody calls progress(). No GASNet here.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace futures {

void progress();

template <class T>
class future {
 public:
  struct cell {
    bool ready = false;
    T value = T();
    std::vector<std::function<void(T)>> waiting;
  };

  future() : cell_(std::make_shared<cell>()) {}
  bool is_ready() const { return cell_->ready; }

  T wait() const {
    while (!cell_->ready) progress();
    return cell_->value;
  }

  // The result of `next`, called with the value as soon as it is here.
  template <class F>
  auto then(F next) const -> future<decltype(next(std::declval<T>()))> {
    typedef decltype(next(std::declval<T>())) result;
    future<result> after;
    auto call = [next, after](T value) { after.fulfill(next(value)); };
    if (cell_->ready) {
      call(cell_->value);
    } else {
      cell_->waiting.push_back(call);
    }
    return after;
  }

  void fulfill(T value) const {
    cell_->value = value;
    cell_->ready = true;
    std::vector<std::function<void(T)>> waiting;
    waiting.swap(cell_->waiting);
    for (auto& call : waiting) call(value);
  }

 private:
  std::shared_ptr<cell> cell_;
};

struct unit {};

}  // namespace futures
