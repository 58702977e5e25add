// Collectives with wrong arguments. The guilty rank does wrong; the others call correctly.
#include <gasnet_coll.h>

#include <cstring>
#include <map>
#include <string>

#include "api_victim.h"

namespace victim {
namespace {

uint64_t source[8], result[8];

struct Call {
  gex_TM_t tm = job.tm;
  gex_Rank_t root = 0;
  void* dst = result;
  const void* src = source;
  gex_DT_t dt = GEX_DT_U64;
  size_t size = 8, count = 2;
  gex_OP_t op = GEX_OP_ADD;
  gex_Coll_ReduceFn_t fn = nullptr;
  gex_Flags_t flags = 0;
};

void broadcast(const Call& c) {
  gex_Event_Wait(gex_Coll_BroadcastNB(c.tm, c.root, c.dst, c.src, c.size * c.count, c.flags));
}
void to_one(const Call& c) {
  gex_Event_Wait(gex_Coll_ReduceToOneNB(c.tm, c.root, c.dst, c.src, c.dt, c.size, c.count, c.op,
                                        c.fn, nullptr, c.flags));
}
void to_all(const Call& c) {
  gex_Event_Wait(gex_Coll_ReduceToAllNB(c.tm, c.dst, c.src, c.dt, c.size, c.count, c.op, c.fn,
                                        nullptr, c.flags));
}

// Operators may not communicate.
void talkative(const void*, void*, size_t, const void*) {
  gex_RMA_PutBlockingVal(job.tm, job.peer(), peer_segment(job.peer()), 1, 8, 0);
}

struct Scenario {
  void (*call)(const Call&);
  void (*spoil)(Call&);
};

const std::map<std::string, Scenario>& scenarios() {
  static const std::map<std::string, Scenario> all = {
      {"broadcast_root", {broadcast, [](Call& c) { c.root = 2; }}},
      {"broadcast_flags", {broadcast, [](Call& c) { c.flags = 1u << 29; }}},
      {"broadcast_two_places",
       {broadcast, [](Call& c) { c.flags = GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND; }}},
      {"broadcast_not_bound", {broadcast, [](Call& c) { c.flags = GEX_FLAG_SELF_SEG_BOUND; }}},
      {"all_in_no_segment", {to_all, [](Call& c) { c.flags = GEX_FLAG_SELF_SEG_SOME; }}},
      {"broadcast_team", {broadcast, [](Call& c) { c.tm = GEX_TM_INVALID; }}},
      {"broadcast_pair", {broadcast, [](Call& c) { c.tm = gex_TM_Pair(job.ep, 0); }}},
      {"broadcast_no_dst", {broadcast, [](Call& c) { c.dst = nullptr; }}},
      {"one_root", {to_one, [](Call& c) { c.root = 7; }}},
      {"one_no_src", {to_one, [](Call& c) { c.src = nullptr; }}},
      {"all_type", {to_all, [](Call& c) { c.dt = GEX_DT_I32 | GEX_DT_U64; }}},
      {"all_size", {to_all, [](Call& c) { c.size = 4; }}},
      {"all_no_size",
       {to_all,
        [](Call& c) {
          c.dt = GEX_DT_USER;
          c.op = GEX_OP_USER;
          c.fn = talkative;
          c.size = 0;
        }}},
      {"all_no_count", {to_all, [](Call& c) { c.count = 0; }}},
      {"all_too_many", {to_all, [](Call& c) { c.count = SIZE_MAX / 4; }}},
      {"all_operation", {to_all, [](Call& c) { c.op = GEX_OP_SUB; }}},
      {"all_two_operations", {to_all, [](Call& c) { c.op = GEX_OP_ADD | GEX_OP_MIN; }}},
      {"all_bits_of_floats",
       {to_all,
        [](Call& c) {
          c.dt = GEX_DT_DBL;
          c.op = GEX_OP_XOR;
        }}},
      {"all_user_type", {to_all, [](Call& c) { c.dt = GEX_DT_USER; }}},
      {"all_no_operator", {to_all, [](Call& c) { c.op = GEX_OP_USER; }}},
      {"all_overlap", {to_all, [](Call& c) { c.src = result + 1; }}},
      {"all_flags", {to_all, [](Call& c) { c.flags = 1u << 30; }}},
      {"all_no_capability", {to_all, [](Call&) {}}},
      {"all_talkative",
       {to_all,
        [](Call& c) {
          c.op = GEX_OP_USER;
          c.fn = talkative;
        }}},
  };
  return all;
}

}  // namespace

bool misuse_coll(const char* scenario, bool guilty) {
  const auto found = scenarios().find(scenario);
  if (found == scenarios().end()) return false;
  Call call;
  // Teams may have members without the capability; their collectives are what is wrong.
  if (std::string(scenario) == "all_no_capability") {
    call.tm = team_lacking(GEX_EP_CAPABILITY_COLL, guilty);
  }
  if (guilty || std::string(scenario) == "all_talkative") found->second.spoil(call);
  if (call.fn == talkative && !guilty) {
    call.fn = [](const void*, void*, size_t, const void*) {};
  }
  found->second.call(call);
  barrier();  // the others wait for the guilty one
  return true;
}

}  // namespace victim
