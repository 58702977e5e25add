#include "buffer.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "world.h"

namespace storm {
namespace {

constexpr size_t kBorder = 32;
constexpr unsigned char kEdge = 0xE7;

}  // namespace

int Arena::take() {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < taken_.size(); ++i) {
    next_ = (next_ + 1) % static_cast<unsigned>(taken_.size());
    if (taken_[next_]) continue;
    taken_[next_] = true;
    return static_cast<int>(next_);
  }
  return -1;
}

void Arena::give(int slot) {
  std::lock_guard lock(mutex_);
  taken_[static_cast<size_t>(slot)] = false;
}

Arena& own_slots() {
  static Arena arena(world().segment + world().slots_at(), kSlots, kSlot);
  return arena;
}

Buffer::Buffer(size_t bytes, size_t align, Random& whim, Arena& arena)
    : bytes_(bytes), arena_(&arena) {
  // Anywhere that the type allows, seldom at the beginning of a line or page.
  const size_t shift = kBorder + align * whim.below(4);
  whole_bytes_ = shift + bytes + kBorder + align;
  if (whim.chance(50) && whole_bytes_ <= arena.slot_bytes()) slot_ = arena.take();
  if (slot_ >= 0) {
    whole_ = arena.at(slot_);
  } else {
    whole_ = static_cast<std::byte*>(std::malloc(whole_bytes_));
  }
  auto address = reinterpret_cast<uintptr_t>(whole_) + shift;
  address = (address + align - 1) & ~(uintptr_t{align} - 1);
  data_ = reinterpret_cast<std::byte*>(address);
  std::memset(whole_, kEdge, whole_bytes_);
  std::memset(data_, kFresh, bytes_);
}

Buffer::Buffer(Buffer&& other) noexcept {
  *this = std::move(other);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  take_back();
  whole_ = std::exchange(other.whole_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  whole_bytes_ = other.whole_bytes_;
  arena_ = other.arena_;
  slot_ = std::exchange(other.slot_, -1);
  return *this;
}

Buffer::~Buffer() {
  take_back();
}

void Buffer::take_back() {
  if (!whole_) return;
  std::memset(whole_, kTaken, whole_bytes_);
  if (slot_ >= 0) {
    arena_->give(slot_);
  } else {
    std::free(whole_);
  }
  whole_ = nullptr;
}

void Buffer::spoil() {
  if (bytes_ != 0) std::memset(data_, kTaken, bytes_);
}

void Buffer::check_borders(const Step& step, const char* what) const {
  const auto wrong = [](const std::byte* begin, const std::byte* end) {
    for (; begin < end; ++begin)
      if (*begin != std::byte{kEdge}) return true;
    return false;
  };
  if (wrong(whole_, data_) || wrong(data_ + bytes_, whole_ + whole_bytes_))
    fail(step, "%s: a byte beside a buffer of %zu bytes (%s) was written", what, bytes_, where());
}

}  // namespace storm
