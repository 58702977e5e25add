// VisTransfer: a vector, indexed or strided transfer to memory that is not mapped here, as a
// pipeline of at most `vis.pipeline` messages and operations.
#pragma once

#include <causeway/conduit.h>
#include <gasnetex.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "progress/hints.h"
#include "rma/rma.h"
#include "vis/peer_completion.h"
#include "vis/side.h"

namespace causeway {

struct Peer;

// Which memory of the peer the remote runs may name (GEX_FLAG_PEER_SEG_*). Conduits know the bound
// segment only; what lies beyond goes in messages, each run of which its owner checks.
enum class Reach {
  bound,     // all of it lies in the bound segment
  segments,  // _SOME: in segments of the peer's process
  anywhere,  // _UNKNOWN: whatever is mapped there
};

struct TransferPlan {
  const char* call;  // for diagnostics
  Operation operation;
  Peer& peer;
  Side local, remote;  // biased; levels and lists are the caller's
  Reach reach;
  bool immediate;             // may answer CWY_RETRY
  bool one_by_one;            // every piece is an operation of its own: copies of a device here
  PeerCompletion completion;  // handler 0: none
};

// Begins a transfer. CWY_OK: complete in every sense, `op` is not used; CWY_INPROGRESS: `op`
// reports, CWYC_DONE_LOCAL of puts and CWYC_DONE_REMOTE; CWY_RETRY, only if `immediate`: nothing
// was begun. A vector's or index's lists must stay until CWYC_DONE_REMOTE, a strided side's levels
// and the completion's payload are copied.
cwy_status start_transfer(const TransferPlan& plan, cwyc_op* op);

// Transfers that wait for room at their peer or for their turn. Relaxed: a hint to polls.
[[gnu::visibility("hidden")]] inline PollHint vis_waiting;
uint32_t push_transfers();

// Sends further parts of waiting transfers. Returns how many went out. From polls only.
inline uint32_t progress_vis() {
  if (__builtin_expect(vis_waiting.load(std::memory_order_relaxed) == 0, 1)) return 0;
  return push_transfers();
}

// Answers to the message that carried `cookie`. vis_got: false when `length` is not what was
// asked for.
void vis_put_done(uint64_t cookie);
bool vis_got(uint64_t cookie, const char* data, size_t length);

}  // namespace causeway
