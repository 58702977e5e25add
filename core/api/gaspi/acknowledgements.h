// Acknowledgements tell other ranks that what they asked for by message (Message::note, write_note)
// is done here. The asking side needs an acknowledgement to end gaspi_wait, and before it sends
// what must not overtake.
//
// A rank that was notified often sends a message itself next. Then an acknowledgement waits, and
// that message carries it: a notification there and one back are two messages, not four. An
// acknowledgement that no message has carried when the second poll comes by is sent by that poll.
// Later ones are sent by the poll that receives what they acknowledge, until a message follows one
// so closely that it could have carried it. As many as fill a message are sent at once. Where no
// thread polls while the program computes, every acknowledgement is sent at once.
//
// An acknowledgement is the asking side's own pointer. So it is for one process of the rank (its
// epoch), and acknowledgements may arrive in any order.
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "connection/peer.h"

namespace causeway::gaspi {

struct World;

class Acknowledgements {
 public:
  explicit Acknowledgements(uint32_t ranks) : rows_(ranks) {}

  // From now on acknowledgements may wait, because a thread polls. Relaxed: both ways are right.
  void let_wait() { may_wait_.store(true, std::memory_order_relaxed); }

  // Inside delivery: the request that `from` calls `cookie` is done.
  void owe(const World& world, Peer& from, uint64_t cookie);

  // The acknowledgements that a message takes along, two arguments each.
  struct Load {
    unsigned nargs = 0;
    uint32_t epoch = 0;
  };
  // For a message to `rank`: puts some, at most `room` arguments, at `args`. They are the message's
  // or, when it is not sent, given back.
  Load take(const World& world, uint32_t rank, int32_t* args, unsigned room) {
    // Relaxed: what is missed goes with a later message.
    return listed_.load(std::memory_order_relaxed) == 0 ? Load{}
                                                        : take_some(world, rank, args, room);
  }
  void give_back(const World& world, uint32_t rank, const int32_t* args, const Load& load) {
    if (load.nargs != 0) put_back(world, rank, args, load);
  }

  // In a poll: sends what is due. Returns how many messages.
  uint32_t send(World& world) {
    if (listed_.load(std::memory_order_relaxed) == 0) return 0;
    // Relaxed, both: whichever poll takes it back has come by.
    if (!first_.load(std::memory_order_relaxed)) return send_due(world);
    first_.store(false, std::memory_order_relaxed);
    return 0;
  }
  // Waits for no lock: false when it cannot tell.
  bool none();
  // The rank's process is lost: nobody waits for its acknowledgements.
  void forget(uint32_t rank);

 private:
  // The room of a message beside its first argument.
  static constexpr unsigned kMostArgs = CWYC_AM_MAX_ARGS - 2;
  static constexpr unsigned kMost = kMostArgs / 2;
  static constexpr unsigned kAtOnce = 16;  // ranks that one poll sends to
  struct Row {
    uint32_t epoch = 0;     // of the process that they are for
    bool waits = true;      // for a message; else they go with the next poll
    bool fresh = false;     // no poll has come by since the first came, or since they were sent
    bool answered = false;  // a poll has sent some; had they waited, would a message have come?
    bool listed = false;
    std::vector<uint64_t> cookies;
  };
  Row& row_for(const World& world, uint32_t rank);
  void add(Row& row, uint32_t rank, uint64_t cookie);
  Load take_from(Row& row, int32_t* args, unsigned room);
  Load take_some(const World& world, uint32_t rank, int32_t* args, unsigned room);
  void put_back(const World& world, uint32_t rank, const int32_t* args, const Load& load);
  unsigned due(const World& world, uint32_t (&ranks)[kAtOnce]);
  bool send_some(World& world, uint32_t rank);
  uint32_t send_due(World& world);

  std::atomic<bool> may_wait_{false};
  // Taken inside deliveries, so nothing is sent under it. For moments: deliveries, senders and
  // polls of all threads meet here, and a lock costs little of the message that it saves.
  std::mutex mutex_;
  std::vector<std::unique_ptr<Row>> rows_;  // by rank, made when first needed
  std::vector<uint32_t> list_;              // ranks whose row a poll has to look at
  std::atomic<size_t> listed_{0};           // how many; relaxed: a hint
  // An acknowledgement that may wait came to an empty list, and no poll has come by since. The next
  // poll is the one that received the acknowledged message, so it has nothing to look at.
  std::atomic<bool> first_{false};
};

}  // namespace causeway::gaspi
