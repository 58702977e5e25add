// Segments and what is written, read and notified in them.
#include <cstdio>

#include "tide.hpp"

namespace tide {
namespace {

// The smallest id that no segment has: the same everywhere, as all processes make the same ones.
gaspi_segment_id_t free_id() {
  gaspi_number_t count;
  check(gaspi_segment_num(&count), "gaspi_segment_num");
  std::vector<gaspi_segment_id_t> used(count);
  if (count > 0) check(gaspi_segment_list(count, used.data()), "gaspi_segment_list");
  for (int id = 0;; ++id) {
    bool taken = false;
    for (gaspi_segment_id_t other : used) taken = taken || other == id;
    if (!taken) return static_cast<gaspi_segment_id_t>(id);
  }
}

}  // namespace

Segment::Segment(std::size_t bytes, gaspi_group_t group) : id_(free_id()) {
  check(gaspi_segment_create(id_, bytes, group, GASPI_BLOCK, GASPI_MEM_INITIALIZED),
        "gaspi_segment_create");
  check(gaspi_segment_ptr(id_, &base_), "gaspi_segment_ptr");
}
Segment::~Segment() {
  if (gaspi_segment_delete(id_) != GASPI_SUCCESS)
    std::fprintf(stderr, "segment %d is not deleted\n", static_cast<int>(id_));
}

void Segment::write(gaspi_offset_t from, gaspi_rank_t to, gaspi_offset_t there, std::size_t bytes,
                    const Queue& queue) const {
  queue.post("gaspi_write", [&](gaspi_queue_id_t id) {
    return gaspi_write(id_, from, to, id_, there, bytes, id, GASPI_BLOCK);
  });
}
void Segment::write_notify(gaspi_offset_t from, gaspi_rank_t to, gaspi_offset_t there,
                           std::size_t bytes, gaspi_notification_id_t notification,
                           gaspi_notification_t value, const Queue& queue) const {
  queue.post("gaspi_write_notify", [&](gaspi_queue_id_t id) {
    return gaspi_write_notify(id_, from, to, id_, there, bytes, notification, value, id,
                              GASPI_BLOCK);
  });
}
void Segment::read(gaspi_offset_t to, gaspi_rank_t from, gaspi_offset_t there, std::size_t bytes,
                   const Queue& queue) const {
  queue.post("gaspi_read", [&](gaspi_queue_id_t id) {
    return gaspi_read(id_, to, from, id_, there, bytes, id, GASPI_BLOCK);
  });
}

Segment::Notified Segment::wait_some(gaspi_notification_id_t first, gaspi_number_t count) const {
  Notified found{0, 0};
  while (found.value == 0) {
    check(gaspi_notify_waitsome(id_, first, count, &found.id, GASPI_BLOCK),
          "gaspi_notify_waitsome");
    check(gaspi_notify_reset(id_, found.id, &found.value), "gaspi_notify_reset");
  }
  return found;
}

}  // namespace tide
