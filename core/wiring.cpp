// Wiring: what lower rooms are told of higher ones, before main() and before anything uses it. So
// no room includes one that stands above it (tests/style/rooms.order), and each call that goes up
// is named here.
#include <causeway/operations.h>

#include <utility>

#include "am/deliver.h"
#include "am/emulated_long.h"
#include "am/emulated_prepare.h"
#include "am/handler_checks.h"
#include "am/held.h"
#include "am/internal.h"
#include "api/gasnet1/blocks.h"
#include "api/gasnet1/legacy.h"
#include "api/gasnet1/memset.h"
#include "api/gasnet1/named_barrier.h"
#include "api/gex/adopt.h"
#include "atomics/emulated_atomic.h"
#include "base/context.h"
#include "base/fatal_hooks.h"
#include "collective/engine.h"
#include "collective/exchange.h"
#include "collective/inquiry.h"
#include "collective/mailbox.h"
#include "connection/fallbacks.h"
#include "kinds/device.h"
#include "object/device_memory.h"
#include "object/endpoint.h"
#include "object/team.h"
#include "process/departed.h"
#include "process/exit.h"
#include "progress/hints.h"
#include "progress/hooks.h"
#include "rma/emulation.h"
#include "rma/split_ops.h"
#include "rma/stripe.h"
#include "staging/bounce.h"
#include "staging/imports.h"
#include "staging/pins.h"
#include "staging/remote.h"
#include "staging/staging_service.h"
#include "staging/transfer.h"
#include "vis/messages.h"
#include "vis/transfer.h"

namespace causeway {
namespace {

template <typename... Args>
cwy_status unsupported(cwyc_conn*, Args...) {
  return CWY_ERR_UNSUPPORTED;
}
template <typename... Args>
constexpr void refuse(cwy_status (*&entry)(cwyc_conn*, Args...)) {
  entry = unsupported;
}
template <typename... Args>
constexpr void refuse(void (*&)(cwyc_conn*, Args...)) {}

constexpr cwyc_ops emulated_ops() {
  cwyc_ops ops{};
  for_each_operation([&]<typename Each>(const Each&) { refuse(ops.*Each::member); });
  ops.put = emulated_put;
  ops.get = emulated_get;
  ops.atomic = emulated_atomic;
  ops.am_long = emulated_long;
  ops.am_prepare = emulated_prepare;
  ops.am_commit = emulated_commit;
  ops.am_cancel = emulated_cancel;
  return ops;
}
constexpr cwyc_ops kEmulated = emulated_ops();

// Transfers choose their way by the kind of memory, vectors become messages, and the owner of the
// memory performs atomics.
constexpr cwyc_ops device_ops() {
  cwyc_ops ops{};
  ops.put = device_put;
  ops.get = device_get;
  refuse(ops.putv);
  refuse(ops.getv);
  ops.atomic = emulated_atomic;
  ops.am_medium = device_medium;
  ops.am_long = device_long;
  return ops;
}
constexpr cwyc_ops kDevice = device_ops();

constexpr std::pair<Internal, InternalHandler> kInternalHandlers[] = {
    {Internal::put_data, on_put_data},
    {Internal::put_done, on_put_done},
    {Internal::get_ask, on_get_ask},
    {Internal::get_data, on_get_data},
    {Internal::atomic_ask, on_atomic_ask},
    {Internal::atomic_done, on_atomic_done},
    {Internal::long_piece, on_long_piece},
    {Internal::exchange, on_exchange_piece},
    {Internal::signal, on_collective_signal},
    {Internal::exit, on_remote_exit},
    {Internal::vis_put, on_vis_put},
    {Internal::vis_put_done, on_vis_put_done},
    {Internal::vis_get, on_vis_get},
    {Internal::vis_got, on_vis_got},
    {Internal::vis_notify, on_vis_notify},
    {Internal::named_barrier, on_named_barrier},
    {Internal::memset_ask, on_memset_ask},
    {Internal::memset_done, on_memset_done},
    {Internal::block, on_block},
    {Internal::device_stage, on_device_stage},
    {Internal::device_import, on_device_import},
};
// Each but that of the programming interfaces, which they set themselves.
static_assert(std::size(kInternalHandlers) + 1 == static_cast<size_t>(Internal::count));

// Everything that counts in `poll_hints`.
uint32_t push() {
  uint32_t events = 0;
  if (emulations_waiting.load(std::memory_order_relaxed) != 0)
    events += push_emulated_longs() + push_stripes() + push_device_transfers() + push_emulations();
  return events + progress_vis() + progress_collectives() + progress_named_barrier() +
         progress_blocks();
}

void attend() {
  if (held_waiting.load(std::memory_order_relaxed)) run_held_messages();
  context().attend();
}

// Neighbors raise the signals of collectives in memory, which wakes no thread: they are told, and
// what they raised before they could know is looked at.
bool announce_nap_of_collectives() {
  if (active_runs.load(std::memory_order_relaxed) == 0) return false;
  announce_nap();
  return true;
}

bool copies_pending() {
  return device_copies.load(std::memory_order_relaxed) != 0;
}

std::shared_ptr<BouncePool> make_pool(Device& device, bool for_peers) {
  return std::make_shared<BouncePool>(device,
                                      for_peers ? BouncePool::For::peers : BouncePool::For::here);
}

void device_goes(Device& device) {
  unpin_all(device);
  for (const bool get : {false, true}) {
    device.bounces(get)->retire();
    device.peer_bounces(get)->retire();
  }
}

std::shared_ptr<RemoteDevice> know_device(DeviceFacts facts, uint32_t rank, uint64_t segment,
                                          bool same_host) {
  return std::make_shared<RemoteDevice>(std::move(facts), rank, segment, same_host);
}

bool wire() {
  fatal_hooks = {end_for_mistake, end_for_lost_peer, end_for_unreached, end_for_missing,
                 wait_for_launcher};
  fallbacks.emulated = &kEmulated;
  fallbacks.device = &kDevice;
  fallbacks.split = &split_table();  // has emulations
  delivery = {deliver, deliver_checked, place_payload};
  for (const auto& [which, handler] : kInternalHandlers) set_internal_handler(which, handler);
  progress_hooks = {push, attend, copies_pending, announce_nap_of_collectives, end_nap};
  device_hooks = {leave_before_new_libraries, make_pool, device_goes};
  device_memory = {unpin_range, note_export, recall_imports, know_device};
  has_departed = [](uint32_t rank) { return !departed_words(rank).empty(); };
  team_number_released = sweep_mailboxes;
  set_machinery(CollectiveSort::named_barrier, {named_barrier_with, [](uint32_t, uint64_t seq) {
                                                  return named_barrier_how_far(seq);
                                                }});
  set_machinery(CollectiveSort::blocks, {blocks_with, blocks_how_far});
  adopt_for_gasnet1 = adopt_gasnet1_client;
  return true;
}

[[maybe_unused]] const bool g_wired = wire();

}  // namespace
}  // namespace causeway
