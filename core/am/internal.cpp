#include "am/internal.h"

#include <array>
#include <atomic>

#include "am/emulated_long.h"
#include "api/gasnet1/blocks.h"
#include "api/gasnet1/far_memset.h"
#include "api/gasnet1/named_barrier.h"
#include "atomics/emulated_atomic.h"
#include "base/error.h"
#include "collective/engine.h"
#include "collective/exchange.h"
#include "memkind/imports.h"
#include "memkind/staging_service.h"
#include "object/endpoint.h"
#include "process/exit.h"
#include "process/runtime.h"
#include "progress/poll.h"
#include "progress/waiter.h"
#include "rma/emulation.h"
#include "vis/messages.h"

namespace causeway {
namespace {

std::atomic<InternalHandler> g_interface{nullptr};  // relaxed: set before any message can come

void on_interface(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length) {
  g_interface.load(std::memory_order_relaxed)(from, args, nargs, payload, length);
}

constexpr std::array<InternalHandler, static_cast<size_t>(Internal::count)> kHandlers = {
    on_put_data,          on_put_done,      on_get_ask,    on_get_data,
    on_atomic_ask,        on_atomic_done,   on_long_piece, on_exchange_piece,
    on_collective_signal, on_remote_exit,   on_vis_put,    on_vis_put_done,
    on_vis_get,           on_vis_got,       on_vis_notify, on_named_barrier,
    on_memset_ask,        on_memset_done,   on_block,      on_interface,
    on_device_stage,      on_device_import,
};

cwy_status send_once(Peer& to, uint64_t word, const int32_t* args, unsigned nargs,
                     const void* payload, size_t length, uint32_t flags) {
  cwyc_conn* conn = to.am.load(std::memory_order_acquire);
  if (payload == nullptr) return conn->ops->am_short(conn, word, args, nargs, flags);
  // The source is copied before return, so there is nothing to wait for.
  return conn->ops->am_medium(conn, word, args, nargs, payload, nullptr, length,
                              flags | CWYC_SRC_VOLATILE, nullptr);
}

}  // namespace

void set_interface_handler(InternalHandler handler) {
  g_interface.store(handler, std::memory_order_relaxed);
}

void run_internal(Internal which, Peer& from, const int32_t* args, unsigned nargs, void* payload,
                  size_t length) {
  const auto index = static_cast<size_t>(which);
  if (index >= kHandlers.size()) return;  // a newer peer's message; versions are checked at start
  kHandlers[index](from, args, nargs, payload, length);
}

cwy_status try_send_internal(Peer& to, Internal which, const int32_t* args, unsigned nargs,
                             const void* payload, size_t length, bool reply) {
  const cwy_status status = send_once(to, internal_word(which, reply), args, nargs, payload, length,
                                      reply ? CWYC_LANE_REPLY : 0);
  if (__builtin_expect(status != CWY_OK && status != CWY_RETRY, 0)) {
    internal_send_failed(to, status);
  }
  return status;
}

void internal_send_failed(const Peer& to, cwy_status status) {
  // Who is gone may have left in order: the next poll finds out, and a message that the rank did
  // not wait for is not missed.
  if (status != CWY_ERR_PEER_FAILED && !runtime().survives_failures()) send_failed(to, status);
  runtime().note_loss(to.rank, to.epoch.load(std::memory_order_relaxed),
                      fmt::format("a message failed with {}", status_name(status)));
}

void send_internal(Peer& to, Internal which, const int32_t* args, unsigned nargs,
                   const void* payload, size_t length) {
  Waiter waiter;
  while (try_send_internal(to, which, args, nargs, payload, length, false) == CWY_RETRY) {
    waiter.step();
  }
}

void reply_internal(Peer& to, Internal which, const int32_t* args, unsigned nargs,
                    const void* payload, size_t length) {
  while (try_send_internal(to, which, args, nargs, payload, length, true) == CWY_RETRY) {
    poll_replies(*to.ep);
  }
}

}  // namespace causeway
