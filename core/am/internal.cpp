#include "am/internal.h"

#include <array>
#include <atomic>

#include "base/error.h"
#include "loader/one_line.h"
#include "object/endpoint.h"
#include "progress/poll.h"
#include "progress/waiter.h"

namespace causeway {
namespace {

std::atomic<InternalHandler> g_interface{nullptr};  // relaxed: set before any message can come

void on_interface(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length) {
  g_interface.load(std::memory_order_relaxed)(from, args, nargs, payload, length);
}

using Handlers = std::array<InternalHandler, static_cast<size_t>(Internal::count)>;
constinit Handlers g_handlers = [] {
  Handlers handlers{};
  handlers[static_cast<size_t>(Internal::interface)] = on_interface;
  return handlers;
}();

cwy_status send_once(Peer& to, uint64_t word, const int32_t* args, unsigned nargs,
                     const void* payload, size_t length, uint32_t flags) {
  cwyc_conn* conn = to.am.load(std::memory_order_acquire);
  if (payload == nullptr) return conn->ops->am_short(conn, word, args, nargs, flags);
  // The source is copied before return, so there is nothing to wait for.
  return conn->ops->am_medium(conn, word, args, nargs, payload, nullptr, length,
                              flags | CWYC_SRC_VOLATILE, nullptr);
}

}  // namespace

void set_internal_handler(Internal which, InternalHandler handler) {
  g_handlers[static_cast<size_t>(which)] = handler;
}

void set_interface_handler(InternalHandler handler) {
  g_interface.store(handler, std::memory_order_relaxed);
}

void run_internal(Internal which, Peer& from, const int32_t* args, unsigned nargs, void* payload,
                  size_t length) {
  const auto index = static_cast<size_t>(which);
  if (index >= g_handlers.size()) return;  // a newer peer's message; versions are checked at start
  g_handlers[index](from, args, nargs, payload, length);
}

cwy_status try_send_internal(Peer& to, Internal which, const int32_t* args, unsigned nargs,
                             const void* payload, size_t length, bool reply) {
  const cwy_status status = send_once(to, internal_word(which, reply), args, nargs, payload, length,
                                      reply ? CWYC_LANE_REPLY : 0);
  if (__builtin_expect(status != CWY_OK && status != CWY_RETRY, 0))
    internal_send_failed(to, status);
  return status;
}

void internal_send_failed(const Peer& to, cwy_status status) {
  // A rank that is gone may have left in order, and does not miss it: the next poll finds out.
  if (status != CWY_ERR_PEER_FAILED && !context().survives_failures()) send_failed(to, status);
  context().note_loss(to.rank, to.epoch.load(std::memory_order_relaxed),
                      fmt::format("a message failed with {}", reason({}, status)));
}

void send_internal(Peer& to, Internal which, const int32_t* args, unsigned nargs,
                   const void* payload, size_t length) {
  WaiterFor waiter(wait_for("room to send a message of the library's own", to));
  while (try_send_internal(to, which, args, nargs, payload, length, false) == CWY_RETRY)
    waiter.step();
}

void reply_internal(Peer& to, Internal which, const int32_t* args, unsigned nargs,
                    const void* payload, size_t length) {
  while (try_send_internal(to, which, args, nargs, payload, length, true) == CWY_RETRY)
    poll_replies(to.ep->conduit_eps());
}

}  // namespace causeway
