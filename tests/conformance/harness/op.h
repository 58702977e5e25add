// Op: one pending operation that checks the completion rules of conduit.h while it lives: each bit
// once, nothing after the last bit, nothing after CWY_OK, untouched by CWY_RETRY, and left alone
// then.
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace causeway::conformance {

class Op {
 public:
  // `required`: the bits that must be reported before the operation is over. `final`: the bit
  // after which the conduit may not touch it any more.
  void arm(const char* what, uint32_t required, uint32_t final_bit);

  // Wraps one posting call: `call(cwyc_op*)`. Records what the answer allows to happen later.
  template <typename Call>
  cwy_status post(Call&& call) {
    const cwyc_op before = raw_;
    // Relaxed: this thread posts; a report from another thread is ordered by the conduit.
    state_.store(kPosting, std::memory_order_relaxed);
    const cwy_status answer = call(&raw_);
    after_post(answer, before);
    return answer;
  }

  bool done() const;              // every required bit reported, or complete at once
  bool has(uint32_t bits) const;  // these bits reported, or complete at once
  cwy_status status() const;      // of the report that ended it; CWY_OK while pending
  bool pending() const { return !done(); }
  bool explained() const;  // a failing report had a text

 private:
  friend class OpPool;
  static void report(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail* detail);
  void after_post(cwy_status answer, const cwyc_op& before);
  // From now on the cwyc_op is the caller's again.
  void rest();
  bool disturbed() const;

  enum : uint32_t { kIdle, kPosting, kPosted, kImmediate, kRefused };

  cwyc_op raw_{};  // first: report() finds the Op by its address
  const char* what_ = "";
  uint32_t required_ = 0, final_ = 0;
  std::atomic<uint32_t> state_{kIdle};
  std::atomic<uint32_t> seen_{0};
  std::atomic<bool> resting_{false}, explained_{false};
  std::atomic<cwy_status> status_{CWY_OK};
};

// Keeps every Op until the case is over, so that a report that comes too late or twice is seen
// and not a crash. get() may be called by several threads.
class OpPool {
 public:
  OpPool() = default;
  ~OpPool();  // a cwyc_op that was written to after its end is a breach
  OpPool(const OpPool&) = delete;
  OpPool& operator=(const OpPool&) = delete;

  Op& put(const char* what = "put");    // LOCAL and REMOTE
  Op& fetch(const char* what = "get");  // REMOTE
  Op& am(const char* what = "am");      // LOCAL
  size_t unfinished() const;            // posted and not over
  // Those posted and not over, for messages.
  std::string describe_unfinished() const;
  std::string disturbed() const;  // which was written to after its end, or ""

 private:
  Op& get(const char* what, uint32_t required, uint32_t final_bit);
  mutable std::mutex lock_;
  std::deque<Op> ops_;
};

}  // namespace causeway::conformance
