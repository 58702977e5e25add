// Shared by the algorithms of this plugin.
#pragma once

#include <causeway/collective.h>

namespace hier {

// The call's arguments in one place.
struct Run {
  cwyl_team* team;
  const cwyl_team_services* s;
  cwyl_seq seq;
  const cwyl_args* args;
  const cwyl_team_info* info;

  uint64_t bytes() const { return args->element_bytes * args->count; }
  uint64_t signal(uint32_t which) const { return s->signal(team, seq, which); }
  uint8_t* scratch(uint64_t* length) const {
    return static_cast<uint8_t*>(s->scratch(team, seq, length));
  }
  // A source that is the destination already is not copied.
  void keep_own() const {
    if (args->dst != args->src) s->copy(team, seq, args->dst, args->src, bytes());
  }
};

// Calls put(member) for every other member, until one of them cannot take it yet. `next` (starts as
// 0) is where it goes on after CWY_INPROGRESS.
template <class Put>
cwy_status put_to_others(const Run& run, uint32_t* next, Put&& put) {
  const uint32_t size = run.info->size;
  // Each member begins behind itself, so that not all turn to the same one first.
  for (; *next + 1 < size; ++*next) {
    const cwy_status status = put((run.info->rank + 1 + *next) % size);
    if (status == CWY_RETRY) return CWY_INPROGRESS;
    if (status != CWY_OK) return status;
  }
  return CWY_OK;
}
// Raises `signal` there, with `length` bytes to `offset` of the member's scratch.
inline cwy_status tell_others(const Run& run, uint32_t* next, const void* src, uint64_t length,
                              uint64_t offset, uint32_t signal) {
  return put_to_others(run, next, [&](uint32_t to) {
    return run.s->put_signal(run.team, run.seq, to, src, length, offset, signal);
  });
}

// Some members of one neighborhood: their team ranks, and which of them this member is.
struct Group {
  const uint32_t* ranks;
  uint32_t size, own;
};

// Post `which` of every other member of the group, each copied to `place(index in the group)`.
// `next` (starts as 0) is where it goes on after CWY_INPROGRESS.
template <class Place>
cwy_status hear_group(const Run& run, const Group& group, uint32_t* next, uint32_t which,
                      uint64_t length, Place place) {
  for (; *next + 1 < group.size; ++*next) {
    const uint32_t i = (group.own + 1 + *next) % group.size;
    const cwy_status status =
        run.s->posted(run.team, run.seq, group.ranks[i], which, place(i), length);
    if (status != CWY_OK) return status;
  }
  return CWY_OK;
}
// The same of the neighborhood, to `place(rank)`.
template <class Place>
cwy_status hear_others(const Run& run, uint32_t* next, uint32_t which, uint64_t length,
                       Place place) {
  const uint32_t* const ranks = run.info->nbrhd_ranks;
  return hear_group(run, {ranks, run.info->nbrhd_size, run.info->nbrhd_rank}, next, which, length,
                    [&](uint32_t i) { return place(ranks[i]); });
}

// Combines the operands of `size` members, two at least: the last and the one before it first, then
// towards the first. So order is kept, and a client's operator, which leaves its result where the
// right operand was, needs no copy.
template <class OperandOf>
void combine(const Run& run, uint32_t size, uint64_t count, uint8_t* work, uint8_t* out,
             OperandOf operand) {
  const void* right = operand(size - 1);
  for (uint32_t left = size - 1; left-- != 0;) {
    uint8_t* to = left == 0 ? out : work;
    run.s->reduce_into(run.team, run.seq, operand(left), right, to, count);
    right = to;
  }
}

// Those of the whole team.
template <class OperandOf>
void combine_all(const Run& run, uint64_t count, uint8_t* work, uint8_t* out, OperandOf operand) {
  combine(run, run.info->size, count, work, out, operand);
}

// Bytes that every put_signal takes, whatever the conduits (put_max of cwyl_team_info).
constexpr uint64_t kPutAlways = 512;

// flat.cpp: everybody shows everybody; one step, for what is short.
constexpr uint32_t kFlatTeam = 16;
constexpr uint64_t kFlatBytes = kPutAlways;
constexpr uint64_t kPostAlways = 120;  // bytes that a post takes (post_max of cwyl_team_info)
struct Flat {
  uint32_t posted, next;
};
cwy_status flat_barrier(const Run& run, Flat* state);
cwy_status flat_broadcast(const Run& run, Flat* state);
cwy_status flat_reduce_all(const Run& run, Flat* state);

// shared_reduce.cpp: every member combines one stretch out of all members' memory.
constexpr uint32_t kSharedTeam = 40;
struct SharedReduce {
  uint32_t phase, next, piece;
  uint32_t whole;  // of `pieces`: everything, else the stretches of members that reached too little
  uint64_t done;   // elements of this member's stretch, then pieces
  uint8_t* work;   // what is combined so far
  // Where memory is not mapped: whether a chunk's operands have been asked for, and per member the
  // two transfers of a chunk, followed by the operands themselves.
  uint32_t fetches, stage;
  uint32_t* transfers;
};
cwy_status shared_reduce(const Run& run, SharedReduce* state);

// shared_broadcast.cpp: every member copies out of the root's memory, and the root helps.
struct SharedBroadcast {
  uint32_t phase, next;
  uint32_t staged;         // the root: somebody reads its scratch; a member: it needs pieces
  uint32_t needy;          // the root: members that do
  uint32_t reads;          // a member: it takes them out of the root's scratch
  uint32_t exposed;        // the root's source is a region
  uint32_t step, arrived;  // of a stretch that is copied
  uint32_t own;            // stretches that this member has copied
  uint32_t taken_back;     // of these, after the root had claimed them
  uint32_t laid;           // all lay in the root's scratch before it told anybody
  uint64_t piece;          // of those that go through a scratch
  uint64_t stretch, claimed;
  uint64_t probe;  // the first byte of the source
  void* claims;    // a member: where it claims stretches; `claimed` where the root takes no part
  cwyl_region region, scratch;  // the root's source and scratch
};
cwy_status shared_broadcast(const Run& run, SharedBroadcast* state);

}  // namespace hier
