// Staging service: the owner's side of a staged transfer. Memory of a device that no other process
// reaches is copied by its owner, through page-locked bounce buffers in the owner's host memory.
// The asking side fills and empties these buffers by RMA, through a mapping where the two are
// neighbors.
//
//   put: ask ->   <- grant(buffer, range)  RMA into the buffer    filled(buffer) ->   <-
//   copied(bytes) get: ask ->   <- grant(buffer, range)  RMA out of the buffer  taken(buffer) ->
//
// The owner grants a buffer for a get when the device's bytes are in the buffer, and for a put when
// the buffer is free. A transfer has several buffers at once: `memkinds.<name>.depth` of the
// owner's.
//
// Host memory of a neighbor that is mapped here needs no bounce buffer: the device's copy goes to
// that memory, and is the only copy.
//
//   put, get: ask ->   <- copied(bytes)
//
// An asking side that cannot go on, although both processes live, gives up a transfer that it was
// granted a buffer for: refused ->
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace causeway {

struct Peer;

// The first argument of every message.
enum class StagingMessage : int32_t { ask, grant, filled, copied, taken, refused };

void on_device_stage(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

// Moves forward the transfers that peers asked for: from polls only, one thread at a time.
uint32_t push_served_transfers();
// The rank's process is lost: the transfers that it asked for end in the polls that follow.
void forget_served_transfers(uint32_t rank);
// Does a device copy to or from memory of the rank's? Called under the lock of staged transfers,
// since push_served_transfers() changes the answer.
bool copies_for(uint32_t rank);
// This process gives up `transfer`, which `owner` serves: the polls that follow tell the owner, so
// that its bounce buffers are free again. Nothing is sent to an owner that is lost meanwhile. Any
// context.
void refuse_transfer(Peer& owner, uint32_t transfer);

// A bounce buffer of the owner's that the asking side may use.
struct Grant {
  uint32_t transfer, buffer;  // the owner's numbers of the transfer and of its buffer
  uint32_t arena;
  uint64_t addr;  // of the buffer, as its owner sees it
  uint64_t at, bytes;
  std::string packed;  // of the arena (Segment::pack()); empty when the arena is known here
};

// The asking side of a transfer. Handlers tell it of grants and of bytes that the owner has copied.
class StagingClient {
 public:
  virtual void granted(Grant grant) = 0;
  virtual void copied(uint64_t bytes) = 0;

 protected:
  ~StagingClient() = default;
};
// Answers the number that messages name the client by. A client is told nothing after it is
// removed.
uint32_t add_staging_client(StagingClient& client);
void remove_staging_client(uint32_t number);

}  // namespace causeway
