// One-sided communication (chapter 8).
#include <algorithm>
#include <optional>

#include "api/gaspi/entry.h"
#include "api/gaspi/transfer.h"
#include "thread/tsan_annotations.h"

namespace causeway::gaspi {
namespace {

// ---- what a call's arguments stand for ----

// The two ends of a transfer, as the caller names them.
struct Ends {
  unsigned local;
  uint64_t local_offset;
  unsigned rank, remote;
  uint64_t remote_offset, size;
};

// By scalars, so that ends that are right stay in registers.
[[noreturn, gnu::cold, gnu::noinline]] void refuse_ends(const World& w, unsigned local,
                                                        uint64_t local_offset, unsigned rank,
                                                        unsigned remote, uint64_t remote_offset,
                                                        uint64_t size) {
  const LocalSegment& l = w.segment(local);
  const FarSegment& r = w.segment_of(rank, remote);
  const gaspi_size_t most = w.config.transfer_size_max;
  if (size > most) refuse(GASPI_ERR_INV_COMMSIZE, "{} bytes; at most {}", size, most);
  l.require_inside(local_offset, size);
  refuse(GASPI_ERR_INV_REM_OFF, "[{}, {}) leaves segment {} of rank {}, of {} bytes", remote_offset,
         remote_offset + size, remote, rank, r.size);
}

[[gnu::always_inline]] inline Piece piece_of(const World& w, Ends e) {
  LocalSegment* const l = w.segments[e.local].load(std::memory_order_acquire);
  FarSegment* const r = w.remote_segment(e.remote, e.rank);
  if (__builtin_expect(l == nullptr || r == nullptr || !l->contains(e.local_offset, e.size) ||
                           !r->contains(e.remote_offset, e.size) ||
                           e.size > w.config.transfer_size_max,
                       0))
    refuse_ends(w, e.local, e.local_offset, e.rank, e.remote, e.remote_offset, e.size);
  return {l, r, e.local_offset, e.remote_offset, e.size};
}

[[noreturn]] void refuse_id(uint64_t id, uint32_t slots) {
  refuse(GASPI_ERR_INV_NOTIF_ID, "notification {} does not exist; there are {}", id, slots);
}

[[noreturn, gnu::cold, gnu::noinline]] void refuse_note(const World& w, unsigned segment,
                                                        unsigned rank, uint32_t id,
                                                        uint32_t value) {
  const uint32_t slots = w.segment_of(rank, segment).slot_count;
  if (slots == 0) refuse_segment_of(rank, segment);
  if (id >= slots) refuse_id(id, slots);
  refuse(GASPI_ERR_INV_NOTIF_VAL, "the value of notification {} is {}; it must not be 0", id,
         value);
}

inline Note note_of(const World& w, unsigned segment, unsigned rank, uint32_t id, uint32_t value) {
  FarSegment* const r = w.remote_segment(segment, rank);
  if (__builtin_expect(r == nullptr || id >= r->slot_count || value == 0, 0))
    refuse_note(w, segment, rank, id, value);
  return {rank, r, id, value};
}

// Notifications beyond the slots of a segment here.
[[noreturn, gnu::cold, gnu::noinline]] void refuse_notes(const LocalSegment& s, uint64_t first,
                                                         uint64_t num) {
  if (num == 1) refuse_id(first, s.slot_count);
  refuse(GASPI_ERR_INV_NOTIF_ID, "[{}, {}) leaves the {} notifications of segment {}", first,
         first + num, s.slot_count, s.id);
}

// The first of so many slots.
inline uint64_t* slots_of(const LocalSegment& s, uint32_t first, uint32_t num) {
  if (__builtin_expect(first > s.slot_count || num > s.slot_count - first, 0))
    refuse_notes(s, first, num);
  return s.slots + first;
}

inline uint64_t* slot_of(const LocalSegment& s, uint32_t id) {
  if (__builtin_expect(id >= s.slot_count, 0)) refuse_notes(s, id, 1);
  return s.slots + id;
}
inline uint64_t slot_address(const LocalSegment& s, uint32_t id) {
  return reinterpret_cast<uint64_t>(slot_of(s, id));
}

// ---- what a call posts ----
//
// `at_once`, where there is one, carries a call out all of which is stores; false: it is not, and
// nothing was done.
// `start` posts requests that the queue has counted.

struct Write {
  Piece piece;
  bool at_once(const Queue&) const { return store_at_once(piece); }
  void count(Statistics& s) const { s.wrote(piece.remote->rank, piece.size); }
  gaspi_return_t start(World& w, Queue& q, Deadline& deadline) const {
    return start_write(w, q, piece, deadline);
  }
};

struct Read {
  Piece piece;
  void count(Statistics& s) const { s.read(piece.remote->rank, piece.size); }
  gaspi_return_t start(World& w, Queue& q, Deadline& deadline) const {
    return start_read(w, q, piece, 0, deadline);
  }
};

struct ReadNotify : Read {
  uint64_t slot = 0;
  gaspi_return_t start(World& w, Queue& q, Deadline& deadline) const {
    return start_read(w, q, piece, slot, deadline);
  }
};

struct Notify {
  Note note;
  bool at_once(const Queue& q) const { return store_at_once(q, note); }
  void count(Statistics& s) const { s.add(Counter::notifications); }
  gaspi_return_t start(World& w, Queue& q, Deadline& deadline) const {
    return start_notify(w, q, note, deadline);
  }
};

struct WriteNotify {
  Piece piece;
  Note note;
  bool at_once(const Queue&) const { return store_at_once(piece, note); }
  void count(Statistics& s) const {
    s.wrote(piece.remote->rank, piece.size);
    s.add(Counter::notifications);
  }
  gaspi_return_t start(World& w, Queue& q, Deadline& deadline) const {
    return start_write_notify(w, q, piece, note, deadline);
  }
};

struct List {
  gaspi_number_t num;
  const gaspi_segment_id_t* local;
  const gaspi_offset_t* local_offset;
  gaspi_rank_t rank;
  const gaspi_segment_id_t* remote;
  const gaspi_offset_t* remote_offset;
  const gaspi_size_t* size;

  Piece piece(const World& w, gaspi_number_t i) const {
    return piece_of(w, {local[i], local_offset[i], rank, remote[i], remote_offset[i], size[i]});
  }
  // All elements before any is posted: a list is posted as a whole or not at all.
  void check(const World& w) const {
    const gaspi_number_t most = w.config.rw_list_elem_max;
    if (num == 0 || num > most)
      refuse(GASPI_ERR_INV_NUM, "{} elements; expected 1 to {}", num, most);
    if (local == nullptr || local_offset == nullptr || remote == nullptr ||
        remote_offset == nullptr || size == nullptr)
      refuse(GASPI_ERR_NULLPTR, "a list is NULL");
    for (gaspi_number_t i = 0; i < num; ++i) piece(w, i);
  }
  void count(Statistics&) const {}  // elements are counted as they are posted
  // A list that timed out half-way is begun again by the next call: elements that are written twice
  // are written with the same bytes.
  template <typename Element>
  gaspi_return_t start_each(World& w, Queue& q, Deadline& deadline) const {
    for (gaspi_number_t i = 0; i < num; ++i) {
      const Element element{piece(w, i)};
      const gaspi_return_t result = element.start(w, q, deadline);
      if (result != GASPI_SUCCESS) return result;
      element.count(w.statistics);
    }
    return GASPI_SUCCESS;
  }
};

struct ListWrite : List {
  std::optional<Note> note = {};
  gaspi_return_t start(World& w, Queue& q, Deadline& deadline) const {
    const gaspi_return_t result = start_each<Write>(w, q, deadline);
    if (result != GASPI_SUCCESS || !note) return result;
    w.statistics.add(Counter::notifications);
    return start_notify(w, q, *note, deadline);
  }
};

struct ListRead : List {
  uint64_t slot = 0;
  gaspi_return_t start(World& w, Queue& q, Deadline& deadline) const {
    if (slot == 0) return start_each<Read>(w, q, deadline);
    return start_read_list_notify(w, q, num, rank, slot, deadline,
                                  [&](gaspi_number_t i) { return piece(w, i); });
  }
};

// Prepares a list with what `fill` adds.
template <class L, class Fill>
auto checked(L& list, Fill fill) {
  return [&list, fill](World& w) -> const L& {
    fill(w);
    list.check(w);
    return list;
  };
}

// ---- posting ----

// Requests to a rank that cannot be talked to. A disconnected one is the program's own doing. To
// one that is known to be dead they are posted all the same, and fail: programs assert that a post
// succeeds, and ask gaspi_wait() what became of it.
[[gnu::cold, gnu::noinline]] gaspi_return_t post_in_vain(const World& w, Queue& queue,
                                                         const char* name, unsigned rank,
                                                         uint32_t requests,
                                                         gaspi_timeout_t timeout) {
  require_rank(w, rank);
  if (!w.is_corrupt(rank)) return GASPI_ERROR;
  Deadline deadline(name, timeout, rank);
  const gaspi_return_t result = queue.enter(deadline, requests);
  if (result == GASPI_SUCCESS) queue.fail();
  return result;
}

// The queue has counted requests that could not be started. Where the rank has died meanwhile, they
// are as if posted to a dead one.
[[gnu::cold, gnu::noinline]] gaspi_return_t not_started(const World& w, Queue& queue, unsigned rank,
                                                        uint32_t requests, gaspi_return_t result) {
  if (result == GASPI_ERROR && w.is_corrupt(rank)) {
    queue.fail();
    return GASPI_SUCCESS;
  }
  queue.leave(requests);
  return result;
}

// A call that posts what `prepare` makes of its other arguments. What was not posted is not
// counted.
template <typename Prepare>
inline gaspi_return_t post(const char* name, unsigned queue, unsigned rank, gaspi_timeout_t timeout,
                           Prepare&& prepare, uint32_t requests = 1) {
  return call(name, [&](World& w) {
    Queue& q = w.queue(queue);
    // More elements than a queue has places fill an empty one.
    if (requests != 1) requests = std::clamp(requests, 1u, q.limit());
    if (__builtin_expect(!rank_exists(w, rank) || !w.usable[rank].load(std::memory_order_relaxed),
                         0))
      return post_in_vain(w, q, name, rank, requests, timeout);
    const auto& operation = prepare(w);
    if constexpr (requires { operation.at_once(q); }) {
      if (q.has_room() && operation.at_once(q)) {
        if (__builtin_expect(w.statistics.active(), 0)) operation.count(w.statistics);
        q.count_complete();
        return GASPI_SUCCESS;
      }
    }
    Deadline deadline(name, timeout, rank);
    gaspi_return_t result = q.enter(deadline, requests);
    if (__builtin_expect(result != GASPI_SUCCESS, 0)) return result;
    if (__builtin_expect(w.statistics.active(), 0)) operation.count(w.statistics);
    result = operation.start(w, q, deadline);
    if (__builtin_expect(result == GASPI_SUCCESS, 1)) return result;
    return not_started(w, q, rank, requests, result);
  });
}

}  // namespace

gaspi_return_t entry_write(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                           gaspi_segment_id_t remote, gaspi_offset_t remote_offset,
                           gaspi_size_t size, gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return post("gaspi_write()", queue, rank, timeout, [&](World& w) {
    return Write{piece_of(w, {local, local_offset, rank, remote, remote_offset, size})};
  });
}

gaspi_return_t entry_read(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                          gaspi_segment_id_t remote, gaspi_offset_t remote_offset,
                          gaspi_size_t size, gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return post("gaspi_read()", queue, rank, timeout, [&](World& w) {
    return Read{piece_of(w, {local, local_offset, rank, remote, remote_offset, size})};
  });
}

gaspi_return_t entry_notify(gaspi_segment_id_t segment, gaspi_rank_t rank,
                            gaspi_notification_id_t id, gaspi_notification_t value,
                            gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return post("gaspi_notify()", queue, rank, timeout,
              [&](World& w) { return Notify{note_of(w, segment, rank, id, value)}; });
}

gaspi_return_t entry_write_notify(gaspi_segment_id_t local, gaspi_offset_t local_offset,
                                  gaspi_rank_t rank, gaspi_segment_id_t remote,
                                  gaspi_offset_t remote_offset, gaspi_size_t size,
                                  gaspi_notification_id_t id, gaspi_notification_t value,
                                  gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return post("gaspi_write_notify()", queue, rank, timeout, [&](World& w) {
    return WriteNotify{piece_of(w, {local, local_offset, rank, remote, remote_offset, size}),
                       note_of(w, remote, rank, id, value)};
  });
}

gaspi_return_t entry_read_notify(gaspi_segment_id_t local, gaspi_offset_t local_offset,
                                 gaspi_rank_t rank, gaspi_segment_id_t remote,
                                 gaspi_offset_t remote_offset, gaspi_size_t size,
                                 gaspi_notification_id_t id, gaspi_queue_id_t queue,
                                 gaspi_timeout_t timeout) {
  return post("gaspi_read_notify()", queue, rank, timeout, [&](World& w) {
    ReadNotify read{{piece_of(w, {local, local_offset, rank, remote, remote_offset, size})}};
    read.slot = slot_address(*read.piece.local, id);
    return read;
  });
}

gaspi_return_t entry_write_list(gaspi_number_t num, gaspi_segment_id_t* local,
                                gaspi_offset_t* local_offset, gaspi_rank_t rank,
                                gaspi_segment_id_t* remote, gaspi_offset_t* remote_offset,
                                gaspi_size_t* size, gaspi_queue_id_t queue,
                                gaspi_timeout_t timeout) {
  const ListWrite list{{num, local, local_offset, rank, remote, remote_offset, size}};
  return post("gaspi_write_list()", queue, rank, timeout, checked(list, [](World&) {}), num);
}

gaspi_return_t entry_write_list_notify(gaspi_number_t num, gaspi_segment_id_t* local,
                                       gaspi_offset_t* local_offset, gaspi_rank_t rank,
                                       gaspi_segment_id_t* remote, gaspi_offset_t* remote_offset,
                                       gaspi_size_t* size, gaspi_segment_id_t segment,
                                       gaspi_notification_id_t id, gaspi_notification_t value,
                                       gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  ListWrite list{{num, local, local_offset, rank, remote, remote_offset, size}};
  const auto note = [&](World& w) { list.note = note_of(w, segment, rank, id, value); };
  return post("gaspi_write_list_notify()", queue, rank, timeout, checked(list, note), num);
}

gaspi_return_t entry_read_list(gaspi_number_t num, gaspi_segment_id_t* local,
                               gaspi_offset_t* local_offset, gaspi_rank_t rank,
                               gaspi_segment_id_t* remote, gaspi_offset_t* remote_offset,
                               gaspi_size_t* size, gaspi_queue_id_t queue,
                               gaspi_timeout_t timeout) {
  const ListRead list{{num, local, local_offset, rank, remote, remote_offset, size}};
  return post("gaspi_read_list()", queue, rank, timeout, checked(list, [](World&) {}), num);
}

gaspi_return_t entry_read_list_notify(gaspi_number_t num, gaspi_segment_id_t* local,
                                      gaspi_offset_t* local_offset, gaspi_rank_t rank,
                                      gaspi_segment_id_t* remote, gaspi_offset_t* remote_offset,
                                      gaspi_size_t* size, gaspi_segment_id_t segment,
                                      gaspi_notification_id_t id, gaspi_queue_id_t queue,
                                      gaspi_timeout_t timeout) {
  ListRead list{{num, local, local_offset, rank, remote, remote_offset, size}};
  const auto note = [&](World& w) { list.slot = slot_address(w.segment(segment), id); };
  return post("gaspi_read_list_notify()", queue, rank, timeout, checked(list, note), num);
}

// ---- notifications that come in ----

gaspi_return_t entry_notify_waitsome(gaspi_segment_id_t segment, gaspi_notification_id_t first,
                                     gaspi_number_t num, gaspi_notification_id_t* found,
                                     gaspi_timeout_t timeout) {
  return call("gaspi_notify_waitsome()", [&](const World& w) {
    const uint64_t* const slots = slots_of(w.segment(segment), first, num);
    if (num == 0) return GASPI_SUCCESS;
    require_pointer(found, "first_id");
    return wait_for_note(segment, slots, num, first, found, timeout);
  });
}

gaspi_return_t entry_notify_reset(gaspi_segment_id_t segment, gaspi_notification_id_t id,
                                  gaspi_notification_t* old_value) {
  return call("gaspi_notify_reset()", [&](const World& w) {
    // acq_rel: what the notification announces is read after it; what was read before stays
    // before the next one.
    const uint64_t old = __atomic_exchange_n(slot_of(w.segment(segment), id), 0, __ATOMIC_ACQ_REL);
    if (__builtin_expect(old_value != nullptr, 1))
      *old_value = static_cast<gaspi_notification_t>(old);
    annotate_receive();
  });
}

}  // namespace causeway::gaspi
