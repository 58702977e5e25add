// Faults in sending, receiving and answering messages.
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "front.h"

namespace broken {
namespace {

using Args = const int32_t*;

// Sixteen arguments leave no room for a large payload.
cwy_status cramped(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                   cwyc_mem* mem, size_t length, uint32_t flags, cwyc_op* op) {
  if (n == CWYC_AM_MAX_ARGS && length > 448) return CWY_ERR_INVALID;
  return g_ops->am_medium(c, word, args, n, payload, mem, length, flags, op);
}

// Loads whole words, from where they begin.
cwy_status aligned_loads(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                         cwyc_mem* mem, size_t length, uint32_t flags, cwyc_op* op) {
  const auto at = reinterpret_cast<uintptr_t>(payload) & ~uintptr_t{3};
  return g_ops->am_medium(c, word, args, n, reinterpret_cast<const void*>(at), mem, length, flags,
                          op);
}

// Says that the source is free, and reads it three calls of progress later.
cwy_status source_kept(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                       cwyc_mem* mem, size_t length, uint32_t flags, cwyc_op* op) {
  if ((flags & CWYC_SRC_VOLATILE) == 0 || length == 0)
    return g_ops->am_medium(c, word, args, n, payload, mem, length, flags, op);
  g_later.add(3, [=, copy = std::vector<int32_t>(args, args + n)] {
    return g_ops->am_medium(c, word, copy.data(), n, payload, mem, length, flags, nullptr) !=
           CWY_RETRY;
  });
  return CWY_OK;
}

// What does not fit is cut.
cwy_status cut_medium(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                      cwyc_mem* mem, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->am_medium(c, word, args, n, payload, mem, length, flags, op);
  if (status != CWY_ERR_INVALID) return status;
  return g_ops->am_medium(c, word, args, n, payload, mem, 512, flags, op);
}

// Another status than the one for a peer that is gone.
cwy_status wrong_failure(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                         cwyc_mem* mem, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->am_medium(c, word, args, n, payload, mem, length, flags, op);
  return status == CWY_ERR_PEER_FAILED ? CWY_ERR_TIMEOUT : status;
}

cwy_status clamp_arguments(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  return g_ops->am_short(c, word, args, std::min<uint32_t>(n, CWYC_AM_MAX_ARGS), flags);
}

// The sender of messages to a dead peer is asked to wait for room.
cwy_status retry_for_ever(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  const cwy_status status = g_ops->am_short(c, word, args, n, flags);
  return status == CWY_ERR_PEER_FAILED ? CWY_RETRY : status;
}

// A queue with room for 200 takes more messages than that, and loses them.
unsigned g_queued = 0;
cwy_status ok_when_full(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  if (++g_queued > 200) return CWY_OK;
  return g_ops->am_short(c, word, args, n, flags);
}
uint32_t empty_queue(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  g_queued = 0;
  return g_inner->progress(ep, budget, lane);
}

cwy_status drop_replies(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  if ((flags & CWYC_LANE_REPLY) != 0 && tick() % 1000 == 0) return CWY_OK;
  return g_ops->am_short(c, word, args, n, flags);
}

// Requests and replies share a queue.
cwy_status one_queue(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  return g_ops->am_short(c, word, args, n, flags & ~uint32_t{CWYC_LANE_REPLY});
}
cwy_status one_queue_medium(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                            cwyc_mem* mem, size_t length, uint32_t flags, cwyc_op* op) {
  return g_ops->am_medium(c, word, args, n, payload, mem, length,
                          flags & ~uint32_t{CWYC_LANE_REPLY}, op);
}

// One place for the message of whoever is sending.
cwy_status shared_slot(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  static volatile uint64_t slot;
  slot = word;
  if (tick() % 16 == 0) sched_yield();
  return g_ops->am_short(c, slot, args, n, flags);
}

// Messages leave with the next calls of progress, if any come: a close overtakes them.
cwy_status sent_by_progress(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  g_later.add(1, [=, copy = std::vector<int32_t>(args, args + n)] {
    return g_ops->am_short(c, word, copy.data(), n, flags) != CWY_RETRY;
  });
  return CWY_OK;
}

// The data arrives 40 calls of progress behind the message.
cwy_status long_before_data(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                            cwyc_mem*, size_t length, uint64_t raddr, cwyc_rkey* rkey,
                            uint32_t flags, cwyc_op* op) {
  static const std::vector<char> nothing(4u << 20);
  const auto* bytes = static_cast<const char*>(payload);
  g_later.add(40, [=, data = std::vector<char>(bytes, bytes + length)] {
    return g_ops->put(c, data.data(), nullptr, raddr, rkey, length, 0, nullptr) != CWY_RETRY;
  });
  return g_ops->am_long(c, word, args, n, nothing.data(), nullptr, length, raddr, rkey, flags, op);
}

// Sends what was reserved, and not what was committed.
void commit_reservation(cwyc_conn* c, cwyc_am_slot* slot, uint64_t word, Args args, uint32_t n,
                        size_t) {
  g_ops->am_commit(c, slot, word, args, n, slot->length);
}

// ---- receiving

// Payloads that the receiver may only read.
void read_only(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args, uint32_t n,
               void* payload, size_t length) {
  if (kind != CWYC_AM_MEDIUM || length == 0 || length > 4096)
    return deliver_on(core_ep, from, word, kind, args, n, payload, length);
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(page, payload, length);
  mprotect(page, 4096, PROT_READ);
  deliver_on(core_ep, from, word, kind, args, n, page, length);
  munmap(page, 4096);
}

// Payloads that begin where the arguments before them end.
void behind_the_arguments(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args,
                          uint32_t n, void* payload, size_t length) {
  if (kind != CWYC_AM_MEDIUM || length == 0)
    return deliver_on(core_ep, from, word, kind, args, n, payload, length);
  std::vector<uint64_t> frame(length / 8 + CWYC_AM_MAX_ARGS);
  char* const place = reinterpret_cast<char*>(frame.data()) + n * sizeof *args;
  std::memcpy(place, payload, length);
  deliver_on(core_ep, from, word, kind, args, n, place, length);
}

// The second half of a message has not come yet when it is delivered.
void half_a_message(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args,
                    uint32_t n, void* payload, size_t length) {
  if (length > 8 && tick() % 300 == 0)
    std::memset(static_cast<char*>(payload) + length / 2, 0, length - length / 2);
  deliver_on(core_ep, from, word, kind, args, n, payload, length);
}

// Payloads may be kept, where the next message is written all the same.
void* g_delivering = nullptr;
void remember(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args, uint32_t n,
              void* payload, size_t length) {
  g_delivering = payload;
  deliver_on(core_ep, from, word, kind, args, n, payload, length);
  g_delivering = nullptr;
}
cwy_status kept_and_reused(cwyc_ep*, void* payload, void** kept) {
  *kept = payload;
  return payload == g_delivering ? CWY_OK : CWY_ERR_UNSUPPORTED;
}

// The place that the receiver wants gets the first half of the payload.
void placed_in_part(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args,
                    uint32_t n, void* payload, size_t length) {
  cwyc_arrival arrival{CWY_HEAD(cwyc_arrival), from, word, args, n, 0, length};
  void* const to = kind == CWYC_AM_MEDIUM && length != 0 ? g_place(core_ep, &arrival) : nullptr;
  if (to != nullptr) std::memcpy(to, payload, length / 2);
  deliver_on(core_ep, from, word, kind, args, n, to != nullptr ? to : payload, length);
}

// The right place, behind a question too many, or for the wrong sender.
template <bool Twice>
void asked_wrongly(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args,
                   uint32_t n, void* payload, size_t length) {
  cwyc_arrival arrival{CWY_HEAD(cwyc_arrival), from, word, args, n, 0, length};
  if (!Twice) ++arrival.from.rank;
  void* to = nullptr;
  for (int asks = Twice ? 2 : 1; asks > 0 && kind == CWYC_AM_MEDIUM && length != 0; --asks)
    to = g_place(core_ep, &arrival);
  if (to != nullptr) std::memcpy(to, payload, length);
  deliver_on(core_ep, from, word, kind, args, n, to != nullptr ? to : payload, length);
}

uint32_t no_budget(cwyc_ep* ep, uint32_t, uint32_t lane) {
  return g_inner->progress(ep, 1'000'000, lane);
}

// One lock around everything, deliveries included, and no word about it.
std::recursive_mutex g_one_lock;
cwy_status short_locked(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  const std::lock_guard guard(g_one_lock);
  return g_ops->am_short(c, word, args, n, flags);
}
uint32_t progress_locked(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  const std::lock_guard guard(g_one_lock);
  return g_inner->progress(ep, budget, lane);
}

const Faults faults{
    {"cramped", [] { g_table.am_medium = cramped; }},
    {"aligned_loads", [] { g_table.am_medium = aligned_loads; }},
    {"source_kept", [] { use_later(), g_table.am_medium = source_kept; }},
    {"cut_medium", [] { g_table.am_medium = cut_medium; }},
    {"wrong_failure", [] { g_table.am_medium = wrong_failure; }},
    {"clamp_arguments", [] { g_table.am_short = clamp_arguments; }},
    {"retry_for_ever", [] { g_table.am_short = retry_for_ever; }},
    {"ok_when_full", [] { g_table.am_short = ok_when_full, g_module.progress = empty_queue; }},
    {"drop_replies", [] { g_table.am_short = drop_replies; }},
    {"one_queue", [] { g_table.am_short = one_queue, g_table.am_medium = one_queue_medium; }},
    {"locked_as_multi",
     [] { g_table.am_short = short_locked, g_module.progress = progress_locked; }},
    {"shared_slot", [] { g_table.am_short = shared_slot; }},
    {"close_overtakes", [] { use_later(), g_table.am_short = sent_by_progress; }},
    {"dropped_at_disconnect", [] { use_later(), g_table.am_short = sent_by_progress; }},
    {"long_before_data", [] { use_later(), g_table.am_long = long_before_data; }},
    {"commit_reservation", [] { g_table.am_commit = commit_reservation; }},
    {"read_only_payload", [] { take_deliveries(read_only); }},
    {"behind_the_arguments", [] { take_deliveries(behind_the_arguments); }},
    {"half_a_message", [] { take_deliveries(half_a_message); }},
    {"kept_and_reused",
     [] {
       take_deliveries(remember), g_module.am_retain = kept_and_reused;
       g_module.am_release = [](cwyc_ep*, void*) {};
     }},
    {"placed_in_part", [] { take_deliveries(placed_in_part); }},
    {"place_asked_twice", [] { take_deliveries(asked_wrongly<true>); }},
    {"place_of_another", [] { take_deliveries(asked_wrongly<false>); }},
    {"no_budget", [] { g_module.progress = no_budget; }},
};

}  // namespace
}  // namespace broken
