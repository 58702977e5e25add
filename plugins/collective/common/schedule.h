// Schedule: one member's part of one run, written down as actions that pass bytes on while they
// arrive. An algorithm of this plugin is a function that writes a schedule; execute() carries it
// out, piece by piece, for all of them.
//
// Channels. Bytes travel on channels. On one channel a member sends to one other and receives from
// one other (not necessarily the same), in pieces, each into one of the channel's slots in the
// receiver's scratch. Signals of the receiver: one per slot, how often it was filled (puts may
// overtake each other, so one count for all slots would not say which is full). Signal of the
// sender: one per channel, how many pieces were taken out. The receiver gives that credit only for
// pieces whose slot will be needed again, so that no signal is left over at the end.
//
// Straight. One channel of a schedule may carry its bytes into the receiver's buffer instead: the
// receiver offers that buffer to its sender before anything else (Kind::offer), the sender puts
// larger pieces where they belong, each with a signal as a slot has one. No slots, no copies. When
// the receiver has nothing to offer, or the sender cannot put there, the channel works as the
// others do; the receiver sees by the first signal which of the two it is.
//
// Why scratch and frames may be used again. Nobody reads the scratch of another member: a slot is
// filled by a put, and every piece that is sent has a receive whose owner awaits its signal before
// it is complete. A slot is filled again only with a credit for the piece that lay there, and a
// buffer is only put into while its owner awaits the signals of these puts. Credits and the offer
// are awaited too: the credits that owes_credit() has a receiver raise are as many as has_credit()
// demands for the sender's last piece, and who sends on the straight channel begins with the offer.
// A member ends when all its actions are complete, so nothing is raised or written there later.
//
// Slots, piece size and channels follow from team size, scratch and element size alone: sender and
// receiver agree on them without a word.
#pragma once

#include <causeway/collective.h>

namespace base {

enum class Kind : uint32_t {
  send,        // data -> peer
  receive,     // peer -> data
  fold_left,   // data = incoming (op) other
  fold_right,  // data = other (op) incoming
  copy,        // data = other
  combine,     // data = left (op) right, both whole and in memory
  offer        // data is what peer may put straight into, if `other` is not NULL
};

constexpr int32_t kNone = -1;

struct Action {
  Kind kind;
  uint32_t peer;
  uint32_t channel;
  int32_t order;   // the earlier action of this channel and direction: must be complete
  int32_t after;   // must be complete
  int32_t follow;  // must be ahead: its bytes up to skip + ours must be done
  uint64_t skip;
  uint8_t* data;
  const uint8_t* other;  // fold: the operand here; copy: source; combine: left operand
  const uint8_t* right;  // combine
  uint64_t bytes;
  uint64_t done;
  uint64_t target;          // send: where its bytes belong in the buffer the receiver offers
  uint32_t piece;           // number on the channel of the next piece
  uint32_t pieces;          // left to go
  uint32_t straight_piece;  // what `piece` begins with where pieces go straight
  bool is_straight;         // `piece` and `pieces` count such
};

constexpr uint32_t kMostChannels = 32;
constexpr uint32_t kMostSlots = 16;  // per channel
constexpr uint32_t kInlineActions = 18;
constexpr uint32_t kNoChannel = UINT32_MAX;
// So many pieces may be on their way straight into a buffer, as far as the sender knows; and so
// many signals tell of them in turns.
constexpr uint32_t kMostPuts = 16;

// How the straight channel works, in one direction, as far as it is known.
enum class Way : uint32_t { unknown, slots, straight };

struct Schedule {
  // Geometry.
  uint32_t channels;
  uint32_t slots;        // per channel
  uint64_t slot_bytes;   // of scratch
  uint64_t piece_bytes;  // payload of a piece; whole elements if they fit
  uint64_t element;
  bool whole_elements;
  uint8_t* scratch;

  Action* actions;
  uint32_t count, capacity;
  uint32_t head;  // all before it are complete
  bool out_of_memory;
  uint32_t incoming[kMostChannels];  // pieces that will have come on a channel

  // The straight channel.
  uint32_t straight_channel;   // kNoChannel: none
  uint64_t straight_bytes;     // of a piece
  uint32_t straight_incoming;  // such pieces that will have come
  uint64_t offer_at;           // in the scratch of who is made an offer
  Way out_way, in_way;
  cwyl_region target;            // the buffer that was offered
  uint32_t puts, freed;          // pieces put, and of them those whose source is free
  uint32_t put_done[kMostPuts];  // as put_region_signal() sets them

  Action fixed[kInlineActions];
};

struct Run {
  cwyl_team* team;
  const cwyl_team_services* s;
  cwyl_seq seq;
  const cwyl_args* args;
  const cwyl_team_info* info;
  Schedule* schedule;
};

// Prepares an empty schedule of at most `capacity` actions on `channels` channels. `straight`: the
// channel that goes straight if it can; the same on all members.
void begin(const Run& run, uint32_t channels, uint32_t capacity, uint32_t straight = kNoChannel);

struct When {
  int32_t follow = kNone;
  uint64_t skip = 0;
  int32_t after = kNone;
  uint64_t target = 0;  // of a send on the straight channel
};

// The first action of who receives on the straight channel: `peer` may put into `data`. `usable`:
// false where what comes may not be written there, and the offer says so.
void offer(const Run& run, uint32_t peer, void* data, uint64_t bytes, bool usable);

// Each adds one action (fold: two when elements do not fit into pieces) and returns its index.
int32_t send(const Run& run, uint32_t peer, uint32_t channel, const void* data, uint64_t bytes,
             When when = {});
int32_t receive(const Run& run, uint32_t peer, uint32_t channel, void* data, uint64_t bytes,
                When when = {});
// data = other (op) incoming, or incoming (op) other when `left`.
int32_t fold(const Run& run, uint32_t peer, uint32_t channel, void* data, const void* other,
             uint64_t bytes, bool left, When when = {});
int32_t copy(const Run& run, void* data, const void* other, uint64_t bytes, When when = {});

// Counts the pieces of each channel: call when the schedule is written.
void finish(const Run& run);

// Goes on as far as possible.
cwy_status execute(const Run& run);

// Memory of the run for `bytes`; NULL makes finish() and execute() report it.
void* memory(const Run& run, uint64_t bytes);

}  // namespace base
