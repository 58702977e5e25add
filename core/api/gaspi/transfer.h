// Transfers: what one-sided calls do once their arguments are looked up.
#pragma once

#include <GASPI.h>

#include <functional>

#include "api/gaspi/queue.h"
#include "api/gaspi/stores.h"
#include "api/gaspi/world.h"

namespace causeway::gaspi {

// Start a request that the queue has counted. What is not posted within the deadline is taken back
// by the caller (Queue::leave).
gaspi_return_t start_write(World& world, Queue& queue, const Piece& piece, Deadline& deadline);
gaspi_return_t start_read(World& world, Queue& queue, const Piece& piece, uint64_t local_note,
                          Deadline& deadline);
// The notification arrives after this piece; its order to other requests is open.
gaspi_return_t start_write_notify(World& world, Queue& queue, const Piece& piece, const Note& note,
                                  Deadline& deadline);

// The notification arrives after everything posted before it to its rank on the queue.
gaspi_return_t start_notify(World& world, Queue& queue, const Note& note, Deadline& deadline);

// A list of reads whose notification, a slot here, gets 1 when all are complete.
gaspi_return_t start_read_list_notify(World& world, Queue& queue, uint32_t num, uint32_t rank,
                                      uint64_t local_note, Deadline& deadline,
                                      const std::function<Piece(uint32_t)>& piece);

// gaspi_notify_waitsome: scans `num` slots, the first of which has the number `first`. The segment
// is only named.
gaspi_return_t wait_for_note(gaspi_segment_id_t segment, const uint64_t* slots, uint32_t num,
                             uint32_t first, gaspi_notification_id_t* found,
                             gaspi_timeout_t timeout);

}  // namespace causeway::gaspi
