#include "vis/checks.h"

#include <algorithm>
#include <vector>

#include "base/context.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "connection/peer.h"
#include "object/local.h"
#include "rma/rma_checks.h"

namespace causeway {
namespace {

// Lists longer than this are not searched for overlaps: the search sorts all runs.
constexpr size_t kMostRuns = size_t{1} << 20;

struct Range {
  uint64_t begin, end;
};

template <typename Body>
void for_each_run(const Side& side, Body&& body) {
  for (Cursor at(side); at.left() != 0; at.advance(at.left())) {
    const auto begin = reinterpret_cast<uint64_t>(at.addr());
    body(Range{begin, begin + at.left()});
  }
}

// Is it plain from the strides that no byte is named twice? Levels in order of their strides, each
// stride at least as long as what lies inside it.
bool nested_apart(const Side& side) {
  if (side.kind != Side::Kind::strided) return false;
  uint64_t inside = side.run_length;
  for (size_t i = 0; i < side.level_count; ++i) {
    const ptrdiff_t stride = side.levels[i].stride;
    if (stride < 0 || static_cast<uint64_t>(stride) < inside) return false;
    inside += static_cast<uint64_t>(stride) * (side.levels[i].count - 1);
  }
  return true;
}

std::vector<Range> sorted_runs(const Side& side) {
  std::vector<Range> runs;
  for_each_run(side, [&](Range r) { runs.push_back(r); });
  std::ranges::sort(runs, [](Range a, Range b) { return a.begin < b.begin; });
  return runs;
}

void require_apart(const VisCall& call, const std::vector<Range>& runs) {
  for (size_t i = 1; i < runs.size(); ++i) {
    const Range &a = runs[i - 1], &b = runs[i];
    if (b.begin >= a.end) continue;
    fatal(call.name,
          "to rank {}: destination pieces [{:#x}, {:#x}) and [{:#x}, {:#x}) overlap; every byte of "
          "the destination may be named once",
          call.rank, a.begin, a.end, b.begin, b.end);
  }
}

// `dst` sorted and apart.
void require_no_source(const VisCall& call, const std::vector<Range>& dst, const Side& src) {
  for_each_run(src, [&](Range r) {
    auto next = std::upper_bound(dst.begin(), dst.end(), r.begin,
                                 [](uint64_t at, Range d) { return at < d.end; });
    if (next == dst.end() || next->begin >= r.end) return;
    fatal(call.name,
          "source piece [{:#x}, {:#x}) overlaps destination piece [{:#x}, {:#x}) in this process",
          r.begin, r.end, next->begin, next->end);
  });
}

void require_array(const VisCall& call, const char* name, const void* array, size_t count) {
  if (array == nullptr && count != 0) fatal(call.name, "{} is NULL, with {} entries", name, count);
}

constexpr gex_Flags_t kKnownFlags =
    GEX_FLAG_IMMEDIATE | GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO | GEX_FLAG_PEER_NEVER_SELF |
    GEX_FLAG_PEER_NEVER_NBRHD | kSelfSegment | kPeerSegment | GEX_FLAG_ENABLE_LEAF_LC;

}  // namespace

void check_flags(const VisCall& call, bool blocking) {
  const bool has_leaf = !blocking && call.operation == Operation::put;
  const gex_Flags_t own = has_leaf ? kKnownFlags : kKnownFlags & ~GEX_FLAG_ENABLE_LEAF_LC;
  if (flags_of_call(call.name, call.flags, own) & ~own)
    fatal(call.name, "flags {:#x} hold bits that no call knows", call.flags);
}

void check_arrays(const VisCall& call, const VectorForm& form) {
  require_array(call, "dstlist", form.dstlist, form.dstcount);
  require_array(call, "srclist", form.srclist, form.srccount);
}
void check_arrays(const VisCall& call, const IndexedForm& form) {
  require_array(call, "dstlist", form.dstlist, form.dstcount);
  require_array(call, "srclist", form.srclist, form.srccount);
}
void check_arrays(const VisCall& call, const StridedForm& form) {
  if (form.elemsz == 0) return;
  require_array(call, "count", form.count, form.stridelevels);
  size_t total = form.elemsz;
  bool over = false;
  for (size_t i = 0; i < form.stridelevels; ++i) {
    // No transfer, and in the forms of GASNet-1 strides need not exist then.
    if (form.count[i] == 0) return;
    over |= __builtin_mul_overflow(total, form.count[i], &total);
  }
  require_array(call, "dststrides", form.dststrides, form.stridelevels);
  require_array(call, "srcstrides", form.srcstrides, form.stridelevels);
  if (over) {
    fatal(call.name, "elemsz {} times the {} counts is more than memory can hold", form.elemsz,
          form.stridelevels);
  }
}

void check_totals(const VisCall& call, const Side& dst, const Side& src) {
  size_t longest = 0;
  const size_t to = dst.total(&longest), from = src.total(&longest);
  if (to == from) return;
  fatal(call.name,
        "the destination's {} pieces have {} bytes and the source's {} pieces {}; both must be "
        "equal",
        dst.runs, to, src.runs, from);
}

void check_places(const VisCall& call, const Peer& peer, const Side& dst, const Side& src) {
  const bool put = call.operation == Operation::put;
  check_peer_flags(call.name, peer, call.flags, kKnownFlags);
  // Memory beyond the bound segment is for its owner to judge.
  if (!may_be_elsewhere(call.flags)) {
    for_each_run(put ? dst : src, [&](Range r) {
      require_remote_range(call.name, peer, reinterpret_cast<const void*>(r.begin),
                           r.end - r.begin);
    });
  }
  for_each_run(put ? src : dst, [&](Range r) {
    if (r.begin == 0) fatal(call.name, "a local piece of {} bytes is at NULL", r.end);
    require_local_range(call.name, *peer.ep, call.flags, reinterpret_cast<const void*>(r.begin),
                        r.end - r.begin);
  });
  const bool own = peer.rank == context().rank();
  if (dst.runs > kMostRuns || (nested_apart(dst) && !own)) return;
  const std::vector<Range> runs = sorted_runs(dst);
  require_apart(call, runs);
  if (own) require_no_source(call, runs, src);
}

}  // namespace causeway
