// A buffer that a thread keeps for a message: to pack it where the conduit lends no room, to have a
// payload at another address. One per thread and use, as large as the largest message so far, so
// memory does not grow with what is under way.
#pragma once

#include <cstddef>
#include <memory>

namespace causeway {

class ThreadBuffer {
 public:
  // Aligned for any type; what was in it before is lost.
  char* of(size_t bytes) {
    if (bytes > size_) {
      bytes_.reset(new char[bytes]);
      size_ = bytes;
    }
    return bytes_.get();
  }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
};

}  // namespace causeway
