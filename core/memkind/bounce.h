// BouncePool: host buffers of one device and direction, page-locked for its copies and registered
// in every conduit that registers host memory. At most `memkinds.<name>.depth` of them. Those for
// peers lie in memory that neighbors can map, where there is such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace causeway {

class Device;
class Segment;

class BouncePool {
 public:
  enum class For { here, peers };
  BouncePool(Device& device, For whom);
  ~BouncePool();
  BouncePool(const BouncePool&) = delete;
  BouncePool& operator=(const BouncePool&) = delete;

  // A buffer of policy().chunk bytes, or NULL when all are in use. The first call makes them.
  char* take();
  void give(char* buffer);
  // What the buffers lie in: has their registrations. After a take() that succeeded.
  const Segment& memory() const { return *memory_; }
  // No other pool of this process had it; not 0. After a take() likewise.
  uint32_t number() const { return number_; }

 private:
  void make();
  Device& device_;
  const For whom_;
  uint32_t number_ = 0;
  std::mutex mutex_;
  std::unique_ptr<Segment> memory_;
  bool pinned_ = false;
  std::vector<char*> free_;
};

}  // namespace causeway
