#include "local_atomics.h"

#include <gasnet_tools.h>
#include <gasnetex.h>

#include <tuple>

#include "world.h"

namespace storm {
namespace {

#define STORM_LOCAL(type, value)                                                                  \
  struct type {                                                                                   \
    using Word = gasnett_##type##_t;                                                              \
    using Value = value;                                                                          \
    static Value read(Word* w, int f) { return gasnett_##type##_read(w, f); }                     \
    static void set(Word* w, Value v) { gasnett_##type##_set(w, v, 0); }                          \
    static Value add(Word* w, Value v, int f) { return gasnett_##type##_add(w, v, f); }           \
    static Value subtract(Word* w, Value v, int f) { return gasnett_##type##_subtract(w, v, f); } \
    static void increment(Word* w, int f) { gasnett_##type##_increment(w, f); }                   \
    static void decrement(Word* w, int f) { gasnett_##type##_decrement(w, f); }                   \
    static bool decrement_and_test(Word* w, int f) {                                              \
      return gasnett_##type##_decrement_and_test(w, f) != 0;                                      \
    }                                                                                             \
    static Value swap(Word* w, Value v, int f) { return gasnett_##type##_swap(w, v, f); }         \
    static bool compare_and_swap(Word* w, Value old, Value v, int f) {                            \
      return gasnett_##type##_compare_and_swap(w, old, v, f) != 0;                                \
    }                                                                                             \
  }
STORM_LOCAL(atomic, gasnett_atomic_val_t);
STORM_LOCAL(atomic32, uint32_t);
STORM_LOCAL(atomic64, uint64_t);
STORM_LOCAL(strongatomic, gasnett_atomic_val_t);
STORM_LOCAL(strongatomic32, uint32_t);
STORM_LOCAL(strongatomic64, uint64_t);
#undef STORM_LOCAL

template <class A>
class Pair {
 public:
  using Value = typename A::Value;

  void run(Random random, unsigned thread) {
    const int fences = random.one_of(
        {0, GASNETT_ATOMIC_REL, GASNETT_ATOMIC_ACQ, GASNETT_ATOMIC_MB_PRE, GASNETT_ATOMIC_MB_POST});
    const size_t how = random.below(5);
    const auto v = static_cast<Value>(random.next());
    switch (how) {
      case 0:
        A::add(&sum_, v, fences);
        break;
      case 1:
        A::subtract(&sum_, v, fences);
        break;
      case 2:
        A::increment(&sum_, fences);
        break;
      case 3:
        A::decrement(&sum_, fences);
        break;
      default:
        A::decrement_and_test(&sum_, fences);
        break;
    }
    follow_chain(random, thread, v, fences);
  }
  void replay(Random random) {
    random.below(5);  // the fences
    const size_t how = random.below(5);
    const auto v = static_cast<Value>(random.next());
    expected_ = static_cast<Value>(how == 0   ? expected_ + v
                                   : how == 1 ? expected_ - v
                                   : how == 2 ? expected_ + 1
                                              : expected_ - 1);
  }
  void audit(const Step& last) {
    const Value have = A::read(&sum_, 0), end = A::read(&chain_, 0);
    if (have != expected_)
      fail(last, "audit: a word of the tools' atomics is 0x%lx, expected 0x%lx",
           static_cast<unsigned long>(have), static_cast<unsigned long>(expected_));
    uint64_t links = 0;
    for (const uint64_t seen : links_) links += seen;
    if (mix(end) - mix(0) != links)
      fail(last, "audit: what the tools' atomics have returned does not lead to the value, 0x%lx",
           static_cast<unsigned long>(end));
  }

 private:
  void follow_chain(Random& random, unsigned thread, Value v, int fences) {
    const auto link = [&](Value from, Value to) { links_[thread] += mix(to) - mix(from); };
    Value old{};
    switch (random.below(4)) {
      case 0:
        old = static_cast<Value>(A::add(&chain_, v, fences) - v);
        return link(old, static_cast<Value>(old + v));
      case 1:
        old = static_cast<Value>(A::subtract(&chain_, v, fences) + v);
        return link(old, static_cast<Value>(old - v));
      case 2:
        return link(A::swap(&chain_, v, fences), v);
      default:
        old = A::read(&chain_, fences);
        if (A::compare_and_swap(&chain_, old, v, fences)) link(old, v);
        return;
    }
  }
  typename A::Word sum_{}, chain_{};
  Value expected_{};
  uint64_t links_[kThreads] = {};
};

}  // namespace

struct LocalAtomics::Words {
  std::tuple<Pair<atomic>, Pair<atomic32>, Pair<atomic64>, Pair<strongatomic>, Pair<strongatomic32>,
             Pair<strongatomic64>>
      pairs;
  template <class Body>
  void each(Body body) {
    std::apply([&](auto&... pair) { (body(pair), ...); }, pairs);
  }
};

LocalAtomics::LocalAtomics() : words_(std::make_unique<Words>()) {}
LocalAtomics::~LocalAtomics() = default;

namespace {
Random random_of(const Step& step, Actor actor, unsigned round) {
  return Random(mix(mix(step.key, uint64_t{60000} + actor.number()), round));
}
constexpr unsigned kRounds = 5;
}  // namespace

void LocalAtomics::run(const Step& step, Actor actor) {
  for (unsigned i = 0; i < kRounds; ++i)
    words_->each([&](auto& pair) { pair.run(random_of(step, actor, i), actor.thread); });
}

void LocalAtomics::replay(const Step& step, Actor actor) {
  if (actor.rank != world().rank) return;
  for (unsigned i = 0; i < kRounds; ++i)
    words_->each([&](auto& pair) { pair.replay(random_of(step, actor, i)); });
}

void LocalAtomics::audit(const Step& last) {
  words_->each([&](auto& pair) { pair.audit(last); });
}

}  // namespace storm
