#include "gaspi_groups.h"

#include <GASPI.h>

#include <algorithm>
#include <vector>

#include "gaspi_calls.h"
#include "reduction.h"
#include "stamp.h"
#include "world.h"

namespace storm {
namespace {

constexpr gaspi_segment_id_t kRenewed = 41;

std::vector<uint8_t> choose_members(const Step& step, Random& common, bool some) {
  std::vector<uint8_t> members;
  for (gex_Rank_t r = 0; r < world().size; ++r)
    if (!some || r == step.index % world().size || common.chance(60))
      members.push_back(Actor{r, 0}.number());
  return members;
}

gaspi_group_t make_group(const Step& step, const std::vector<uint8_t>& members) {
  gaspi_group_t group = 0;
  good(step, "gaspi_group_create", gaspi_group_create(&group));
  for (const uint8_t member : members)
    good(step, "gaspi_group_add",
         gaspi_group_add(group, static_cast<gaspi_rank_t>(member / kThreads)));
  return group;
}

void reduce(const Step& step, gaspi_group_t group, const std::vector<uint8_t>& members,
            Random& common, Random& whim) {
  struct Type {
    gaspi_datatype_t gaspi;
    gex_DT_t gex;
    size_t bytes;
  };
  const Type type = common.one_of<Type>({{GASPI_TYPE_INT, GEX_DT_I32, 4},
                                         {GASPI_TYPE_UINT, GEX_DT_U32, 4},
                                         {GASPI_TYPE_FLOAT, GEX_DT_FLT, 4},
                                         {GASPI_TYPE_DOUBLE, GEX_DT_DBL, 8},
                                         {GASPI_TYPE_LONG, GEX_DT_I64, 8},
                                         {GASPI_TYPE_ULONG, GEX_DT_U64, 8}});
  struct Op {
    gaspi_operation_t gaspi;
    gex_OP_t gex;
  };
  const Op op = common.one_of<Op>(
      {{GASPI_OP_MIN, GEX_OP_MIN}, {GASPI_OP_MAX, GEX_OP_MAX}, {GASPI_OP_SUM, GEX_OP_ADD}});
  const Reduction r{type.gex, op.gex, type.bytes, common.within(1, 255)};
  const Stamp stamp = stamp_of(step, {world().rank, 0}, 8);
  std::vector<std::byte> own(r.bytes()), result(r.bytes(), std::byte{kFresh});
  r.fill(own.data(), stamp);
  in_portions(step, "gaspi_allreduce", whim, [&](gaspi_timeout_t timeout) {
    return gaspi_allreduce(own.data(), result.data(), static_cast<gaspi_number_t>(r.count),
                           op.gaspi, type.gaspi, group, timeout);
  });
  if (result != r.combine(stamp, members))
    fail(step, "gaspi_allreduce of %zu elements of type %d by operation %d among %zu is wrong",
         r.count, static_cast<int>(type.gaspi), static_cast<int>(op.gaspi), members.size());
}

void meet(const Step& step, gaspi_group_t group, Random& whim) {
  in_portions(step, "gaspi_barrier", whim,
              [&](gaspi_timeout_t timeout) { return gaspi_barrier(group, timeout); });
}

// A segment of another size than the last one of its id, which a member may have begun and given up
// a moment ago: all members have to know the new one.
void renew_segment(const Step& step, gaspi_group_t group, const std::vector<uint8_t>& members,
                   Random& common, Random& whim) {
  const gaspi_size_t size = common.within(1, 4096);
  in_portions(step, "gaspi_segment_create", whim, [&](gaspi_timeout_t timeout) {
    return gaspi_segment_create(kRenewed, size, group, timeout, GASPI_MEM_UNINITIALIZED);
  });
  for (const uint8_t member : members) {
    gaspi_size_t known = 0;
    good(step, "gaspi_segment_size",
         gaspi_segment_size(kRenewed, static_cast<gaspi_rank_t>(member / kThreads), &known));
    if (known != size)
      fail(step, "a segment of rank %d has %lu bytes as is known here, but %lu were asked for",
           member / static_cast<int>(kThreads), known, size);
  }
  meet(step, group, whim);
  good(step, "gaspi_segment_delete", gaspi_segment_delete(kRenewed));
}

// Several groups of the same members are committed beside each other, and must not be confused.
void in_groups(const Step& step, const std::vector<uint8_t>& members, Random& common,
               Random& whim) {
  std::vector<gaspi_group_t> groups(common.chance(40) ? 3 : 1);
  for (gaspi_group_t& group : groups) group = make_group(step, members);
  if (std::count(members.begin(), members.end(), Actor{world().rank, 0}.number()) != 0) {
    for (const gaspi_group_t group : groups)
      in_portions(step, "gaspi_group_commit", whim,
                  [&](gaspi_timeout_t timeout) { return gaspi_group_commit(group, timeout); });
    std::reverse(groups.begin(), groups.end());
    for (const gaspi_group_t group : groups) reduce(step, group, members, common, whim);
    if (common.chance(50)) renew_segment(step, groups.front(), members, common, whim);
    meet(step, groups.back(), whim);
  }
  for (const gaspi_group_t group : groups)
    good(step, "gaspi_group_delete", gaspi_group_delete(group));
}

}  // namespace

void gaspi_together(const Step& step, Random& whim) {
  Random common = step.common();
  if (!common.chance(25)) return;
  stand_at(step, "takes part in a collective of GASPI's");
  const bool some = common.chance(40);
  const std::vector<uint8_t> members = choose_members(step, common, some);
  if (some) return in_groups(step, members, common, whim);
  if (common.chance(60)) reduce(step, GASPI_GROUP_ALL, members, common, whim);
  if (common.chance(30)) renew_segment(step, GASPI_GROUP_ALL, members, common, whim);
  meet(step, GASPI_GROUP_ALL, whim);
}

}  // namespace storm
