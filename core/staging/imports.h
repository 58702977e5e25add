// Imports: a device's memory that another process owns and this one has opened, and the owner's
// account of who has. A driver says nothing of a mapping whose memory was freed by its owner, so
// the owner asks for it back first (README, "Before memory is freed").
#pragma once

#include <causeway/memkind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "connection/peer.h"

namespace causeway {

class Device;
class RemoteDevice;

// ---- where the memory is mapped ----

// An opened handle. Shared by what is known of the segment and by transfers under way; closed with
// the last share. The owner hears of the beginning and of the end.
class Import {
 public:
  // `segment`: the number that the memory's segment has at its owner, `rank`. Throws Error.
  Import(uint32_t rank, uint64_t segment, std::shared_ptr<Device> device, const cwy_memref& handle);
  // Any context: tells the owner in a later poll.
  ~Import();
  // Tells the owner that the memory is open: once, before it is used, and without a lock that a
  // handler may want.
  void tell_owner() const;
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  Device& device() const { return *device_; }
  // The number to add to the owner's addresses.
  intptr_t delta() const { return delta_; }
  // Copies under way in it. Release by their reports.
  std::atomic<uint32_t> copies{0};

 private:
  const uint32_t rank_;
  const uint64_t segment_;
  std::shared_ptr<Device> device_;
  cwym_import* import_ = nullptr;
  intptr_t delta_ = 0;
};

// From now on, until it leaves, `known` can be asked to let its import go.
void enter_imports(RemoteDevice& known);
void leave_imports(RemoteDevice& known);

// ---- where it lies ----

// Has that rank left the job? Told by wiring.cpp, constant afterwards.
using RankPredicate = bool(uint32_t rank);
extern RankPredicate* has_departed;

// A handle of the segment's memory is about to be given away.
void note_export(uint64_t segment);
// Its memory is about to be freed, by the library or by the client: returns when no other process
// has it open, or when those that have are gone or do not answer in time. Polls meanwhile. Not with
// a lock that a handler may want.
void recall_imports(uint64_t segment, const char* call);
// In a process that survives its peers: the rank's process is lost, and its mappings with it.
void forget_imports(uint32_t rank);

void on_device_import(Peer& from, const int32_t* args, unsigned nargs, void* payload,
                      size_t length);
// Sends what other processes have to be told; from polls only. Returns how many messages went out.
uint32_t push_imports();

}  // namespace causeway
