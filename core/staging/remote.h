// RemoteDevice: what a process publishes of a segment of device memory, and how a peer reaches it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "connection/peer.h"
#include "kinds/device_facts.h"
#include "staging/imports.h"

namespace causeway {

class Device;

// Host buffers of another process, through which it copies for this one
// (staging/staging_service.h).
class FarArena {
 public:
  // Maps it here where that is possible. `peer` is connected. Throws Error.
  FarArena(uint32_t number, const std::string& packed, const Peer& peer);
  ~FarArena();
  FarArena(const FarArena&) = delete;
  FarArena& operator=(const FarArena&) = delete;

  uint32_t number() const { return number_; }
  // Where the owner's address is mapped here, or NULL.
  char* here(uint64_t addr) const;
  // Page-locks what is mapped here for copies of the device.
  void pin(Device& device) const;
  // The right of connections in the conduit of `c`; NULL where it has none.
  cwyc_rkey* right(const Connection& c);

 private:
  const uint32_t number_;
  const uint32_t rank_;
  std::unique_ptr<Publication> known_;
};

class RemoteDevice {
 public:
  // `segment`: the number that the memory's segment has at its owner, `rank`.
  RemoteDevice(DeviceFacts facts, uint32_t rank, uint64_t segment, bool same_host);
  ~RemoteDevice();
  RemoteDevice(const RemoteDevice&) = delete;
  RemoteDevice& operator=(const RemoteDevice&) = delete;

  const DeviceFacts& facts() const { return facts_; }
  // "cuda:0 of rank 3"
  std::string name() const;
  // The memory as this process reaches it, opened at the first call, or NULL when there is no such
  // way. A user keeps the share that it got.
  std::shared_ptr<Import> mapped();
  bool is(uint32_t rank, uint64_t segment) const { return rank == rank_ && segment == segment_; }
  // The owner wants the memory back: it is mapped no more. From a handler; the answer is what was.
  std::shared_ptr<Import> let_go();
  // The owner's buffers for puts or gets: what is known of them (0: nothing), and the arena with
  // that number, which `packed` describes unless it is known. An owner grants from several, by the
  // buffers that it made one after the other.
  uint32_t known_arena(bool put) const;
  FarArena& arena(bool put, uint32_t number, const std::string& packed, const Peer& peer);
  // Why mapped() answers NULL; for the error that says that staging is forbidden.
  std::string obstacle() const;

 private:
  void open();
  DeviceFacts facts_;
  uint32_t rank_;
  uint64_t segment_;
  bool same_host_;
  mutable std::mutex mutex_;
  bool tried_ = false;
  std::string obstacle_;
  std::shared_ptr<Import> import_;
  // In the order in which they came. Never removed, because transfers may be under way in them.
  std::vector<std::unique_ptr<FarArena>> arenas_[2];
};

}  // namespace causeway
