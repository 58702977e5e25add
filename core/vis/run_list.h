// RunList: the remote runs of one message, as they travel. Equal runs at equal distances are one
// entry, so a strided transfer costs one entry per row and not one per element.
//
// The list grows down from the end of a message whose data grows up from the beginning. An entry
// is, from its high end down: u64 address, u32 length, u32 count (16 bytes, in that order in
// memory), and below them, when count is over 1, an i64 distance. The list is read from its high
// end too.
#pragma once

#include <cstdint>
#include <cstring>

namespace causeway {

struct RunGroup {
  uint64_t addr = 0;
  uint32_t length = 0;
  uint32_t count = 0;
  int64_t stride = 0;
};

class RunWriter {
 public:
  // The most that one more run can cost.
  static constexpr size_t kMostPerRun = 24;

  explicit RunWriter(char* end) : end_(end), at_(end) {}

  // Bytes that finish() may need.
  size_t used() const {
    return static_cast<size_t>(end_ - at_) + (group_.count != 0 ? kMostPerRun : 0) +
           (open_length_ != 0 ? kMostPerRun : 0);
  }
  void add(uint64_t addr, uint32_t length) {
    if (open_length_ != 0 && open_addr_ + open_length_ == addr) {
      open_length_ += length;
      return;
    }
    close();
    open_addr_ = addr;
    open_length_ = length;
  }
  // Writes what is still held back; returns the size of the list, which ends at the end given.
  size_t finish() {
    close();
    write();
    return static_cast<size_t>(end_ - at_);
  }

 private:
  // The open run is complete: it joins the group, or begins one.
  void close() {
    if (open_length_ == 0) return;
    const auto step = static_cast<int64_t>(open_addr_ - last_addr_);
    if (group_.count != 0 && group_.length == open_length_ &&
        (group_.count == 1 || group_.stride == step)) {
      group_.stride = step;
      ++group_.count;
    } else {
      write();
      group_ = {open_addr_, open_length_, 1, 0};
    }
    last_addr_ = open_addr_;
    open_length_ = 0;
  }
  void write() {
    if (group_.count == 0) return;
    at_ -= 16;
    std::memcpy(at_, &group_.addr, 8);
    std::memcpy(at_ + 8, &group_.length, 4);
    std::memcpy(at_ + 12, &group_.count, 4);
    if (group_.count > 1) {
      at_ -= 8;
      std::memcpy(at_, &group_.stride, 8);
    }
    group_.count = 0;
  }

  char* end_;
  char* at_;
  RunGroup group_;
  uint64_t last_addr_ = 0;
  uint64_t open_addr_ = 0;
  uint32_t open_length_ = 0;
};

class RunReader {
 public:
  RunReader(const char* begin, const char* end) : begin_(begin), at_(end) {}

  // False at the end of the list; a list that is cut off ends early, with ok() false.
  bool next(RunGroup& out) {
    if (at_ == begin_) return false;
    if (at_ - begin_ < 16) return damaged();
    at_ -= 16;
    std::memcpy(&out.addr, at_, 8);
    std::memcpy(&out.length, at_ + 8, 4);
    std::memcpy(&out.count, at_ + 12, 4);
    out.stride = 0;
    if (out.length == 0 || out.count == 0) return damaged();
    if (out.count > 1) {
      if (at_ - begin_ < 8) return damaged();
      at_ -= 8;
      std::memcpy(&out.stride, at_, 8);
    }
    return true;
  }
  bool ok() const { return ok_; }

 private:
  bool damaged() {
    ok_ = false;
    return false;
  }
  const char* begin_;
  const char* at_;
  bool ok_ = true;
};

}  // namespace causeway
