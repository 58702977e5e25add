// Queues of one-sided communication (chapter 8).
#include <memory>

#include "api/gaspi/entry.h"
#include "api/gaspi/queue.h"

namespace causeway::gaspi {

gaspi_return_t entry_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return timed_call("gaspi_wait()", timeout, [&](World& w, Deadline& deadline) {
    Queue& q = w.queue(queue);
    w.statistics.add(Counter::waits);
    deadline.is_for("the requests of queue {}", queue);
    return q.wait(deadline);
  });
}

gaspi_return_t entry_queue_create(gaspi_queue_id_t* queue, gaspi_timeout_t) {
  return tell("gaspi_queue_create()", queue, "queue", [](World& w) {
    auto fresh = std::make_unique<Queue>(w);
    for (unsigned id = 0; id < kQueueIds; ++id) {
      Queue* none = nullptr;
      // Release: who finds the queue finds it complete.
      if (!w.queues[id].compare_exchange_strong(none, fresh.get(), std::memory_order_acq_rel))
        continue;
      static_cast<void>(fresh.release());  // the table's from now on
      return id;
    }
    refuse(GASPI_ERR_INV_QUEUE, "there are {} queues, gaspi_queue_max()", kQueueIds);
  });
}

gaspi_return_t entry_queue_delete(gaspi_queue_id_t queue) {
  return call("gaspi_queue_delete()", [&](World& w) {
    Queue* const q =
        queue < kQueueIds ? w.queues[queue].exchange(nullptr, std::memory_order_acq_rel) : nullptr;
    if (q == nullptr) refuse(GASPI_ERR_INV_QUEUE, "there is no queue {}", queue);
    retire(w, q);
  });
}

gaspi_return_t entry_queue_size(gaspi_queue_id_t queue, gaspi_number_t* queue_size) {
  return call("gaspi_queue_size()", [&](World& w) {
    const Queue& q = w.queue(queue);
    require_pointer(queue_size, "queue_size");
    *queue_size = q.size();
  });
}

gaspi_return_t entry_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t timeout) {
  return timed_call("gaspi_queue_purge()", timeout,
                    [&](World& w, Deadline& deadline) { return w.queue(queue).purge(deadline); });
}

}  // namespace causeway::gaspi
