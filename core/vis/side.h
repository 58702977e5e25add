// Side: where one end of a transfer lies, as runs of bytes in the order in which they are sent or
// filled. Cursor and Walk go through the runs; Walk through both ends together.
#pragma once

#include <gasnetex.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace causeway {

// A dimension of a strided side, innermost first.
struct Level {
  size_t count;
  ptrdiff_t stride;
};

struct Side {
  enum class Kind : uint8_t { vector, indexed, strided };
  Kind kind = Kind::strided;
  uintptr_t bias = 0;     // added to every address: a segment's base, the distance to a mapping
  size_t runs = 0;        // entries of the list, or product of the levels' counts
  size_t run_length = 0;  // bytes of each run; a vector's differ
  const gex_Memvec_t* vector = nullptr;
  void* const* indexed = nullptr;
  uintptr_t base = 0;  // strided
  const Level* levels = nullptr;
  size_t level_count = 0;

  static Side of_vector(const gex_Memvec_t* list, size_t count) {
    Side side;
    side.kind = Kind::vector;
    side.runs = count;
    side.vector = list;
    return side;
  }
  static Side of_indexed(void* const* list, size_t count, size_t length) {
    Side side;
    side.kind = Kind::indexed;
    side.runs = length != 0 ? count : 0;
    side.run_length = length;
    side.indexed = list;
    return side;
  }

  char* address(uintptr_t addr) const { return reinterpret_cast<char*>(addr + bias); }

  // Bytes in all; `longest` receives the length of the longest run. Reads a vector's whole list.
  size_t total(size_t* longest) const {
    if (kind != Kind::vector) {
      *longest = runs != 0 ? run_length : 0;
      return runs * run_length;
    }
    size_t sum = 0, most = 0;
    for (size_t i = 0; i < runs; ++i) {
      sum += vector[i].gex_len;
      most = std::max(most, vector[i].gex_len);
    }
    *longest = most;
    return sum;
  }
};

class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(const Side& side) : side_(&side) { enter(); }

  char* addr() const { return addr_; }
  size_t left() const { return left_; }  // of this run; 0 at the end of the side
  void advance(size_t n) {
    addr_ += n;
    left_ -= n;
    if (left_ == 0) {
      ++run_;
      enter();
    }
  }

 private:
  void enter() {
    const Side& s = *side_;
    if (s.kind == Side::Kind::vector)
      while (run_ < s.runs && s.vector[run_].gex_len == 0) ++run_;
    if (run_ >= s.runs) {
      left_ = 0;
      return;
    }
    switch (s.kind) {
      case Side::Kind::vector:
        addr_ = s.address(reinterpret_cast<uintptr_t>(s.vector[run_].gex_addr));
        left_ = s.vector[run_].gex_len;
        return;
      case Side::Kind::indexed:
        addr_ = s.address(reinterpret_cast<uintptr_t>(s.indexed[run_]));
        break;
      case Side::Kind::strided:
        addr_ = next_strided();
        break;
    }
    left_ = s.run_length;
  }

  // The innermost level by addition, the others from the run's number once per row: a cursor is
  // small enough to be copied where a transfer may have to come back to.
  char* next_strided() {
    const Side& s = *side_;
    if (s.level_count == 0) return s.address(s.base);
    if (row_left_ != 0) {
      row_ += static_cast<uintptr_t>(s.levels[0].stride);
    } else {
      row_left_ = s.levels[0].count;
      row_ = s.base;
      size_t rest = run_ / row_left_;
      for (size_t i = 1; i < s.level_count && rest != 0; ++i) {
        row_ += (rest % s.levels[i].count) * static_cast<uintptr_t>(s.levels[i].stride);
        rest /= s.levels[i].count;
      }
    }
    --row_left_;
    return s.address(row_);
  }

  const Side* side_ = nullptr;
  size_t run_ = 0;
  size_t left_ = 0;
  char* addr_ = nullptr;
  uintptr_t row_ = 0;
  size_t row_left_ = 0;
};

// Both ends together. A piece is what is contiguous on both.
struct Walk {
  Cursor local, remote;
  bool done() const { return local.left() == 0 || remote.left() == 0; }
  size_t piece() const { return std::min(local.left(), remote.left()); }
  void advance(size_t n) {
    local.advance(n);
    remote.advance(n);
  }
};

}  // namespace causeway
