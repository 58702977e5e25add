// One-sided communication (chapter 8).
#include <algorithm>

#include "api/gaspi/entry.h"
#include "api/gaspi/transfer.h"
#include "thread/tsan_annotations.h"

using namespace causeway;
using namespace causeway::gaspi;

namespace causeway::gaspi {
namespace {

// Requests to a rank that cannot be talked to. A disconnected one is the program's own doing. To
// one that is known to be dead they are posted all the same, and fail: programs assert that a post
// succeeds, and ask gaspi_wait() what became of it.
__attribute__((cold, noinline)) gaspi_return_t post_in_vain(const World& w, Queue& queue,
                                                            const char* call, unsigned rank,
                                                            uint32_t requests,
                                                            gaspi_timeout_t timeout) {
  const gaspi_return_t known = require_rank(w, call, rank);
  if (known != GASPI_SUCCESS) return known;
  if (!w.is_corrupt(rank)) return GASPI_ERROR;
  Deadline deadline(call, timeout, rank);
  const gaspi_return_t result = queue.enter(deadline, requests);
  if (result == GASPI_SUCCESS) queue.fail();
  return result;
}

// The queue has counted requests that could not be started. Where the rank has died meanwhile, they
// are as if posted to a dead one.
__attribute__((cold, noinline)) gaspi_return_t not_started(const World& w, Queue& queue,
                                                           unsigned rank, uint32_t requests,
                                                           gaspi_return_t result) {
  if (result == GASPI_ERROR && w.is_corrupt(rank)) {
    queue.fail();
    return GASPI_SUCCESS;
  }
  queue.leave(requests);
  return result;
}

__attribute__((cold, noinline)) gaspi_return_t wrong_piece(const World& w, const char* call,
                                                           unsigned local, uint64_t local_offset,
                                                           unsigned rank, unsigned remote,
                                                           uint64_t remote_offset, uint64_t size) {
  const LocalSegment* const l = w.segments[local].load(std::memory_order_acquire);
  const FarSegment* const r = w.remote_segment(remote, rank);
  if (l == nullptr) {
    return refuse(GASPI_ERR_INV_SEG, call, fmt::format("there is no segment {} here", local));
  }
  if (r == nullptr) {
    return refuse(GASPI_ERR_INV_SEG, call,
                  fmt::format("segment {} of rank {} is not registered here", remote, rank));
  }
  if (size > w.config.transfer_size_max) {
    return refuse(GASPI_ERR_INV_COMMSIZE, call,
                  fmt::format("{} bytes; at most {}", size, w.config.transfer_size_max));
  }
  if (!l->contains(local_offset, size)) {
    return refuse(GASPI_ERR_INV_LOC_OFF, call,
                  fmt::format("[{}, {}) leaves local segment {} of {} bytes", local_offset,
                              local_offset + size, local, l->size));
  }
  return refuse(GASPI_ERR_INV_REM_OFF, call,
                fmt::format("[{}, {}) leaves segment {} of rank {}, of {} bytes", remote_offset,
                            remote_offset + size, remote, rank, r->size));
}

__attribute__((cold, noinline)) gaspi_return_t wrong_note(const char* call, unsigned segment,
                                                          unsigned rank, uint32_t id,
                                                          uint32_t slots, uint32_t value) {
  if (slots == 0) {
    return refuse(GASPI_ERR_INV_SEG, call,
                  fmt::format("segment {} of rank {} is not registered here", segment, rank));
  }
  if (id >= slots) {
    return refuse(GASPI_ERR_INV_NOTIF_ID, call,
                  fmt::format("notification {} does not exist; there are {}", id, slots));
  }
  return refuse(GASPI_ERR_INV_NOTIF_VAL, call,
                fmt::format("the value of notification {} is {}; it must not be 0", id, value));
}

// Refuses notifications beyond the slots of a segment here.
__attribute__((cold, noinline)) gaspi_return_t no_such_notes(const char* call,
                                                             const LocalSegment* s,
                                                             unsigned segment, uint64_t first,
                                                             uint64_t num) {
  if (s == nullptr) {
    return refuse(GASPI_ERR_INV_SEG, call, fmt::format("there is no segment {} here", segment));
  }
  if (num == 1) {
    return refuse(GASPI_ERR_INV_NOTIF_ID, call,
                  fmt::format("notification {} does not exist; there are {}", first,
                              s->slot_count));
  }
  return refuse(GASPI_ERR_INV_NOTIF_ID, call,
                fmt::format("[{}, {}) leaves the {} notifications of segment {}", first,
                            first + num, s->slot_count, segment));
}

__attribute__((cold, noinline)) gaspi_return_t is_null(const char* call, const char* name) {
  return refuse(GASPI_ERR_NULLPTR, call, fmt::format("{} is NULL", name));
}

inline bool find_piece(const World& w, unsigned local, uint64_t local_offset, unsigned rank,
                       unsigned remote, uint64_t remote_offset, uint64_t size, Piece& out) {
  LocalSegment* const l = w.segments[local].load(std::memory_order_acquire);
  FarSegment* const r = w.remote_segment(remote, rank);
  if (l == nullptr || r == nullptr || !l->contains(local_offset, size) ||
      !r->contains(remote_offset, size) || size > w.config.transfer_size_max) {
    return false;
  }
  out = {l, r, local_offset, remote_offset, size};
  return true;
}

inline gaspi_return_t require_piece(const World& w, const char* call, unsigned local,
                                    uint64_t local_offset, unsigned rank, unsigned remote,
                                    uint64_t remote_offset, uint64_t size, Piece& out) {
  if (__builtin_expect(
          find_piece(w, local, local_offset, rank, remote, remote_offset, size, out), 1)) {
    return GASPI_SUCCESS;
  }
  return wrong_piece(w, call, local, local_offset, rank, remote, remote_offset, size);
}

inline bool find_note(const World& w, unsigned segment, unsigned rank, uint32_t id, uint32_t value,
                      Note& out) {
  FarSegment* const r = w.remote_segment(segment, rank);
  if (r == nullptr || id >= r->slot_count || value == 0) return false;
  out = {rank, r, id, value};
  return true;
}

inline gaspi_return_t require_note(const World& w, const char* call, unsigned segment,
                                   unsigned rank, uint32_t id, uint32_t value, Note& out) {
  if (__builtin_expect(find_note(w, segment, rank, id, value, out), 1)) return GASPI_SUCCESS;
  const FarSegment* const r = w.remote_segment(segment, rank);
  return wrong_note(call, segment, rank, id, r != nullptr ? r->slot_count : 0, value);
}

// A slot of a local segment, 0 when there is none.
inline uint64_t find_local_note(const World& w, unsigned segment, uint32_t id) {
  const LocalSegment* const l = w.segments[segment].load(std::memory_order_acquire);
  return l == nullptr || id >= l->slot_count ? 0 : reinterpret_cast<uint64_t>(l->slots + id);
}

inline gaspi_return_t require_local_note(const World& w, const char* call, unsigned segment,
                                         uint32_t id, uint64_t& slot) {
  slot = find_local_note(w, segment, id);
  if (__builtin_expect(slot != 0, 1)) return GASPI_SUCCESS;
  return no_such_notes(call, w.segments[segment].load(std::memory_order_acquire), segment, id, 1);
}

// A call that posts: looks up queue and rank, runs `prepare` for the rest of the arguments, then
// `at_once`, which is true when it did everything, or counts the requests and runs `start`. What was
// not posted is not counted.
template <typename Prepare, typename AtOnce, typename Start>
inline gaspi_return_t posted(const char* call, unsigned queue, unsigned rank,
                             gaspi_timeout_t timeout, Prepare&& prepare, AtOnce&& at_once,
                             Start&& start, uint32_t requests = 1) {
  World* const w = world();
  if (__builtin_expect(w == nullptr, 0)) return not_begun(call);
  Queue* const q = w->queue(queue);
  if (__builtin_expect(q == nullptr, 0)) return no_queue(call, queue);
  // More elements than a queue has places fill an empty one.
  if (requests != 1) requests = std::clamp(requests, 1u, q->limit());
  if (__builtin_expect(rank >= w->size || !w->usable[rank].load(std::memory_order_relaxed), 0)) {
    return post_in_vain(*w, *q, call, rank, requests, timeout);
  }
  gaspi_return_t result = prepare(*w);
  if (__builtin_expect(result != GASPI_SUCCESS, 0)) return result;
  if (q->has_room() && at_once(*w, *q)) {
    q->count_complete();
    return GASPI_SUCCESS;
  }
  Deadline deadline(call, timeout, rank);
  result = q->enter(deadline, requests);
  if (__builtin_expect(result != GASPI_SUCCESS, 0)) return result;
  result = start(*w, *q, deadline);
  if (__builtin_expect(result == GASPI_SUCCESS, 1)) return GASPI_SUCCESS;
  return not_started(*w, *q, rank, requests, result);
}

template <typename Prepare, typename Start>
inline gaspi_return_t posted(const char* call, unsigned queue, unsigned rank,
                             gaspi_timeout_t timeout, Prepare&& prepare, Start&& start,
                             uint32_t requests = 1) {
  return posted(
      call, queue, rank, timeout, prepare, [](World&, Queue&) { return false; }, start, requests);
}

// ---- lists ----

struct List {
  gaspi_number_t num;
  const gaspi_segment_id_t* local;
  const gaspi_offset_t* local_offset;
  gaspi_rank_t rank;
  const gaspi_segment_id_t* remote;
  const gaspi_offset_t* remote_offset;
  const gaspi_size_t* size;
};

gaspi_return_t check_list(const World& w, const char* call, const List& list) {
  if (list.num == 0 || list.num > w.config.rw_list_elem_max) {
    return refuse(
        GASPI_ERR_INV_NUM, call,
        fmt::format("{} elements; expected 1 to {}", list.num, w.config.rw_list_elem_max));
  }
  if (list.local == nullptr || list.local_offset == nullptr || list.remote == nullptr ||
      list.remote_offset == nullptr || list.size == nullptr) {
    return refuse(GASPI_ERR_NULLPTR, call, "a list is NULL");
  }
  // All before any is posted: a list is posted as a whole or not at all.
  for (gaspi_number_t i = 0; i < list.num; ++i) {
    Piece piece;
    const gaspi_return_t found =
        require_piece(w, call, list.local[i], list.local_offset[i], list.rank, list.remote[i],
                      list.remote_offset[i], list.size[i], piece);
    if (found != GASPI_SUCCESS) return found;
  }
  return GASPI_SUCCESS;
}

Piece piece_of(const World& w, const List& list, gaspi_number_t i) {
  Piece piece{};
  find_piece(w, list.local[i], list.local_offset[i], list.rank, list.remote[i],
             list.remote_offset[i], list.size[i], piece);
  return piece;
}

// A list that timed out half-way is begun again by the next call: elements that are written twice
// are written with the same bytes.
gaspi_return_t write_elements(World& w, Queue& q, const List& list, Deadline& deadline) {
  for (gaspi_number_t i = 0; i < list.num; ++i) {
    const Piece piece = piece_of(w, list, i);
    const gaspi_return_t result = start_write(w, q, piece, deadline);
    if (result != GASPI_SUCCESS) return result;
    w.statistics.wrote(list.rank, piece.size);
  }
  return GASPI_SUCCESS;
}

gaspi_return_t read_elements(World& w, Queue& q, const List& list, Deadline& deadline) {
  for (gaspi_number_t i = 0; i < list.num; ++i) {
    const Piece piece = piece_of(w, list, i);
    const gaspi_return_t result = start_read(w, q, piece, 0, deadline);
    if (result != GASPI_SUCCESS) return result;
    w.statistics.read(list.rank, piece.size);
  }
  return GASPI_SUCCESS;
}

}  // namespace
}  // namespace causeway::gaspi

CAUSEWAY_API gaspi_return_t cwy_gaspi_write_v1(gaspi_segment_id_t segment_id_local,
                                               gaspi_offset_t offset_local, gaspi_rank_t rank,
                                               gaspi_segment_id_t segment_id_remote,
                                               gaspi_offset_t offset_remote, gaspi_size_t size,
                                               gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_write()";
  Piece piece;
  return posted(
      kCall, queue, rank, timeout,
      [&](World& w) {
        return require_piece(w, kCall, segment_id_local, offset_local, rank, segment_id_remote,
                             offset_remote, size, piece);
      },
      [&](World& w, Queue&) {
        if (!store_at_once(piece)) return false;
        w.statistics.wrote(rank, size);
        return true;
      },
      [&](World& w, Queue& q, Deadline& deadline) {
        w.statistics.wrote(rank, size);
        return start_write(w, q, piece, deadline);
      });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_read_v1(gaspi_segment_id_t segment_id_local,
                                              gaspi_offset_t offset_local, gaspi_rank_t rank,
                                              gaspi_segment_id_t segment_id_remote,
                                              gaspi_offset_t offset_remote, gaspi_size_t size,
                                              gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_read()";
  Piece piece;
  return posted(
      kCall, queue, rank, timeout,
      [&](World& w) {
        return require_piece(w, kCall, segment_id_local, offset_local, rank, segment_id_remote,
                             offset_remote, size, piece);
      },
      [&](World& w, Queue& q, Deadline& deadline) {
        w.statistics.read(rank, size);
        return start_read(w, q, piece, 0, deadline);
      });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_notify_v1(gaspi_segment_id_t segment_id, gaspi_rank_t rank,
                                                gaspi_notification_id_t notification_id,
                                                gaspi_notification_t notification_value,
                                                gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_notify()";
  Note note;
  return posted(
      kCall, queue, rank, timeout,
      [&](World& w) {
        return require_note(w, kCall, segment_id, rank, notification_id, notification_value, note);
      },
      [&](World& w, Queue& q) {
        if (!store_at_once(q, note)) return false;
        w.statistics.add(Counter::notifications);
        return true;
      },
      [&](World& w, Queue& q, Deadline& deadline) {
        w.statistics.add(Counter::notifications);
        return start_notify(w, q, note, deadline);
      });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_write_notify_v1(
    gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
    gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote, gaspi_size_t size,
    gaspi_notification_id_t notification_id, gaspi_notification_t notification_value,
    gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_write_notify()";
  Piece piece;
  Note note;
  return posted(
      kCall, queue, rank, timeout,
      [&](World& w) {
        const gaspi_return_t found =
            require_piece(w, kCall, segment_id_local, offset_local, rank, segment_id_remote,
                          offset_remote, size, piece);
        if (found != GASPI_SUCCESS) return found;
        return require_note(w, kCall, segment_id_remote, rank, notification_id, notification_value,
                            note);
      },
      [&](World& w, Queue&) {
        if (!store_at_once(piece, note)) return false;
        w.statistics.wrote(rank, size);
        w.statistics.add(Counter::notifications);
        return true;
      },
      [&](World& w, Queue& q, Deadline& deadline) {
        w.statistics.wrote(rank, size);
        w.statistics.add(Counter::notifications);
        return start_write_notify(w, q, piece, note, deadline);
      });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_read_notify_v1(
    gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
    gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote, gaspi_size_t size,
    gaspi_notification_id_t notification_id, gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_read_notify()";
  Piece piece;
  uint64_t slot = 0;
  return posted(
      kCall, queue, rank, timeout,
      [&](World& w) {
        const gaspi_return_t found =
            require_piece(w, kCall, segment_id_local, offset_local, rank, segment_id_remote,
                          offset_remote, size, piece);
        if (found != GASPI_SUCCESS) return found;
        return require_local_note(w, kCall, segment_id_local, notification_id, slot);
      },
      [&](World& w, Queue& q, Deadline& deadline) {
        w.statistics.read(rank, size);
        return start_read(w, q, piece, slot, deadline);
      });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_write_list_v1(
    gaspi_number_t num, gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
    gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
    gaspi_size_t* size, gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  const List list{num, segment_id_local, offset_local, rank, segment_id_remote, offset_remote,
                  size};
  return posted(
      "gaspi_write_list()", queue, rank, timeout,
      [&](World& w) { return check_list(w, "gaspi_write_list()", list); },
      [&](World& w, Queue& q, Deadline& deadline) { return write_elements(w, q, list, deadline); },
      num);
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_write_list_notify_v1(
    gaspi_number_t num, gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
    gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
    gaspi_size_t* size, gaspi_segment_id_t segment_id_notification,
    gaspi_notification_id_t notification_id, gaspi_notification_t notification_value,
    gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_write_list_notify()";
  const List list{num, segment_id_local, offset_local, rank, segment_id_remote, offset_remote,
                  size};
  Note note;
  return posted(
      kCall, queue, rank, timeout,
      [&](World& w) {
        const gaspi_return_t found = require_note(w, kCall, segment_id_notification, rank,
                                                  notification_id, notification_value, note);
        return found == GASPI_SUCCESS ? check_list(w, kCall, list) : found;
      },
      [&](World& w, Queue& q, Deadline& deadline) {
        const gaspi_return_t result = write_elements(w, q, list, deadline);
        if (result != GASPI_SUCCESS) return result;
        w.statistics.add(Counter::notifications);
        return start_notify(w, q, note, deadline);
      },
      num);
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_read_list_v1(
    gaspi_number_t num, gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
    gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
    gaspi_size_t* size, gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  const List list{num, segment_id_local, offset_local, rank, segment_id_remote, offset_remote,
                  size};
  return posted(
      "gaspi_read_list()", queue, rank, timeout,
      [&](World& w) { return check_list(w, "gaspi_read_list()", list); },
      [&](World& w, Queue& q, Deadline& deadline) { return read_elements(w, q, list, deadline); },
      num);
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_read_list_notify_v1(
    gaspi_number_t num, gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
    gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
    gaspi_size_t* size, gaspi_segment_id_t segment_id_notification,
    gaspi_notification_id_t notification_id, gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_read_list_notify()";
  const List list{num, segment_id_local, offset_local, rank, segment_id_remote, offset_remote,
                  size};
  uint64_t slot = 0;
  return posted(
      kCall, queue, rank, timeout,
      [&](World& w) {
        const gaspi_return_t found =
            require_local_note(w, kCall, segment_id_notification, notification_id, slot);
        return found == GASPI_SUCCESS ? check_list(w, kCall, list) : found;
      },
      [&](World& w, Queue& q, Deadline& deadline) {
        return start_read_list_notify(w, q, list.num, rank, slot, deadline,
                                      [&](gaspi_number_t i) { return piece_of(w, list, i); });
      },
      num);
}

// ---- notifications that come in ----

CAUSEWAY_API gaspi_return_t cwy_gaspi_notify_waitsome_v1(gaspi_segment_id_t segment_id,
                                                         gaspi_notification_id_t notific_begin,
                                                         gaspi_number_t notification_num,
                                                         gaspi_notification_id_t* first_id,
                                                         gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_notify_waitsome()";
  const World* const w = world();
  if (__builtin_expect(w == nullptr, 0)) return not_begun(kCall);
  const LocalSegment* const s = w->segments[segment_id].load(std::memory_order_acquire);
  if (__builtin_expect(s == nullptr || notific_begin > s->slot_count ||
                           notification_num > s->slot_count - notific_begin,
                       0)) {
    return no_such_notes(kCall, s, segment_id, notific_begin, notification_num);
  }
  if (notification_num == 0) return GASPI_SUCCESS;
  if (__builtin_expect(first_id == nullptr, 0)) return is_null(kCall, "first_id");
  return wait_for_note(*w, s->slots + notific_begin, notification_num, notific_begin, first_id,
                       timeout);
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_notify_reset_v1(gaspi_segment_id_t segment_id,
                                                      gaspi_notification_id_t notification_id,
                                                      gaspi_notification_t* old_notification_val) {
  constexpr const char* kCall = "gaspi_notify_reset()";
  const World* const w = world();
  if (__builtin_expect(w == nullptr, 0)) return not_begun(kCall);
  uint64_t slot = 0;
  const gaspi_return_t found = require_local_note(*w, kCall, segment_id, notification_id, slot);
  if (__builtin_expect(found != GASPI_SUCCESS, 0)) return found;
  // acq_rel: what the notification announces is read after it; what was read before stays before
  // the next one.
  const uint64_t old =
      __atomic_exchange_n(reinterpret_cast<uint64_t*>(slot), 0, __ATOMIC_ACQ_REL);
  if (__builtin_expect(old_notification_val != nullptr, 1)) {
    *old_notification_val = static_cast<gaspi_notification_t>(old);
  }
  annotate_receive();
  return GASPI_SUCCESS;
}
