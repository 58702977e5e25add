#include "api/gaspi/world.h"

#include "api/gaspi/acknowledgements.h"
#include "api/gaspi/control_queue.h"
#include "api/gaspi/group.h"
#include "api/gaspi/passive.h"
#include "api/gaspi/queue.h"
#include "api/gaspi/segment.h"
#include "base/error.h"
#include "base/refusal.h"

namespace causeway::gaspi {

std::atomic<World*> g_world{nullptr};
std::atomic<World*> g_receiver{nullptr};

World::World(const gaspi_config_t& wishes, uint32_t own, uint32_t ranks)
    : rank(own),
      size(ranks),
      config(wishes),
      usable(new std::atomic<bool>[ranks]),
      state(new std::atomic<uint8_t>[ranks]),
      reached(new std::atomic<bool>[ranks]),
      statistics(ranks),
      control(std::make_unique<ControlQueue>(*this)),
      segment_table(std::make_unique<Segments>(*this)),
      groups(std::make_unique<Groups>(*this)),
      passive(std::make_unique<Passive>(*this)),
      acknowledgements(std::make_unique<Acknowledgements>(ranks)),
      leaving(new std::atomic<bool>[ranks]) {
  for (uint32_t r = 0; r < ranks; ++r) {
    usable[r].store(true, std::memory_order_relaxed);
    state[r].store(GASPI_STATE_HEALTHY, std::memory_order_relaxed);
    leaving[r].store(false, std::memory_order_relaxed);
    reached[r].store(true, std::memory_order_relaxed);
  }
  for (unsigned q = 0; q < config.queue_num; ++q)
    queues[q].store(new Queue(*this), std::memory_order_relaxed);  // nobody sees it yet
}

World::~World() {
  for (auto& queue : queues) delete queue.load(std::memory_order_relaxed);
  for (auto& row : remote) delete[] row.load(std::memory_order_relaxed);
}

uint32_t make_progress() {
  World* const w = g_receiver.load(std::memory_order_acquire);
  if (w == nullptr || !w->open.load(std::memory_order_acquire)) return 0;
  uint32_t moved = w->acknowledgements->send(*w);
  // Relaxed: a hint; what is missed now is done by the next poll.
  if (w->work.load(std::memory_order_relaxed) == 0) return moved;
  moved += take_changes(*w);
  moved += move_control_messages(*w);
  moved += w->segment_table->take_registrations();
  for (auto& slot : w->queues)
    if (Queue* queue = slot.load(std::memory_order_acquire)) moved += queue->send_deferred();
  return moved;
}

gaspi_return_t report_exception(const char* call, const std::exception& exception) noexcept {
  log_refusal(call, exception.what());
  if (const auto* const refusal = dynamic_cast<const Refusal*>(&exception)) return refusal->code();
  const auto* const error = dynamic_cast<const Error*>(&exception);
  return error != nullptr && error->status() == CWY_ERR_NOMEM ? GASPI_ERR_MEMALLOC : GASPI_ERROR;
}

}  // namespace causeway::gaspi
