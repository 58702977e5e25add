// Trees: binomial (Johnsson and Ho 1989) and k-nomial.
#include "algorithms.h"

namespace base {
namespace {

// A binomial tree over ranks counted from a root. Member v > 0 hangs below v less its lowest set
// bit, on the channel of that bit.
class Binomial {
 public:
  Binomial(const Run& run, uint32_t root)
      : size_(run.info->size), root_(root), v_((run.info->rank + size_ - root) % size_) {
    while (lowest_ < log2_up(size_) && (v_ >> lowest_ & 1) == 0) ++lowest_;
  }
  bool is_root() const { return v_ == 0; }
  uint32_t levels() const { return lowest_; }  // children are v + 2^k for k below, if they exist
  bool has_child(uint32_t k) const { return (uint64_t{1} << k) + v_ < size_; }
  uint32_t child(uint32_t k) const { return real(v_ + (1u << k)); }
  uint32_t parent() const { return real(v_ & (v_ - 1)); }
  uint32_t parent_channel() const { return lowest_; }

 private:
  uint32_t real(uint32_t v) const { return (v + root_) % size_; }
  uint32_t size_, root_, v_, lowest_ = 0;
};

void begin_tree(const Run& run, uint32_t channels) {
  begin(run, channels, 4 * channels + 6);
}
void begin_tree(const Run& run) {
  begin_tree(run, log2_up(run.info->size));
}

void send_down(const Run& run, const Binomial& tree, const void* data, uint64_t bytes, When when) {
  for (uint32_t k = tree.levels(); k-- != 0;)
    if (tree.has_child(k)) send(run, tree.child(k), k, data, bytes, when);
}

// Combines what this member and those below it have into `into`; returns the last action. Leaves
// combine nothing: kNone. Children have higher ranks (counted from the tree's root): theirs go to
// the right, nearest first.
int32_t fold_children(const Run& run, const Binomial& tree, void* into, uint64_t bytes) {
  int32_t last = kNone;
  for (uint32_t k = 0; k < tree.levels(); ++k) {
    if (!tree.has_child(k)) continue;
    const void* mine = last == kNone ? run.args->src : into;
    last = fold(run, tree.child(k), k, into, mine, bytes, false, {last, 0, kNone});
  }
  return last;
}

// Signals of all children, and then one to the parent; returns the last signal that came. Nothing
// is moved, so nothing can be followed: each signal waits for the whole of the one before.
int32_t signal_up(const Run& run, const Binomial& tree) {
  int32_t last = kNone;
  for (uint32_t k = 0; k < tree.levels(); ++k)
    if (tree.has_child(k)) last = receive(run, tree.child(k), k, nullptr, 0, {kNone, 0, last});
  if (!tree.is_root())
    send(run, tree.parent(), tree.parent_channel(), nullptr, 0, {kNone, 0, last});
  return last;
}

bool has_children(const Binomial& tree) {
  return tree.levels() != 0 && tree.has_child(0);
}

}  // namespace

void barrier_tree(const Run& run) {
  begin_tree(run);
  const Binomial tree(run, 0);
  int32_t last = signal_up(run, tree);
  if (!tree.is_root()) last = receive(run, tree.parent(), tree.parent_channel(), nullptr, 0);
  send_down(run, tree, nullptr, 0, {kNone, 0, last});
}

void broadcast_binomial(const Run& run) {
  begin_tree(run);
  const Binomial tree(run, run.args->root);
  const uint64_t bytes = total_bytes(run);
  if (tree.is_root()) {
    send_down(run, tree, run.args->src, bytes, {});
    return keep_own(run);
  }
  const int32_t arrival = receive(run, tree.parent(), tree.parent_channel(), run.args->dst, bytes);
  send_down(run, tree, run.args->dst, bytes, {arrival, 0, kNone});
}

// The two halves of a barrier, for who does something in between.
void barrier_up(const Run& run) {
  begin_tree(run);
  signal_up(run, Binomial(run, run.args->root));
}

void barrier_down(const Run& run) {
  begin_tree(run);
  const Binomial tree(run, run.args->root);
  int32_t last = kNone;
  if (!tree.is_root()) last = receive(run, tree.parent(), tree.parent_channel(), nullptr, 0);
  send_down(run, tree, nullptr, 0, {kNone, 0, last});
}

// Radix 4: digit d at place p below the lowest non-zero one is a child; its channel is that pair.
void broadcast_knomial(const Run& run) {
  const uint32_t size = run.info->size, places = (log2_up(size) + 1) / 2;
  begin(run, 3 * places, 3 * places + 4);
  const uint32_t v = (run.info->rank + size - run.args->root) % size;
  const auto real = [&](uint64_t w) { return static_cast<uint32_t>((w + run.args->root) % size); };
  const uint64_t bytes = total_bytes(run);
  uint32_t place = 0;
  while (place < places && (v >> (2 * place) & 3) == 0) ++place;
  const void* data = run.args->src;
  When when;
  if (v != 0) {
    const uint32_t digit = v >> (2 * place) & 3;
    when.follow =
        receive(run, real(v - (digit << (2 * place))), 3 * place + digit - 1, run.args->dst, bytes);
    data = run.args->dst;
  }
  for (uint32_t p = place; p-- != 0;) {
    for (uint32_t digit = 1; digit <= 3; ++digit) {
      const uint64_t child = v + (uint64_t{digit} << (2 * p));
      if (child < size) send(run, real(child), 3 * p + digit - 1, data, bytes, when);
    }
  }
  if (v == 0) keep_own(run);
}

// Where order matters the tree's root is rank 0, so that the members below a child are a stretch
// of ranks, and the result takes one more step.
void reduce_one_binomial(const Run& run) {
  const uint32_t channels = log2_up(run.info->size) + 1;
  begin_tree(run, channels);
  const uint32_t top = ordered(run) ? 0 : run.args->root;
  const bool detour = top != run.args->root;
  const bool is_target = run.info->rank == run.args->root;
  const Binomial tree(run, top);
  const uint64_t bytes = total_bytes(run);
  const void* result = run.args->src;
  int32_t last = kNone;
  if (has_children(tree)) {
    void* into = is_target && !detour ? run.args->dst : memory(run, bytes);
    last = fold_children(run, tree, into, bytes);
    result = into;
  }
  if (!tree.is_root())
    last = send(run, tree.parent(), tree.parent_channel(), result, bytes, {last, 0, kNone});
  else if (detour)
    send(run, run.args->root, channels - 1, result, bytes, {last, 0, kNone});
  else if (result != run.args->dst)
    copy(run, run.args->dst, result, bytes);  // a team of one
  // Not before what was here has gone: src may be dst.
  if (is_target && detour) receive(run, top, channels - 1, run.args->dst, bytes, {kNone, 0, last});
}

// Up one tree and down the same.
void reduce_all_by_trees(const Run& run) {
  begin_tree(run);
  const Binomial tree(run, 0);
  const uint64_t bytes = total_bytes(run);
  int32_t last = fold_children(run, tree, run.args->dst, bytes);
  if (!tree.is_root()) {
    const void* mine = last == kNone ? run.args->src : run.args->dst;
    const int32_t gone =
        send(run, tree.parent(), tree.parent_channel(), mine, bytes, {last, 0, kNone});
    last =
        receive(run, tree.parent(), tree.parent_channel(), run.args->dst, bytes, {gone, 0, kNone});
  } else if (last == kNone) {
    keep_own(run);  // a team of one
  }
  send_down(run, tree, run.args->dst, bytes, {last, 0, kNone});
}

}  // namespace base
