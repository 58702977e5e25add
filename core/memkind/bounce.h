// BouncePool: host buffers of one device and direction, page-locked for its copies and registered
// in every conduit that registers host memory. At most `memkinds.<name>.depth` of them. Those for
// peers lie in memory that neighbors can map, where there is such.
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace causeway {

class Conduit;
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
  // A buffer that was taken is never given back: another one takes its place.
  void replace();
  // The conduit's registration of the buffer's memory, or NULL.
  cwyc_mem* registration(const char* buffer, const Conduit* conduit) const;
  // What the buffers lie in. After a take() that succeeded, and where nothing was replaced.
  const Segment& memory() const { return *slabs_.front().memory; }
  // No other pool of this process had it; not 0. After a take() likewise.
  uint32_t number() const { return number_; }

 private:
  struct Slab {
    std::unique_ptr<Segment> memory;
    bool pinned;
  };
  void make(uint32_t buffers);
  Device& device_;
  const For whom_;
  uint32_t number_ = 0;
  mutable std::mutex mutex_;
  std::vector<Slab> slabs_;
  std::vector<char*> free_;
};

}  // namespace causeway
