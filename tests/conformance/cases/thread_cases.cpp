// One-sided operations of several threads on one connection.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "../harness/threads.h"
#include "atomic_model.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

constexpr uint32_t kThreads = 4;
constexpr uint64_t kWord = 64, kStretch = 4096;

Nothing clear_word(Side& side, const Nothing&) {
  std::memset(side.memory->data() + kWord, 0, 8);
  return {};
}

// The progressing is another thread's.
template <class Post>
void complete(Op& op, const char* what, Post&& post) {
  const Deadline deadline(what, 20.0);
  while (op.post(post) == CWY_RETRY) {
    sched_yield();
    deadline.check();
  }
  while (!op.done()) {
    sched_yield();
    deadline.check();
  }
  require_ok(op.status(), what);
}

// The work of a thread: its own bytes there and back, and 1 added to the word of all.
class Worker {
 public:
  Worker(Session& s, uint32_t thread, bool counts)
      : s_(s), thread_(thread), counts_(counts), random_(world().settings.seed + thread) {}

  void run(uint32_t rounds) {
    for (uint32_t n = 0; n < rounds; ++n) {
      there_and_back(uint64_t{n} * kThreads + thread_);
      if (counts_) fetch_add();
    }
  }
  const std::vector<uint64_t>& fetched() const { return fetched_; }

 private:
  void there_and_back(uint64_t key) {
    const size_t most = std::min<uint64_t>(s_.ep().attr().rma_max, 3000);
    const size_t length = 1 + random_.below(most);
    std::vector<uint8_t> source(length), back(length);
    fill_pattern(source.data(), length, key);
    const uint64_t raddr = s_.remote().base() + (thread_ + 1) * kStretch;
    complete(s_.pool().put(), "put", [&](cwyc_op* raw) {
      return s_.ops().put(s_.raw(), source.data(), nullptr, raddr, s_.remote().get(), length, 0,
                          raw);
    });
    complete(s_.pool().fetch(), "get", [&](cwyc_op* raw) {
      return s_.ops().get(s_.raw(), back.data(), nullptr, raddr, s_.remote().get(), length, 0, raw);
    });
    if (const size_t at = first_difference(back.data(), length, key); at != length)
      throw Error(CWY_ERR_INVALID, "byte {} of {} that thread {} has put is another", at, length,
                  thread_);
  }
  void fetch_add() {
    uint64_t previous = 0;
    cwyc_atomic request{};
    request.head = CWY_HEAD(cwyc_atomic);
    request.raddr = s_.remote().base() + kWord;
    request.operand1 = 1;
    request.result = &previous;
    request.dt = 1u << kU64;
    request.opcode = 1u << (kFetching + kAdd);
    complete(s_.pool().fetch("atomic"), "atomic", [&](cwyc_op* raw) {
      return s_.ops().atomic(s_.raw(), &request, s_.remote().get(), 0, raw);
    });
    fetched_.push_back(previous);
  }

  Session& s_;
  const uint32_t thread_;
  const bool counts_;
  Random random_;
  std::vector<uint64_t> fetched_;
};

void expect_each_once(const std::vector<Worker>& workers) {
  std::vector<uint64_t> all;
  for (const Worker& w : workers) all.insert(all.end(), w.fetched().begin(), w.fetched().end());
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i) << "fetched values, each once";
}

// Catches counters and lists of put, get and atomic that threads share without a lock.
void one_sided_operations_at_once() {
  Session s({.memory = 1u << 20, .multithreaded = 1});
  s.call(clear_word, Nothing{});
  const bool counts =
      s.ops().atomic != nullptr && ((world().attr.atomic_ops[kU64] >> (kFetching + kAdd)) & 1) != 0;
  std::vector<Worker> workers;
  for (uint32_t t = 0; t < kThreads; ++t) workers.emplace_back(s, t, counts);
  const auto failures =
      beside_progress(s, kThreads, [&](uint32_t t) { workers[t].run(500 / kSlowdown); });
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  if (!has_failure()) expect_each_once(workers);
}

const Cases cases{
    {"Threads", "one_sided_operations_at_once", kMulti | kPut | kGet | kMemory,
     one_sided_operations_at_once},
};

}  // namespace
}  // namespace causeway::conformance
