// Regions: the services of causeway/collective.h for memory of one member that others reach.
#include "collective/team_runs.h"

#include <fmt/core.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/context.h"
#include "collective/arena.h"
#include "object/endpoint.h"
#include "object/publication.h"
#include "object/segment.h"
#include "object/team.h"
#include "rma/rma.h"

namespace causeway {
namespace {

// token: address at the owner, length, what memory it is, run it is valid for. Of memory in a
// segment the third word names that segment too (RemoteSegment): others may know an earlier one.
// process: what the kernel can copy to and from, and nobody maps.
enum class Memory : uint64_t { none, segment, arena, process };
constexpr unsigned kMemoryBits = 2;

Memory memory_of(const cwyl_region* region) {
  return static_cast<Memory>(region->token[2] & ((1u << kMemoryBits) - 1));
}
bool is_known(const cwyl_region* region, const Peer& peer) {
  return peer.segment.is(region->token[2] >> kMemoryBits);
}

bool within(uint64_t addr, uint64_t length, uint64_t base, uint64_t size) {
  return addr >= base && length <= size && addr - base <= size - length;
}

bool valid(const cwyl_region* region, cwyl_seq seq, uint64_t offset, uint64_t length) {
  return region->token[3] == seq && offset <= region->token[1] &&
         length <= region->token[1] - offset;
}

// A single call of the kernel's. Any thread's id names the memory of its process until that thread
// has ended; the first thread may have. ESRCH: all have.
ssize_t move_bytes(pid_t pid, const iovec& here, const iovec& there, bool is_put) {
  int failure = ESRCH;
  const auto with = [&](pid_t thread) {
    const ssize_t n = is_put ? ::process_vm_writev(thread, &here, 1, &there, 1, 0)
                             : ::process_vm_readv(thread, &here, 1, &there, 1, 0);
    failure = n < 0 ? errno : 0;
    return n;
  };
  ssize_t n = with(pid);
  std::error_code none;
  std::filesystem::directory_iterator thread;
  if (failure == ESRCH) thread = {fmt::format("/proc/{}/task", pid), none};
  for (; failure == ESRCH && thread != std::filesystem::end(thread); thread.increment(none))
    n = with(std::atoi(thread->path().filename().c_str()));
  errno = failure;
  return n;
}

// A copy by the kernel, complete on return. A copy of no bytes only asks whether the kernel copies,
// and has no `local`.
cwy_status cross_copy(TeamRuns& runs, Peer& peer, uint64_t addr, void* local, uint64_t length,
                      uint32_t* done, bool is_put) {
  uint32_t result = 1;
  if (peer.rank == context().rank()) {
    void* const at = reinterpret_cast<void*>(addr);
    if (length != 0) std::memmove(is_put ? at : local, is_put ? local : at, length);
  } else {
    const auto pid = static_cast<pid_t>(cross_memory_pid(peer));
    if (pid == 0) return CWY_ERR_UNSUPPORTED;
    for (uint64_t moved = 0; moved < length;) {
      const iovec here{static_cast<char*>(local) + moved, length - moved};
      const iovec there{reinterpret_cast<void*>(addr + moved), length - moved};
      const ssize_t n = move_bytes(pid, here, there, is_put);
      if (n < 0 && errno == ESRCH) {
        context().note_loss(peer.rank, peer.epoch.load(std::memory_order_relaxed),
                            "its process is gone");
        return CWY_ERR_PEER_FAILED;
      }
      if (n <= 0) {
        result = 2;  // no such memory, or the kernel refuses
        break;
      }
      moved += static_cast<uint64_t>(n);
    }
  }
  // Release: the data before the flag.
  std::atomic_ref<uint32_t>(*done).store(result, std::memory_order_release);
  runs.moved();
  return CWY_OK;
}

}  // namespace

cwy_status expose_region(TeamRuns& runs, cwyl_seq seq, void* addr, uint64_t length,
                         cwyl_region* out) {
  const auto at = reinterpret_cast<uint64_t>(addr);
  *out = {{at, length, static_cast<uint64_t>(Memory::none), seq}};
  const Segment* segment = runs.team().ep()->segment();
  if (segment != nullptr &&
      within(at, length, reinterpret_cast<uint64_t>(segment->addr()), segment->size())) {
    out->token[2] = segment->number() << kMemoryBits | static_cast<uint64_t>(Memory::segment);
    return CWY_OK;
  }
  char* const arena = own_arena();
  if (arena != nullptr && within(at, length, reinterpret_cast<uint64_t>(arena), arena_bytes())) {
    out->token[0] = at - reinterpret_cast<uint64_t>(arena);
    out->token[2] = static_cast<uint64_t>(Memory::arena);
    return CWY_OK;
  }
  // Below, two copies through the scratch take less time than the kernel's one.
  constexpr uint64_t kLeast = 32 << 10;
  if (length < kLeast || !cross_memory_wanted()) return CWY_ERR_UNSUPPORTED;
  out->token[2] = static_cast<uint64_t>(Memory::process);
  return CWY_OK;
}

void* direct_region(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                    uint64_t offset) {
  if (rank >= runs.info().size || !valid(region, seq, offset, 0)) return nullptr;
  Peer& peer = runs.team().member(rank);
  const uint64_t at = region->token[0] + offset;
  switch (memory_of(region)) {
    case Memory::segment: {
      if (rank == runs.info().rank) return reinterpret_cast<void*>(at);
      if (!shares_arena(peer.rank)) return nullptr;  // includes: direct access is not wanted
      if (!is_known(region, peer) || !is_mapped(peer)) return nullptr;
      return reinterpret_cast<void*>(at + static_cast<uint64_t>(peer.segment.delta));
    }
    case Memory::arena: {
      char* const arena = mapped_arena(peer);
      return arena != nullptr && at < arena_bytes() ? arena + at : nullptr;
    }
    default:
      return nullptr;
  }
}

static cwy_status transfer(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                           uint64_t offset, void* local, uint64_t length, uint32_t* done,
                           bool is_put) {
  if (rank >= runs.info().size || !valid(region, seq, offset, length)) return CWY_ERR_INVALID;
  if (void* mapped = direct_region(runs, seq, rank, region, offset)) {
    if (length != 0) std::memcpy(is_put ? mapped : local, is_put ? local : mapped, length);
    // Release: the data before the flag. A put is seen by its target through a later signal.
    std::atomic_ref<uint32_t>(*done).store(1, std::memory_order_release);
    runs.moved();
    return CWY_OK;
  }
  Peer& peer = runs.team().member(rank);
  if (memory_of(region) == Memory::process)
    return cross_copy(runs, peer, region->token[0] + offset, local, length, done, is_put);
  if (memory_of(region) != Memory::segment || !is_known(region, peer)) return CWY_ERR_UNSUPPORTED;
  if (length == 0) {  // asked for the answer alone
    std::atomic_ref<uint32_t>(*done).store(1, std::memory_order_relaxed);
    return CWY_OK;
  }
  const RmaCall call{"collective transfer",
                     is_put ? Operation::put : Operation::get,
                     runs.team().handle(),
                     rank,
                     local,
                     reinterpret_cast<void*>(region->token[0] + offset),
                     length,
                     GEX_FLAG_IMMEDIATE,
                     true};
  gex_Event_t event = rma_nb(call, GEX_EVENT_DEFER);
  if (event == GEX_EVENT_NO_OP) return CWY_RETRY;
  runs.moved();
  if (event == GEX_EVENT_INVALID)
    std::atomic_ref<uint32_t>(*done).store(1, std::memory_order_release);
  else
    runs.current().transfers.push_back({event, done});
  return CWY_OK;
}

cwy_status put_region(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                      uint64_t offset, const void* src, uint64_t length, uint32_t* done) {
  return transfer(runs, seq, rank, region, offset, const_cast<void*>(src), length, done, true);
}

cwy_status get_region(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                      uint64_t offset, void* dst, uint64_t length, uint32_t* done) {
  return transfer(runs, seq, rank, region, offset, dst, length, done, false);
}

cwy_status put_region_signal(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                             uint64_t offset, const void* src, uint64_t length, uint32_t signal,
                             uint32_t* done) {
  if (rank >= runs.info().size || !valid(region, seq, offset, length) ||
      length > runs.info().region_put_max)
    return CWY_ERR_INVALID;
  Peer& peer = runs.team().member(rank);
  if (length != 0 && memory_of(region) == Memory::segment &&
      direct_region(runs, seq, rank, region, offset) == nullptr) {
    if (!is_known(region, peer)) return CWY_ERR_UNSUPPORTED;
    return runs.put_far(rank, seq, region->token[0] + offset, src, length, signal, done);
  }
  // Copied here and now: the signal follows the data. A signal that is refused has the caller copy
  // once more, which is as good as it is rare.
  const cwy_status status = put_region(runs, seq, rank, region, offset, src, length, done);
  if (status != CWY_OK || std::atomic_ref<uint32_t>(*done).load(std::memory_order_relaxed) != 1)
    return status;
  return runs.put(seq, rank, nullptr, 0, 0, signal);
}

}  // namespace causeway
