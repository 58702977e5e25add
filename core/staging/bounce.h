// BouncePool: host buffers of one device and direction, page-locked for its copies and registered
// in every conduit that registers host memory. Those for peers lie in memory that neighbors can
// map, where there is such.
//
// Buffers are taken on behalf of a peer, which may be silent and keep them: `memkinds.<name>.depth`
// of them are everybody's, and a peer that has none while all are in use gets one made for it. So
// no peer waits for another one, and there are at most as many more as peers at once.
//
// Ownership: a device shares its pools with the transfers that have buffers. What a transfer has
// left to do when the client may destroy segment and kind (a put after its local completion, an
// owner's get after its last copy) needs host memory only: the page locks go with the device
// (retire()), the memory with the last of both.
#pragma once

#include <causeway/conduit.h>

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

  // A buffer of policy().chunk bytes on behalf of the rank, or NULL when it has to wait for some of
  // its own, or the device has gone. The first call makes them.
  char* take(uint32_t rank);
  void give(char* buffer);
  // A buffer that was taken is never given back: another one takes its place.
  void replace(char* buffer);
  // The conduit's registration of the buffer's memory, or NULL.
  cwyc_mem* registration(const char* buffer, const Conduit* conduit) const;
  // The memory that holds a buffer which was taken. The number is no other memory's of this
  // process, and not 0.
  struct Arena {
    uint32_t number;
    const Segment* memory;
  };
  Arena arena(const char* buffer) const;
  // The device goes, with no copy under way.
  void retire();

 private:
  struct Slab {
    std::unique_ptr<Segment> memory;
    uint32_t number;
    bool pinned;
  };
  struct Buffer {
    char* at;
    uint32_t rank;
    bool taken;
  };
  // The device has not gone.
  void make(uint32_t buffers);
  bool make_another();
  Slab& slab_of(const char* buffer);
  const Slab& slab_of(const char* buffer) const {
    return const_cast<BouncePool*>(this)->slab_of(buffer);
  }
  Device* device_;  // NULL once it has gone
  const For whom_;
  mutable std::mutex mutex_;
  std::vector<Slab> slabs_;
  std::vector<Buffer> buffers_;
};

}  // namespace causeway
