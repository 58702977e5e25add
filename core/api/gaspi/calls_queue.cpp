// Queues of one-sided communication (chapter 8).
#include <memory>

#include "api/gaspi/entry.h"
#include "api/gaspi/transfer.h"

using namespace causeway;
using namespace causeway::gaspi;

CAUSEWAY_API gaspi_return_t cwy_gaspi_wait_v1(gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_wait()";
  return with_world(kCall, [&](World& w) {
    Queue* const q = w.queue(queue);
    if (q == nullptr) return no_queue(kCall, queue);
    w.statistics.add(Counter::waits);
    Deadline deadline(kCall, timeout);
    return q->wait(deadline);
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_queue_create_v1(gaspi_queue_id_t* queue, gaspi_timeout_t) {
  constexpr const char* kCall = "gaspi_queue_create()";
  return with_world(kCall, [&](World& w) {
    if (queue == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "queue is NULL");
    auto fresh = std::make_unique<Queue>(w);
    for (unsigned id = 0; id < kQueueIds; ++id) {
      Queue* none = nullptr;
      // Release: who finds the queue finds it complete.
      if (!w.queues[id].compare_exchange_strong(none, fresh.get(), std::memory_order_acq_rel)) {
        continue;
      }
      static_cast<void>(fresh.release());  // the table's from now on
      *queue = static_cast<gaspi_queue_id_t>(id);
      return GASPI_SUCCESS;
    }
    return refuse(GASPI_ERR_INV_QUEUE, kCall,
                  fmt::format("there are {} queues, gaspi_queue_max()", kQueueIds));
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_queue_delete_v1(gaspi_queue_id_t queue) {
  constexpr const char* kCall = "gaspi_queue_delete()";
  return with_world(kCall, [&](World& w) {
    if (queue >= kQueueIds) return no_queue(kCall, queue);
    Queue* const q = w.queues[queue].exchange(nullptr, std::memory_order_acq_rel);
    if (q == nullptr) return no_queue(kCall, queue);
    retire(w, q);
    return GASPI_SUCCESS;
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_queue_size_v1(gaspi_queue_id_t queue,
                                                    gaspi_number_t* queue_size) {
  constexpr const char* kCall = "gaspi_queue_size()";
  return with_world(kCall, [&](World& w) {
    const Queue* const q = w.queue(queue);
    if (q == nullptr) return no_queue(kCall, queue);
    if (queue_size == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "queue_size is NULL");
    *queue_size = q->size();
    return GASPI_SUCCESS;
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_queue_purge_v1(gaspi_queue_id_t queue,
                                                     gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_queue_purge()";
  return with_world(kCall, [&](World& w) {
    Queue* const q = w.queue(queue);
    if (q == nullptr) return no_queue(kCall, queue);
    Deadline deadline(kCall, timeout);
    return q->purge(deadline);
  });
}
