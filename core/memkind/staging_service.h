// Landing: the owner's side of a staged transfer. Memory of a device that no other process reaches
// is copied by its owner, through page-locked host buffers ("berths") that the other side writes
// and reads by RMA, mapped where the two are neighbors.
//
//   put: ask ->   <- grant(berth, range)   RMA into the berth   filled(berth) ->   <- landed(bytes)
//   get: ask ->   <- grant(berth, range)   RMA out of the berth  taken(berth) ->
//
// Of a get a berth is granted when the device's bytes are in it, of a put when it is free. Several
// berths of a transfer are on their way at once: `memkinds.<name>.depth` of the owner's.
//
// Host memory of a neighbor's that is mapped here needs no berth: the device's copy goes there, and
// is the only one.
//
//   put, get: ask ->   <- landed(bytes)
//
// Who asked and cannot go on, although both live, gives up a transfer that it was granted a berth
// of: refused ->
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace causeway {

struct Peer;

// The first argument of every message.
enum class StageWord : int32_t { ask, grant, filled, landed, taken, refused };

void on_device_stage(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

// Moves what peers asked for forward: from polls only, one thread at a time.
uint32_t push_landings();
// What the rank asked for, whose process is lost, ends with the polls that follow.
void forget_landings(uint32_t rank);
// Does a device copy to or from memory of the rank's? Beside push_landings() only under the lock of
// journeys.
bool copies_for(uint32_t rank);
// The rank's transfer is not gone on with: its owner shall have its berths back. With the polls
// that follow; nothing where the rank is lost meanwhile. Any context.
void refuse_landing(Peer& owner, uint32_t visit);

// A berth that this process may use, as the owner says.
struct Grant {
  uint32_t visit, berth;  // the owner's numbers
  uint32_t arena;
  uint64_t addr;  // of the berth, as its owner sees it
  uint64_t at, bytes;
  std::string packed;  // of the arena (Segment::pack()); empty when it is known here
};

// Who asked: told of grants and of what has landed, from handlers.
class LandingClient {
 public:
  virtual void granted(Grant grant) = 0;
  virtual void landed(uint64_t bytes) = 0;

 protected:
  ~LandingClient() = default;
};
// Numbers for messages; nothing is told after leave_landings().
uint32_t enter_landings(LandingClient& client);
void leave_landings(uint32_t number);

}  // namespace causeway
