// FirstFailure: what an operation in parts reports late. The first of its parts that fails is told
// of, with what the network said, whose own words are valid during its report only.
//
// Any thread notes. Whoever reads is ordered behind the notes by counting the parts, or sees the
// status (acquire) and with it all that belongs to it.
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <string>

namespace causeway {

class FirstFailure {
 public:
  void note(cwy_status status, const cwy_detail* detail) {
    if (claimed_.exchange(true, std::memory_order_relaxed)) return;  // only picks one
    if (detail != nullptr) {
      code_ = detail->code;
      if (detail->text != nullptr) text_ = detail->text;
    }
    status_.store(status, std::memory_order_release);
  }
  // CWY_OK: none.
  cwy_status status() const { return status_.load(std::memory_order_acquire); }
  // The detail of a failure; its text lives as long as this object.
  cwy_detail detail() const {
    return {CWY_HEAD(cwy_detail), code_, 0, text_.empty() ? nullptr : text_.c_str()};
  }
  // Reports `what` of the whole.
  void report(cwyc_op* op, uint32_t what) const {
    const cwy_status failure = status();
    const cwy_detail said = detail();
    op->fn(op, what, failure, failure == CWY_OK ? nullptr : &said);
  }

 private:
  std::atomic<bool> claimed_{false};
  std::atomic<cwy_status> status_{CWY_OK};
  int32_t code_ = 0;
  std::string text_;
};

}  // namespace causeway
