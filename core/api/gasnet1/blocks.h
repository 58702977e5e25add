// Blocks: the data movement behind GASNet-1's collectives. Every member hands some blocks of equal
// size to some members and receives some; broadcast, gather, gather-all, scatter and exchange
// differ only in who and where. Non-blocking: goes forward in polls. Over active messages, so
// buffers may be anywhere.
#pragma once

#include <gasnetex.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collective/inquiry.h"
#include "progress/hints.h"

namespace causeway {

class Team;
struct Peer;

struct BlockTransfer {
  struct Outgoing {
    uint32_t to;  // rank in the team
    const void* data;
  };
  size_t bytes = 0;                // of a block
  const void* own = nullptr;       // the block that this member keeps for itself; NULL: none
  char* own_place = nullptr;       // where that goes
  std::vector<Outgoing> outgoing;  // to others than this member
  char* destination = nullptr;     // where incoming blocks go
  bool by_sender = false;          // rank r's block goes r blocks behind `destination`
  uint32_t incoming = 0;           // blocks that others send to this member
  // All members have entered before any block, a member's own too, is read or written; all have
  // finished before any is told so.
  bool enter_together = false, leave_together = false;
};

// Starts a transfer on `team`; members start theirs in the same order. The buffers belong to the
// library until the event has happened.
gex_Event_t start_blocks(Team& team, BlockTransfer transfer);

// Transfers under way here. Relaxed: a hint.
[[gnu::visibility("hidden")]] inline PollHint blocks_active;
uint32_t push_blocks();
inline uint32_t progress_blocks() {
  if (__builtin_expect(blocks_active.load(std::memory_order_relaxed) == 0, 1)) return 0;
  return push_blocks();
}

// For inquiries: the transfer begun first of those under way that have that rank of the job among
// their members, and how far this process is; nothing while another thread is at it.
CollectiveWait blocks_with(uint32_t job_rank);
std::optional<HowFar> blocks_how_far(uint32_t team_id, uint64_t seq);

void on_block(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

}  // namespace causeway
