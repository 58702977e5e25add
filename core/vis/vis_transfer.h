// The inside of a VisTransfer: its slots and its life are in transfer.cpp, what it sends in
// post.cpp.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "connection/post_flags.h"
#include "vis/transfer.h"

namespace causeway {

class VisTransfer;

// A message or operation under way. `op` leads, so that a conduit's report finds the slot.
struct Slot {
  cwyc_op op{};
  VisTransfer* transfer = nullptr;
  uint32_t awaits = 0;  // CWYC_DONE_* still to be reported; under g_mutex
  Walk at;              // a packed get: where its answer belongs
  size_t bytes = 0;     //   and how long that is
};

inline Slot& slot_of(cwyc_op* op) {
  static_assert(offsetof(Slot, op) == 0);
  return *reinterpret_cast<Slot*>(op);
}

enum class Outcome {
  finished,   // everything has happened; the caller owns the transfer and reports
  no_room,    // the peer's connection pushes back; the caller owns the transfer
  under_way,  // answers will carry on or finish; the transfer is no longer the caller's
};

// Access: the walk and everything marked `poster's` belong to the poster, which is one thread at a
// time: the thread that starts the transfer, then a thread that takes it from a queue. A transfer
// is in a queue, or being posted, or waits for answers, never two of these. The thread that learns
// that it is finished deletes it.
class VisTransfer {
 public:
  VisTransfer(const TransferPlan& plan, cwyc_op* op);
  VisTransfer(const VisTransfer&) = delete;
  VisTransfer& operator=(const VisTransfer&) = delete;

  // Sends what there is room for; adds to `sent` what went out.
  Outcome post(uint32_t* sent);
  bool begun() const { return begun_; }  // poster's
  // Deletes the transfer and reports to the client.
  void finish();
  void settle(Slot& slot, uint32_t what);
  bool scatter(const Slot& slot, const char* data, size_t length) const;
  Peer& peer() const { return peer_; }

 private:
  // Long pieces first, each on its own; then the short ones together.
  enum class Stage { large, small, posted };

  bool is_large(size_t piece) const { return piece >= pack_below_; }
  void classify();
  bool seek();
  Slot* take_slot();
  void await_local(Slot& slot);
  void give_back(Slot& slot);
  void free_slot(Slot& slot);
  Outcome all_posted();
  Outcome send_notice();
  uint32_t post_flags() const { return immediate_ && !begun_ ? kImmediate : 0; }
  cwyc_conn* connected(std::atomic<cwyc_conn*>& which);
  cwy_status send_next(Slot& slot);
  cwy_status post_piece(Slot& slot);
  cwy_status post_vector(cwyc_conn* conn, Slot& slot);
  cwy_status post_message(Slot& slot);
  size_t useful_room(size_t most) const;
  size_t pack(char* buffer, size_t room, int32_t* args, Slot& slot);
  size_t pack_put(char* buffer, size_t room, int32_t* args);
  size_t pack_get(char* buffer, size_t room, Slot& slot);
  template <typename Room, typename Take>
  size_t take_short(Room&& room, Take&& take);

  const char* const call_;
  Peer& peer_;
  const bool put_;
  const bool immediate_;
  const bool anywhere_;
  bool begun_ = false;
  bool vectors_possible_;
  bool has_large_ = true, has_small_ = true;
  const size_t pack_below_;
  size_t total_ = 0;
  std::vector<Level> local_levels_, remote_levels_;
  Side local_, remote_;
  Walk walk_;
  Stage stage_ = Stage::large;
  cwyc_op* const client_;

  // The notice for the peer, until it is out.
  uint32_t notice_ = 0;
  uint32_t notice_length_ = 0;
  std::array<char, kMaxPeerCompletion> notice_payload_;

  // Under g_mutex.
  uint64_t free_ = 0;  // slots, one bit each
  uint32_t outstanding_ = 0;
  uint32_t locals_ = 0;  // slots that await CWYC_DONE_LOCAL
  bool parked_ = false;  // waits for a slot
  bool posted_ = false;
  bool local_reported_ = false;
  uint32_t slot_count_ = 1;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace causeway
