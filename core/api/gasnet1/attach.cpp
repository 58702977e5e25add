// gasnet_attach: GASNet-1 2.1.2.
#include <gasnet.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <memory>
#include <vector>

#include "am/held.h"
#include "am/send.h"
#include "api/export.h"
#include "api/gasnet1/legacy.h"
#include "api/refuse.h"
#include "collective/exchange.h"
#include "object/client.h"
#include "object/segment.h"
#include "process/binding.h"
#include "process/runtime.h"

namespace causeway {
namespace {

constexpr const char* kCall = "gasnet_attach()";

// ---- segments that begin at the same address on every node ----

// Places that programs leave alone: well above heap and executable, below libraries and stacks.
// Some tools that instrument programs claim the middle of the address space, hence the last two.
constexpr std::array<uint64_t, 10> kPlaces = {
    0x100000000000, 0x180000000000, 0x200000000000, 0x280000000000, 0x300000000000,
    0x380000000000, 0x400000000000, 0x500000000000, 0x7e8800000000, 0x7e9000000000};
using Free = std::bitset<kPlaces.size()>;

bool is_free(uint64_t place, size_t size) {
  void* wish = reinterpret_cast<void*>(place);
  void* got = ::mmap(wish, size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return false;
  ::munmap(got, size);
  return got == wish;
}

// Collective. An address where `size` bytes are free in this process and the sizes of the others
// are in theirs; NULL where there is none. The same answer everywhere.
void* common_free_address(Team& team, size_t size) {
  Free own;
  for (size_t i = 0; i < kPlaces.size(); ++i) own[i] = size == 0 || is_free(kPlaces[i], size);
  Free common;
  common.set();
  for (const std::string& word : causeway::exchange(team, own.to_string(), "gasnet_attach()"))
    common &= Free(word);
  for (size_t i = 0; i < kPlaces.size(); ++i)
    if (common[i]) return reinterpret_cast<void*>(kPlaces[i]);
  return nullptr;
}

// Do all members' segments begin at one address? Members without a segment do not count. After the
// segments were published; the same answer everywhere.
bool segments_aligned(const Team& team) {
  uint64_t base = 0;
  for (const TeamMember& member : team.members()) {
    const auto segment = team.client()->publications().published(member.index(), member.rank());
    if (!segment) continue;
    if (base == 0) base = segment->base;
    if (segment->base != base) return false;
  }
  return true;
}

// ---- the call ----

// The arguments of a node's call, as far as other nodes may have to hear that they are wrong.
struct Attachment {
  gasnet_handlerentry_t* table;
  int numentries;
  uintptr_t segsize;
  bool aligned;
  std::vector<gex_AM_Entry_t> handlers;

  std::string defect() const {
    if (numentries < 0) return fmt::format("numentries is {}", numentries);
    if (numentries > 0 && table == nullptr) return "table is NULL and numentries is not 0";
    if (segsize % GASNET_PAGESIZE != 0 && !runtime().everything()) {
      return fmt::format("segsize {} is not a multiple of GASNET_PAGESIZE ({})", segsize,
                         GASNET_PAGESIZE);
    }
    return {};
  }

  // Assigns the don't-care indices against an empty table: nothing else can be registered yet.
  std::string draft() {
    for (int i = 0; i < numentries; ++i)
      handlers.push_back(untyped_entry(table[i].index, table[i].fnptr));
    return std::make_unique<HandlerTable>()->register_untyped(handlers.data(), handlers.size());
  }

  void enter(HandlerTable& real) {
    real.register_untyped(handlers.data(), handlers.size());  // as in draft()
    for (int i = 0; i < numentries; ++i)
      table[i].index = handlers[static_cast<size_t>(i)].gex_index;
  }
};

Segment* allocate(Team& team, uintptr_t segsize, void* wish) {
  if (segsize == 0 || runtime().everything()) return nullptr;
  return Segment::allocate(team.client(), std::min<size_t>(segsize, max_segment_size()), wish);
}

// Throws Error, on every node when one fails. `own_fault`: this node's arguments were the reason.
void attach(Team& team, Attachment& a, bool& own_fault) {
  std::unique_ptr<Segment> segment;
  a.aligned &= !runtime().everything();  // address 0 on all nodes as it is
  void* const wish =
      a.aligned ? common_free_address(team, std::min<size_t>(a.segsize, max_segment_size()))
                : nullptr;
  try {
    publish_segments("gasnet_attach()", team, [&]() -> std::vector<Endpoint*> {
      std::string wrong = a.defect();
      if (wrong.empty()) wrong = a.draft();
      own_fault = !wrong.empty();
      if (own_fault) throw Error(CWY_ERR_INVALID, "{}", wrong);
      segment.reset(allocate(team, a.segsize, wish));
      if (segment == nullptr) return {};
      segment->set_lasting();
      team.client()->bind(*team.ep(), segment.get());
      return {team.ep()};
    });
  } catch (const Error&) {
    if (segment != nullptr) team.client()->bind(*team.ep(), nullptr);
    throw;
  }
  static_cast<void>(segment.release());  // bound for good
  if (a.aligned && !segments_aligned(team)) {
    throw Error(
        CWY_ERR_NOMEM,
        "the nodes' address spaces have no common place for aligned segments; ask for less, "
        "or compile without GASNET_ALIGNED_SEGMENTS");
  }
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API int cwy_gasnet1_attach_v1(gasnet_handlerentry_t* table, int numentries,
                                       uintptr_t segsize, uintptr_t /*minheapoffset*/,
                                       int aligned) {
  if (gasnet1_stage() == Gasnet1Stage::none)
    return refuse(kCall, GASNET_ERR_NOT_INIT, "called before gasnet_init()");
  require_client_context(kCall, thread_state());
  if (gasnet1_stage() == Gasnet1Stage::attached)
    return refuse(kCall, GASNET_ERR_RESOURCE, "called twice, or after gex_Client_Init()");
  Client& client = *gasnet1_client();
  Attachment a{table, numentries, segsize, aligned != 0, {}};
  bool own_fault = false;
  begin_holding();
  try {
    attach(*client.team(), a, own_fault);
    a.enter(client.endpoint()->handlers());
    set_gasnet1_stage(Gasnet1Stage::attached);
    end_holding();
    return GASNET_OK;
  } catch (const Error& e) {
    return refuse(kCall, own_fault ? GASNET_ERR_BAD_ARG : GASNET_ERR_RESOURCE, e.text());
  } catch (const std::exception& e) {
    return refuse(kCall, GASNET_ERR_RESOURCE, e.what());
  }
}
