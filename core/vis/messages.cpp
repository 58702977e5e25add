#include "vis/messages.h"

#include <algorithm>

#include "am/arguments.h"
#include "am/limits.h"
#include "am/peer_memory.h"
#include "base/fatal.h"
#include "kinds/places.h"
#include "object/endpoint.h"
#include "object/segment.h"
#include "rma/unanswered.h"
#include "thread/thread_buffer.h"
#include "thread/tsan_annotations.h"
#include "vis/copy.h"
#include "vis/peer_completion.h"
#include "vis/run_list.h"
#include "vis/transfer.h"

namespace causeway {
namespace {

[[noreturn]] __attribute__((cold)) void damaged(const char* call, const Peer& from) {
  fatal(call,
        "rank {} sent a list of pieces that does not fit its data; are the ranks of this job "
        "running one version of the library?",
        from.rank);
}

// May the group be copied as one: does it lie in this rank's segments of host memory, with what is
// between its runs? 128 bits hold any span.
bool in_segments(const Peer& from, const RunGroup& group) {
  const __int128 first = group.addr;
  const __int128 last = first + static_cast<__int128>(group.stride) * (group.count - 1);
  const __int128 low = std::min(first, last);
  const __int128 bytes = std::max(first, last) - low + group.length;
  if (low < 0 || bytes > INT64_MAX) return false;
  const auto addr = static_cast<uint64_t>(low), length = static_cast<uint64_t>(bytes);
  const Segment* bound = from.ep->segment();  // nearly always, and asked without a lock
  // Device memory is copied run by run.
  if (__builtin_expect(device_ranges.load(std::memory_order_relaxed) != 0, 0)) return false;
  return (bound != nullptr && bound->contains(addr, length)) || in_any_segment(addr, length);
}

// Runs at equal distances with foreign memory between them are still right where each lies in
// segments, or in none if that was allowed; else the first wrong one ends the job.
void store_runs(const char* call, const Peer& from, const RunGroup& group, const char* data,
                bool anywhere) {
  for (uint32_t i = 0; i < group.count; ++i) {
    store_for_peer(from, group.addr + i * static_cast<uint64_t>(group.stride),
                   data + size_t{i} * group.length, group.length, anywhere, call);
  }
}
void load_runs(const char* call, const Peer& from, const RunGroup& group, char* data,
               bool anywhere) {
  for (uint32_t i = 0; i < group.count; ++i) {
    load_for_peer(from, group.addr + i * static_cast<uint64_t>(group.stride),
                  data + size_t{i} * group.length, group.length, anywhere, call);
  }
}

// Calls body(group, where its data lies, bytes) for each group of the list; the data must be
// exactly `bytes` long.
template <typename Body>
void for_each_group(const char* call, const Peer& from, RunReader reader, size_t bytes,
                    Body&& body) {
  const AnnotatePeerAccess access;
  RunGroup group;
  size_t at = 0;
  while (reader.next(group)) {
    const uint64_t total = static_cast<uint64_t>(group.length) * group.count;
    if (total > bytes - at) damaged(call, from);
    body(group, at);
    at += total;
  }
  if (!reader.ok() || at != bytes) damaged(call, from);
}

}  // namespace

void on_vis_put(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length) {
  constexpr const char* kCall = "gex_VIS_*Put*()";
  char* const data = static_cast<char*>(payload);
  const auto bytes = static_cast<uint32_t>(args[2]);
  const auto notice = static_cast<uint32_t>(args[3]);
  const uint32_t handler = notice & 0xFF, notice_bytes = notice >> 8;
  if (bytes > length || notice_bytes > std::min(length - bytes, kMaxPeerCompletion))
    damaged(kCall, from);
  char* const extra = data + bytes;
  const RunReader list(extra + notice_bytes, data + length);
  const bool anywhere = nargs == 5;
  for_each_group(kCall, from, list, bytes, [&](const RunGroup& group, size_t at) {
    if (__builtin_expect(!in_segments(from, group), 0))
      return store_runs(kCall, from, group, data + at, anywhere);
    copy_rows(reinterpret_cast<char*>(group.addr), group.stride, data + at, group.length,
              group.count, group.length);
  });
  reply_internal(from, Internal::vis_put_done, handler_args(args[0], args[1]));
  if (handler != 0) run_peer_completion(from, handler, extra, notice_bytes);
}

void on_vis_put_done(Peer& from, const int32_t* args, unsigned, void*, size_t) {
  note_answer(from.rank);
  vis_put_done(join_halves(args[0], args[1]));
}

void on_vis_get(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length) {
  constexpr const char* kCall = "gex_VIS_*Get*()";
  // Not the sender's packing buffer: a message to oneself arrives while that one is in use.
  static thread_local ThreadBuffer buffer;
  const auto bytes = static_cast<uint32_t>(args[2]);
  if (bytes > limits_of(from).medium) damaged(kCall, from);
  char* const data = buffer.of(bytes);
  const bool anywhere = nargs == 4;
  const char* const list = static_cast<const char*>(payload);
  for_each_group(kCall, from, RunReader(list, list + length), bytes,
                 [&](const RunGroup& group, size_t at) {
                   if (__builtin_expect(!in_segments(from, group), 0))
                     return load_runs(kCall, from, group, data + at, anywhere);
                   copy_rows(data + at, group.length, reinterpret_cast<const char*>(group.addr),
                             group.stride, group.count, group.length);
                 });
  reply_internal(from, Internal::vis_got, handler_args(args[0], args[1]), data, bytes);
}

void on_vis_got(Peer& from, const int32_t* args, unsigned, void* payload, size_t length) {
  note_answer(from.rank);
  if (!vis_got(join_halves(args[0], args[1]), static_cast<const char*>(payload), length))
    damaged("gex_VIS_*Get*()", from);
}

void on_vis_notify(Peer& from, const int32_t* args, unsigned, void* payload, size_t length) {
  if (length > kMaxPeerCompletion) damaged("gex_VIS_*Put*()", from);
  run_peer_completion(from, static_cast<uint32_t>(args[0]) & 0xFF, payload, length);
}

}  // namespace causeway
