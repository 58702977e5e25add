// The ground of a rank: the client's objects, its segment and where everybody's things lie in it,
// and the last words of a run that goes wrong.
#pragma once

#include <gasnetex.h>

#include <cstddef>
#include <string>
#include <vector>

#include "script.h"
#include "stamp.h"

namespace storm {

// The segment of a rank: a museum that is only read; words for atomics; rooms, where each actor has
// places of his own that only he writes, so that what they hold follows from his script alone; and
// slots for buffers of the rank's own.
enum class Room : unsigned { rma, vis, request, reply };
inline constexpr unsigned kRooms = 4;
inline constexpr unsigned kSubs = 4;              // places of an actor in a room; a step uses one
inline constexpr size_t kSub = size_t{40} << 10;  // bytes of a place
inline constexpr size_t kMuseum = size_t{64} << 10;
inline constexpr size_t kWords = size_t{64} << 10;
inline constexpr unsigned kSlots = 48;
inline constexpr size_t kSlot = size_t{80} << 10;

struct World {
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Rank_t rank = 0, size = 0;
  Options options;
  std::byte* segment = nullptr;
  std::vector<std::byte*> bases;  // of all segments, as their owners see them

  size_t rooms_bytes() const { return size_t{size} * kThreads * kRooms * kSubs * kSub; }
  // Offsets into a segment.
  static constexpr size_t words_at() { return kMuseum; }
  static constexpr size_t rooms_at() { return kMuseum + kWords; }
  size_t slots_at() const { return rooms_at() + rooms_bytes(); }
  size_t bytes() const { return slots_at() + kSlots * kSlot; }
  static size_t place(Room room, Actor owner, unsigned sub) {
    return rooms_at() +
           ((owner.number() * kRooms + static_cast<unsigned>(room)) * kSubs + sub) * kSub;
  }
  std::byte* at(gex_Rank_t owner, size_t offset) const { return bases[owner] + offset; }
  static Stamp museum_stamp(gex_Rank_t owner) { return {0, Actor{owner, 0}.number(), 31}; }
};

World& world();
// The script of this run; handlers look there for what a message has to hold.
const Script& script();
// Collective: the client, the segment, everybody's addresses.
void start_world(const Options& options, int* argc, char*** argv);
void barrier();

inline Stamp stamp_of(const Step& step, Actor writer, unsigned purpose) {
  return {step.index, writer.number(), static_cast<uint8_t>(purpose)};
}

// A line "FAIL rank R step S FAMILY: ..." and the end of the job with status 3.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(const Step& step, const char* format, ...);
// Fails unless `bytes` at `memory` are those of the stamp from its byte `from` on.
void expect(const Step& step, const char* what, const void* memory, size_t from, size_t bytes,
            Stamp stamp);

// Where the first thread of this rank is, for last words of a hang or a crash. A plain thread tells
// of a step that takes longer than options.patience; signal handlers tell of a crash.
void stand_at(const Step& step, const char* doing);
void stand_at(const char* doing);
void begin_watch();
void end_watch();

}  // namespace storm
