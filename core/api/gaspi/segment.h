// Segments: memory with an id, its notifications, and what is known of other ranks' (chapter 7).
//
// A segment of GASPI is a segment of the core that is bound to no endpoint. Its notifications are
// slots of 8 bytes behind the data, or, for memory of the caller's, in a segment of their own. A
// rank tells another where its segment is with one control message; the other opens the rights,
// maps what it can, and answers.
#pragma once

#include <GASPI.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/gaspi/deadline.h"
#include "api/gaspi/world.h"
#include "kinds/memkind.h"
#include "object/publication.h"
#include "object/segment.h"
#include "staging/remote.h"

namespace causeway::gaspi {

// A word behind the slots, in a line of its own: the thread of the owner that sleeps, or is about
// to, until a slot is written; 0: none. The sleeper stores its id, makes all others pass a barrier,
// and looks at the slots once more before it sleeps. Who has stored a notification looks at the
// word, and where it is not 0 clears it and wakes the owner's threads, which set it again before
// they sleep on. So one of the two sees the other, and notifications pay for no barrier. A sleep
// may last as long as `waiting.nap` without that barrier of the kernel's, where another thread
// takes the message that wakes, and within a process where the signal that wakes comes before the
// sleep, does not come (GASNET_NO_CATCH_SIGNAL), or two threads sleep.
using SleepWord = std::atomic<uint32_t>;
constexpr uint64_t sleep_word_offset(uint64_t slots) {
  return (slots * sizeof(uint64_t) + 63) / 64 * 64;
}

enum class Told : uint8_t { nothing, asked, registered, refused };

struct LocalSegment {
  uint8_t id = 0;
  bool on_device = false;
  std::unique_ptr<MemKind> kind;         // of device memory; outlives `data`
  std::unique_ptr<Segment> data, notes;  // `notes` only where the data is the caller's
  char* base = nullptr;
  uint64_t size = 0;
  uint64_t* slots = nullptr;
  uint32_t slot_count = 0;
  SleepWord* sleep_word = nullptr;
  uint64_t serial = 0;                        // no other segment of this process had it
  std::unique_ptr<std::atomic<Told>[]> told;  // by rank

  bool contains(uint64_t offset, uint64_t length) const {
    return offset <= size && length <= size - offset;
  }
  void require_inside(uint64_t offset, uint64_t length) const {
    if (contains(offset, length)) return;
    refuse(GASPI_ERR_INV_LOC_OFF, "[{}, {}) leaves local segment {} of {} bytes", offset,
           offset + length, id, size);
  }
};

struct FarSegment {
  uint32_t rank = 0, epoch = 1;
  uint64_t serial = 0;
  uint64_t base = 0, size = 0;  // owner's address
  uint64_t slots = 0;           // owner's address
  uint32_t slot_count = 0;
  bool direct = false, notes_direct = false;
  intptr_t delta = 0, notes_delta = 0;
  SleepWord* sleep_word = nullptr;  // as mapped here, with notes_direct
  Publication data, notes;          // `notes` is empty where the slots lie behind the data
  // Rights of the peer's connections; NULL where the conduit needs none or messages serve.
  cwyc_rkey* put_key = nullptr;
  cwyc_rkey* get_key = nullptr;
  cwyc_rkey* atomic_key = nullptr;
  // The conduit cannot: over messages. Relaxed: who reads late tries once more.
  std::atomic<bool> put_over_am{false}, get_over_am{false};

  bool contains(uint64_t offset, uint64_t length) const {
    return offset <= size && length <= size - offset;
  }
  // Where a slot is mapped here, if notes_direct says that it is.
  uint64_t mapped_slot(uint32_t id) const {
    return slots + id * sizeof(uint64_t) + static_cast<uint64_t>(notes_delta);
  }
  void close();
};

class Segments {
 public:
  explicit Segments(World& world) : world_(world) {}
  ~Segments();

  // Refuses an id that is in use, or one segment too many.
  void require_room(unsigned id) const;
  void allocate(unsigned id, uint64_t size, bool zero);
  // `device`: the memory is a device's; NULL: the host's. Throws Error(CWY_ERR_INVALID) when it is
  // not that device's.
  void bind(unsigned id, void* memory, uint64_t size, std::shared_ptr<Device> device);
  // False: there is none.
  bool remove(unsigned id);
  uint32_t count() const { return count_.load(std::memory_order_relaxed); }

  // Asks `rank` to register the segment, once. GASPI_TIMEOUT until it has answered.
  gaspi_return_t tell(LocalSegment& segment, uint32_t rank);

  // A collective creation between calls: by segment id.
  struct Creation {
    gaspi_group_t group;
    uint64_t uid;  // the group's, as it is committed
    bool in_barrier = false;
    bool failed_elsewhere = false;
  };
  std::map<unsigned, Creation> creations;
  std::mutex creations_mutex;

  // ---- control messages ----
  void on_register(uint32_t from, const Header& header, const std::string& text);
  void on_registered(uint32_t from, const Header& header);
  void on_drop(uint32_t from, const Header& header);
  // Takes registrations that waited for a connection.
  uint32_t take_registrations();
  // The rank's process is lost: its segments are no more, and it knows none of this rank's.
  void forget(uint32_t rank);

 private:
  struct Asked {
    uint32_t from;
    Header header;
    std::string text;
  };
  void publish(unsigned id, std::unique_ptr<LocalSegment> segment, void* memory, uint64_t size,
               void* slots);
  bool take(const Asked& asked);
  LocalSegment* take_out(unsigned id);
  void replace(unsigned id, uint32_t rank, FarSegment* fresh);
  void lay_ghosts(uint32_t rank);
  void tell_self(LocalSegment& segment);

  World& world_;
  std::mutex mutex_;  // ids come and go
  std::atomic<uint32_t> count_{0};
  std::mutex asked_mutex_;
  std::vector<Asked> asked_;
  // Replaced or deleted: kept, because a thread may have looked one up a moment before. Their
  // rights are closed.
  std::vector<std::unique_ptr<FarSegment>> retired_remote_;
  // Of lost ranks: still mapped, because a thread may be storing there, until a segment of the
  // rank's next process is registered. Under rows_mutex_.
  std::vector<std::unique_ptr<FarSegment>> ghosts_;
  std::mutex rows_mutex_;  // rows of `remote`
  std::vector<std::unique_ptr<LocalSegment>> retired_local_;
};

}  // namespace causeway::gaspi
