// Remote atomics with wrong arguments. Every rank makes the domain; the guilty one does wrong.
#include <gasnet_ratomic.h>

#include <map>
#include <string>

#include "api_victim.h"

namespace victim {
namespace {

gex_AD_t ad;  // of GEX_DT_I64 for FADD, GET and SET
int64_t result;
// Not constants, so that the compiler's knowledge of the opcode does not decide who notices.
volatile gex_OP_t fadd = GEX_OP_FADD, swap_op = GEX_OP_SWAP, two_ops = GEX_OP_FADD | GEX_OP_GET;

std::byte* target() {
  return peer_segment(job.peer());
}
void op(gex_Rank_t rank, void* addr, gex_OP_t opcode, gex_Flags_t flags = 0) {
  gex_Event_Wait(gex_AD_OpNB_I64(ad, &result, rank, addr, opcode, 1, 0, flags));
}

const std::map<std::string, void (*)()>& operations() {
  static const std::map<std::string, void (*)()> calls = {
      {"type",
       [] {
         int32_t narrow;
         gex_AD_OpNBI_I32(ad, &narrow, job.peer(), target(), fadd, 1, 0, 0);
       }},
      {"constant_type",
       [] {
         uint64_t other;
         gex_AD_OpNB_U64(ad, &other, job.peer(), target(), GEX_OP_FADD, 1, 0, 0);
       }},
      {"operation", [] { op(job.peer(), target(), swap_op); }},
      {"constant_operation", [] { op(job.peer(), target(), GEX_OP_SWAP); }},
      {"two_operations", [] { op(job.peer(), target(), two_ops); }},
      {"misaligned", [] { op(job.peer(), target() + 4, fadd); }},
      {"misaligned_constant", [] { op(job.peer(), target() + 2, GEX_OP_FADD); }},
      {"outside", [] { op(job.peer(), target() + kSegmentBytes, fadd); }},
      {"before", [] { op(job.peer(), target() - 8, fadd); }},
      {"far_away", [] { op(job.peer(), target() + (size_t{1} << 40), GEX_OP_FADD); }},
      {"offset_outside",
       [] {
         op(job.peer(), reinterpret_cast<void*>(kSegmentBytes), fadd, GEX_FLAG_PEER_SEG_OFFSET);
       }},
      {"no_such_rank", [] { op(job.size, target(), fadd); }},
      {"no_such_jobrank", [] { op(job.size + 3, target(), fadd, GEX_FLAG_RANK_IS_JOBRANK); }},
      {"no_result",
       [] { gex_Event_Wait(gex_AD_OpNB_I64(ad, nullptr, job.peer(), target(), fadd, 1, 0, 0)); }},
      {"result_outside",
       [] {
         auto* const offset = reinterpret_cast<int64_t*>(kSegmentBytes);
         gex_Event_Wait(gex_AD_OpNB_I64(ad, offset, job.peer(), target(), fadd, 1, 0,
                                        GEX_FLAG_SELF_SEG_OFFSET));
       }},
      {"unknown_flag", [] { op(job.peer(), target(), fadd, 1u << 30); }},
      // Not among the flags of these calls: nobody could keep such an operation atomic.
      {"not_my_rank", [] { op(job.peer(), target(), fadd, GEX_FLAG_AD_MY_RANK); }},
      {"both_places",
       [] { op(job.rank, target(), fadd, GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD); }},
      {"under_lock",
       [] {
         static gex_HSL_t lock = GEX_HSL_INITIALIZER;
         std::byte* const at = target();
         gex_HSL_Lock(&lock);
         op(job.peer(), at, fadd);
       }},
      {"invalid",
       [] {
         uint64_t before = 0;
         gex_Event_Wait(
             gex_AD_OpNB_U64(GEX_AD_INVALID, &before, job.peer(), nullptr, fadd, 1, 0, 0));
       }},
      {"query_invalid", [] { gex_AD_QueryFlags(GEX_AD_INVALID); }},
  };
  return calls;
}

struct Definition {
  gex_DT_t dt = GEX_DT_I64;
  gex_OP_t ops = GEX_OP_FADD | GEX_OP_GET | GEX_OP_SET;
  gex_Flags_t flags = 0;
};
const std::map<std::string, Definition>& definitions() {
  static const std::map<std::string, Definition> wrong = {
      {"create.user_type", {GEX_DT_USER, GEX_OP_GET, 0}},
      {"create.two_types", {GEX_DT_I64 | GEX_DT_U64, GEX_OP_GET, 0}},
      {"create.no_operation", {GEX_DT_I64, 0, 0}},
      {"create.user_operation", {GEX_DT_I64, GEX_OP_USER, 0}},
      {"create.float_bits", {GEX_DT_FLT, GEX_OP_FAND | GEX_OP_ADD, 0}},
      {"create.unknown_flag", {GEX_DT_I64, GEX_OP_GET, 1u << 30}},
      {"create.two_hints",
       {GEX_DT_I64, GEX_OP_GET, GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_REMOTE}},
      {"create.other_type", {GEX_DT_U64, Definition().ops, 0}},
      {"create.other_operations", {GEX_DT_I64, GEX_OP_GET, 0}},
      {"create.other_flags", {GEX_DT_I64, Definition().ops, GEX_FLAG_AD_FAVOR_REMOTE}},
      {"create.no_capability", {}},
      {"create.right", {}},
  };
  return wrong;
}

}  // namespace

bool misuse_atomic(const char* scenario, bool guilty) {
  Definition definition;
  const auto wrong = definitions().find(scenario);
  if (guilty && wrong != definitions().end()) definition = wrong->second;
  const bool lacking = std::string(scenario) == "create.no_capability";
  gex_AD_Create(&ad, lacking ? team_lacking(GEX_EP_CAPABILITY_AD, guilty) : job.tm, definition.dt,
                definition.ops, definition.flags);
  const auto call = operations().find(scenario);
  if (guilty && call != operations().end()) call->second();
  if (wrong == definitions().end() && call == operations().end()) return false;
  barrier();
  return true;
}

}  // namespace victim
