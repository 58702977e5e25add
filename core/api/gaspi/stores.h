// Transfers that are stores into memory which is mapped here: complete when their call returns.
#pragma once

#include <cstdint>
#include <cstring>

#include "api/gaspi/messages.h"
#include "api/gaspi/queue.h"
#include "api/gaspi/segment.h"
#include "rma/prefetch.h"

namespace causeway::gaspi {

// A contiguous piece, looked up and inside its segments.
struct Piece {
  LocalSegment* local;
  FarSegment* remote;
  uint64_t local_offset, remote_offset, size;
};

inline void* address_of(const Piece& p) {
  return p.local->base + p.local_offset;
}
// The remote bytes where they are mapped here.
inline char* mapped(const Piece& p) {
  return reinterpret_cast<char*>(p.remote->base + p.remote_offset +
                                 static_cast<uint64_t>(p.remote->delta));
}
// Both ends are the processor's to load and store.
inline bool is_direct(const Piece& p) {
  return p.remote->direct && !p.local->on_device;
}

// A copy into memory that is mapped. Small sizes are single stores.
inline void copy_bytes(void* to, const void* from, uint64_t size) {
  if (size == 8) {
    uint64_t word;
    std::memcpy(&word, from, 8);
    std::memcpy(to, &word, 8);
  } else {
    std::memcpy(to, from, size);
  }
}

// Where this thread's last notification of a neighbor went, until its answer comes: who answers a
// notification with another one stores to the same two places next. The neighbor had these lines
// last, and fetching one takes as long as all else between finding a notification and storing the
// next; so that begins when one is found. A hint: never dereferenced.
struct LastStore {
  const void* data;
  uint64_t slot;  // 0: none
};
extern thread_local constinit LastStore t_last_store __attribute__((tls_model("initial-exec")));

// Asks for both lines, once for each notification sent. Earlier it would be in vain: the neighbor
// looks at the slot and would have its line back.
inline void fetch_for_answer() {
  if (t_last_store.slot == 0) return;
  prefetch_to_write(t_last_store.data);
  prefetch_to_write(reinterpret_cast<const void*>(t_last_store.slot));
  t_last_store.slot = 0;
}

// Wakes threads of the rank that sleep until a slot is written. Best effort: their sleep is
// bounded.
[[gnu::cold]] void wake(const Note& note);

inline void store_note(const Note& note, uint64_t slot) {
  store_note(slot, note.value);
  // The notification before this look, as far as the compiler goes (SleepWord).
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (__builtin_expect(note.segment->sleep_word->load(std::memory_order_relaxed) != 0, 0))
    wake(note);
}

// Carries out a call all of which is stores. False: it is not, and nothing was done.
inline bool store_at_once(const Piece& p) {
  if (!is_direct(p)) return false;
  copy_bytes(mapped(p), address_of(p), p.size);
  return true;
}

// The notification after the piece.
inline bool store_at_once(const Piece& p, const Note& note) {
  if (!is_direct(p) || !note.segment->notes_direct) return false;
  char* const to = mapped(p);
  const uint64_t slot = note.segment->mapped_slot(note.id);
  copy_bytes(to, address_of(p), p.size);
  store_note(note, slot);
  t_last_store = {to, slot};
  return true;
}

// A notification alone, after everything posted before it to its rank on the queue.
inline bool store_at_once(const Queue& queue, const Note& note) {
  if (!queue.quiet(note.rank) || !note.segment->notes_direct) return false;
  const uint64_t slot = note.segment->mapped_slot(note.id);
  store_note(note, slot);
  t_last_store = {reinterpret_cast<const void*>(slot), slot};
  return true;
}

}  // namespace causeway::gaspi
