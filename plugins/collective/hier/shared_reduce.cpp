// Reductions through shared memory: member r combines the r-th stretch of the elements, reading
// all members' sources and writing all members' results where they are. Every byte is read once
// and written once. What cannot be reached so goes through scratch in pieces: operands to the
// member that combines them, results back.
//
// Phases: tell the others where one's buffers are; work; tell that it is done. A member ends when
// all have said so: nobody reads its source any more, and its result is complete. Two things lead
// to pieces, and all members see both alike: an owner says that its buffers are no region, then
// everything goes in pieces; or a member says in the end that it could not reach somebody's, then
// its stretch does, which nobody has touched.
//
// Why buffers and frames may be used again when a run has ended: others read sources and write
// results only before they say that they are done, which all await. Nobody reads another's scratch.
// Pieces use its slots in two turns. A member puts operands of a piece only when it has the results
// of the piece before from all, and a member gives these only when it has taken what it got two
// pieces before; results follow operands that all have put. So no slot is filled while it is read,
// and no signal of a piece can be taken for one two pieces earlier. Every signal is awaited: where
// there are no posts, both words of all others; of each piece, operands and results of all.
#include "hier.h"

namespace hier {
namespace {

enum Phase : uint32_t { kTell, kHear, kWork, kFinish, kAwait, kPieces };
// Signals, and posts of the first two.
enum : uint32_t { kAddresses = 0, kVerdicts = 1, kOperands = 3, kResults = 5 };

// So much of a stretch is combined before it is copied to the others: with two operands it stays in
// the nearest cache. Of stretches that come from memory, more: a longer way in one direction is
// what processors fetch ahead best.
constexpr uint64_t kChunk = 8 << 10, kLongChunk = 32 << 10;
constexpr uint64_t kLong = 1 << 20;
constexpr uint64_t kPerStep = 256 << 10;

struct Address {
  cwyl_region src, dst;
  uint64_t good;  // both can be reached, as far as their owner knows
};

// The scratch begins with what the others told: addresses, then verdicts.
uint64_t verdict_offset(uint32_t size) {
  return (size * sizeof(Address) + 63) / 64 * 64;
}

struct Stretch {
  uint64_t from, count;  // elements
};
Stretch stretch_of(uint64_t count, uint32_t parts, uint32_t which) {
  const uint64_t each = count / parts, more = count % parts;
  return {each * which + (which < more ? which : more), each + (which < more ? 1 : 0)};
}

bool has_result(const Run& run, uint32_t rank) {
  return run.args->operation == CWYL_REDUCE_ALL || rank == run.args->root;
}

// What every member says to every other, `length` bytes that end up by rank at `place` of
// everybody's scratch: by a post, one line for all, or, where there are none, by puts.
cwy_status say(const Run& run, SharedReduce* state, uint32_t which, const void* src,
               uint64_t length, uint64_t place) {
  if (run.info->posts == 0)
    return tell_others(run, &state->next, src, length, place + run.info->rank * length, which);
  const cwy_status status = run.s->post(run.team, run.seq, which, src, length);
  return status == CWY_RETRY ? CWY_INPROGRESS : status;
}
cwy_status hear(const Run& run, SharedReduce* state, uint32_t which, uint64_t length,
                uint64_t place) {
  if (run.info->posts == 0)
    return run.signal(which) + 1 == run.info->size ? CWY_OK : CWY_INPROGRESS;
  uint64_t room;
  uint8_t* const scratch = run.scratch(&room);
  return hear_others(run, &state->next, which, length,
                     [&](uint32_t of) { return scratch + place + of * length; });
}

cwy_status tell_addresses(const Run& run, SharedReduce* state) {
  uint64_t room;
  auto* own = reinterpret_cast<Address*>(run.scratch(&room)) + run.info->rank;
  Address a{};
  a.good = run.s->expose(run.team, run.seq, const_cast<void*>(run.args->src), run.bytes(),
                         &a.src) == CWY_OK;
  if (has_result(run, run.info->rank))
    a.good &= run.s->expose(run.team, run.seq, run.args->dst, run.bytes(), &a.dst) == CWY_OK;
  *own = a;
  return say(run, state, kAddresses, own, sizeof *own, 0);
}

const Address& address_of(const Run& run, uint32_t rank) {
  uint64_t room;
  return reinterpret_cast<const Address*>(run.scratch(&room))[rank];
}

uint8_t* source_at(const Run& run, uint32_t rank, uint64_t offset) {
  if (rank == run.info->rank)
    return static_cast<uint8_t*>(const_cast<void*>(run.args->src)) + offset;
  return static_cast<uint8_t*>(
      run.s->direct(run.team, run.seq, rank, &address_of(run, rank).src, offset));
}
uint8_t* result_at(const Run& run, uint32_t rank, uint64_t offset) {
  if (rank == run.info->rank) return static_cast<uint8_t*>(run.args->dst) + offset;
  return static_cast<uint8_t*>(
      run.s->direct(run.team, run.seq, rank, &address_of(run, rank).dst, offset));
}

bool all_are_regions(const Run& run) {
  for (uint32_t r = 0; r < run.info->size; ++r)
    if (address_of(run, r).good == 0) return false;
  return true;
}

bool transfers(const Run& run, uint32_t rank, bool result, uint64_t offset, uint8_t* local,
               uint64_t bytes, uint32_t* done, cwy_status* status) {
  const Address& a = address_of(run, rank);
  *done = 0;
  *status = result ? run.s->put_region(run.team, run.seq, rank, &a.dst, offset, local, bytes, done)
                   : run.s->get_region(run.team, run.seq, rank, &a.src, offset, local, bytes, done);
  return *status == CWY_OK;
}

// By loads and stores, or else by transfers, which state->fetches then says. One of no bytes tells
// whether that can be, and is complete at once.
bool reaches_all(const Run& run, SharedReduce* state) {
  uint32_t done = 0;
  cwy_status status;
  for (uint32_t r = 0; r < run.info->size; ++r) {
    if (source_at(run, r, 0) == nullptr) {
      if (!transfers(run, r, false, 0, nullptr, 0, &done, &status)) return false;
      state->fetches = 1;
    }
    if (has_result(run, r) && result_at(run, r, 0) == nullptr) {
      if (!transfers(run, r, true, 0, nullptr, 0, &done, &status)) return false;
      state->fetches = 1;
    }
  }
  return true;
}

bool is_long(const Run& run, const Stretch& mine) {
  return mine.count * run.args->element_bytes >= kLong;
}

// By rank, 1: that member's stretch is done.
uint8_t* verdicts(const Run& run) {
  uint64_t room;
  return run.scratch(&room) + verdict_offset(run.info->size);
}

// One chunk of this member's stretch. Of what is long no result is written where it belongs before
// it is complete: its copy to this member is one like those to the others, which the core makes
// past the caches when they are too small for all results.
void work_on(const Run& run, SharedReduce* state, const Stretch& mine, uint64_t count) {
  const uint64_t element = run.args->element_bytes;
  const uint64_t offset = (mine.from + state->done) * element, bytes = count * element;
  const bool at_once = has_result(run, run.info->rank) && !is_long(run, mine);
  uint8_t* const out = at_once ? result_at(run, run.info->rank, offset) : state->work;
  combine_all(run, count, state->work, out,
              [&](uint32_t of) -> const void* { return source_at(run, of, offset); });
  for (uint32_t i = at_once ? 1 : 0; i < run.info->size; ++i) {
    const uint32_t to = (run.info->rank + i) % run.info->size;
    if (has_result(run, to)) run.s->copy(run.team, run.seq, result_at(run, to, offset), out, bytes);
  }
  state->done += count;
}

cwy_status work(const Run& run, SharedReduce* state) {
  const Stretch mine = stretch_of(run.args->count, run.info->size, run.info->rank);
  const uint64_t element = run.args->element_bytes;
  const uint64_t chunk = is_long(run, mine) ? kLongChunk : kChunk;
  const uint64_t at_once = element < chunk ? chunk / element : 1;
  if (state->work == nullptr) {
    state->work = static_cast<uint8_t*>(run.s->memory(run.team, run.seq, at_once * element));
    if (state->work == nullptr) return CWY_ERR_NOMEM;
  }
  for (uint64_t bytes = 0; state->done < mine.count; bytes += at_once * element) {
    if (bytes >= kPerStep) return CWY_INPROGRESS;  // others are due too
    const uint64_t left = mine.count - state->done;
    work_on(run, state, mine, left < at_once ? left : at_once);
  }
  return CWY_OK;
}

// ---- where memory is not mapped, but transfers reach it ----

constexpr uint64_t kFetchChunk = 64 << 10;

// The state that work_by_transfers() keeps in one piece of memory: the flags of a chunk's gets and
// puts, by rank, the operands by rank, and what is combined so far.
struct Fetched {
  uint32_t *gets, *puts;
  uint8_t* operands;
  uint64_t bytes;  // of each operand
  uint8_t* operand(uint32_t rank) const { return operands + rank * bytes; }
};
Fetched fetched(const Run& run, SharedReduce* state, uint64_t chunk) {
  const uint64_t flags = (uint64_t{8} * run.info->size + 63) / 64 * 64;
  const uint64_t bytes = (chunk + 63) / 64 * 64;
  if (state->transfers == nullptr) {
    state->transfers = static_cast<uint32_t*>(
        run.s->memory(run.team, run.seq, flags + (run.info->size + 1) * bytes));
  }
  uint8_t* const all = reinterpret_cast<uint8_t*>(state->transfers);
  return {state->transfers, state->transfers + run.info->size, all + flags, bytes};
}

// OK: all of these have completed.
cwy_status arrived(const uint32_t* flags, uint32_t count) {
  for (uint32_t r = 0; r < count; ++r) {
    const uint32_t flag = __atomic_load_n(&flags[r], __ATOMIC_ACQUIRE);
    if (flag == 0) return CWY_INPROGRESS;
    if (flag != 1) return CWY_ERR_INVALID;
  }
  return CWY_OK;
}

// One chunk: the operands that are not mapped are fetched, all are combined, and what cannot be
// stored is put.
cwy_status transfer_chunk(const Run& run, SharedReduce* state, const Fetched& f,
                          const Stretch& mine, uint64_t count) {
  const uint32_t size = run.info->size, rank = run.info->rank;
  const uint64_t offset = (mine.from + state->done) * run.args->element_bytes;
  const uint64_t bytes = count * run.args->element_bytes;
  const bool keeps = has_result(run, rank);
  uint8_t* const work = f.operand(size);
  uint8_t* const out = keeps ? result_at(run, rank, offset) : work;
  cwy_status status = CWY_OK;
  if (state->stage == 0) {
    for (; state->next < size; ++state->next) {
      const uint32_t r = state->next;
      f.gets[r] = 1;
      if (source_at(run, r, offset) != nullptr) continue;
      if (!transfers(run, r, false, offset, f.operand(r), bytes, &f.gets[r], &status))
        return status == CWY_RETRY ? CWY_INPROGRESS : status;
    }
    state->next = 0;
    state->stage = 1;
  }
  if (state->stage == 1) {
    status = arrived(f.gets, size);
    if (status != CWY_OK) return status;
    combine_all(run, count, work, out, [&](uint32_t of) -> const void* {
      const uint8_t* const mapped = source_at(run, of, offset);
      return mapped != nullptr ? mapped : f.operand(of);
    });
    state->stage = 2;
  }
  if (state->stage == 2) {
    for (; state->next < size; ++state->next) {
      const uint32_t r = state->next;
      f.puts[r] = 1;
      if (r == rank || !has_result(run, r)) continue;
      if (uint8_t* const mapped = result_at(run, r, offset))
        run.s->copy(run.team, run.seq, mapped, out, bytes);
      else if (!transfers(run, r, true, offset, out, bytes, &f.puts[r], &status))
        return status == CWY_RETRY ? CWY_INPROGRESS : status;
    }
    state->next = 0;
    state->stage = 3;
  }
  status = arrived(f.puts, size);
  if (status == CWY_OK) state->stage = 0;
  return status;
}

cwy_status work_by_transfers(const Run& run, SharedReduce* state) {
  const Stretch mine = stretch_of(run.args->count, run.info->size, run.info->rank);
  const uint64_t element = run.args->element_bytes;
  const uint64_t at_once = element < kFetchChunk ? kFetchChunk / element : 1;
  const Fetched f = fetched(run, state, at_once * element);
  if (state->transfers == nullptr) return CWY_ERR_NOMEM;
  for (uint64_t bytes = 0; state->done < mine.count; bytes += at_once * element) {
    if (bytes >= kPerStep) return CWY_INPROGRESS;  // others are due too
    const uint64_t left = mine.count - state->done, count = left < at_once ? left : at_once;
    const cwy_status status = transfer_chunk(run, state, f, mine, count);
    if (status != CWY_OK) return status;
    state->done += count;
  }
  return CWY_OK;
}

// ---- without direct access ----

// The scratch behind addresses and verdicts: a slot per member for operands, one for results,
// twice, for pieces take turns: a member may be a piece ahead of another, never two.
struct Slots {
  uint64_t begin, slot, at_once;  // at_once: elements a member combines in one piece
  uint64_t operand(uint32_t turn, uint32_t of, uint32_t size) const {
    return begin + (2 * turn * size + of) * slot;
  }
  uint64_t result(uint32_t turn, uint32_t of, uint32_t size) const {
    return begin + ((2 * turn + 1) * size + of) * slot;
  }
};

Slots slots_of(const Run& run) {
  const uint32_t size = run.info->size;
  uint64_t room;
  run.scratch(&room);
  const uint64_t begin = (verdict_offset(size) + size + 63) / 64 * 64;
  uint64_t slot = (room - begin) / (4 * size) / 64 * 64;
  if (slot > run.info->put_max) slot = run.info->put_max / 64 * 64;
  return {begin, slot, slot / run.args->element_bytes};
}

// Elements of piece `piece`: of everything, or of the stretches that are not done, one after the
// other. None: there is no such piece.
Stretch piece_of(const Run& run, const SharedReduce* state, const Slots& slots, uint64_t piece) {
  const uint64_t most = slots.at_once * run.info->size;
  const uint32_t parts = state->whole ? 1 : run.info->size;
  for (uint32_t part = 0; part < parts; ++part) {
    if (!state->whole && verdicts(run)[part] != 0) continue;
    const Stretch all = stretch_of(run.args->count, parts, part);
    const uint64_t pieces = (all.count + most - 1) / most;
    if (piece < pieces) {
      const uint64_t at = piece * most, left = all.count - at;
      return {all.from + at, left < most ? left : most};
    }
    piece -= pieces;
  }
  return {0, 0};
}
// The share of these that member `which` combines.
Stretch share_of(const Run& run, const Stretch& piece, uint32_t which) {
  const Stretch s = stretch_of(piece.count, run.info->size, which);
  return {piece.from + s.from, s.count};
}

// A piece in work: where its operands and results lie, and which part each member combines.
struct Piece {
  const Run& run;
  const Slots& slots;
  uint8_t* scratch;
  Stretch elements;
  uint32_t turn;    // which of two sets of slots and signals
  uint64_t rounds;  // signals of this turn when every other member has given its own

  Stretch share(uint32_t member) const { return share_of(run, elements, member); }
  uint64_t bytes(const Stretch& s) const { return s.count * run.args->element_bytes; }
  uint64_t offset(const Stretch& s) const { return s.from * run.args->element_bytes; }
  const uint8_t* source(const Stretch& s) const {
    return static_cast<const uint8_t*>(run.args->src) + offset(s);
  }
};

cwy_status put_operands(const Piece& p, SharedReduce* state) {
  const Run& run = p.run;
  return put_to_others(run, &state->next, [&](uint32_t to) {
    const Stretch theirs = p.share(to);
    return run.s->put_signal(run.team, run.seq, to, p.source(theirs), p.bytes(theirs),
                             p.slots.operand(p.turn, run.info->rank, run.info->size),
                             kOperands + p.turn);
  });
}

void combine_own(const Piece& p) {
  const Run& run = p.run;
  const uint32_t size = run.info->size, rank = run.info->rank;
  const Stretch mine = p.share(rank);
  if (mine.count == 0) return;
  combine_all(run, mine.count, p.scratch + p.slots.operand(p.turn, rank, size),
              p.scratch + p.slots.result(p.turn, rank, size), [&](uint32_t of) -> const void* {
                if (of == rank) return p.source(mine);
                return p.scratch + p.slots.operand(p.turn, of, size);
              });
}

// A member without a result is told too: its partners' pieces must not run away from it.
cwy_status put_results(const Piece& p, SharedReduce* state) {
  const Run& run = p.run;
  const uint64_t at = p.slots.result(p.turn, run.info->rank, run.info->size);
  const uint64_t bytes = p.bytes(p.share(run.info->rank));
  return put_to_others(run, &state->next, [&](uint32_t to) {
    return run.s->put_signal(run.team, run.seq, to, p.scratch + at, has_result(run, to) ? bytes : 0,
                             at, kResults + p.turn);
  });
}

void copy_results(const Piece& p) {
  const Run& run = p.run;
  if (!has_result(run, run.info->rank)) return;
  for (uint32_t of = 0; of < run.info->size; ++of) {
    const Stretch theirs = p.share(of);
    run.s->copy(run.team, run.seq, static_cast<uint8_t*>(run.args->dst) + p.offset(theirs),
                p.scratch + p.slots.result(p.turn, of, run.info->size), p.bytes(theirs));
  }
}

// `state->piece` counts the steps of a piece: 0 operands out, 1 combine, 2 results out, 3 results
// in.
cwy_status one_piece(const Piece& p, SharedReduce* state) {
  if (state->piece == 0) {
    const cwy_status status = put_operands(p, state);
    if (status != CWY_OK) return status;
    state->piece = 1;
    state->next = 0;
  }
  if (state->piece == 1) {
    if (p.run.signal(kOperands + p.turn) < p.rounds) return CWY_INPROGRESS;
    combine_own(p);
    state->piece = 2;
  }
  if (state->piece == 2) {
    const cwy_status status = put_results(p, state);
    if (status != CWY_OK) return status;
    state->piece = 3;
    state->next = 0;
  }
  if (p.run.signal(kResults + p.turn) < p.rounds) return CWY_INPROGRESS;
  copy_results(p);
  state->piece = 0;
  return CWY_OK;
}

cwy_status pieces(const Run& run, SharedReduce* state) {
  const Slots slots = slots_of(run);
  uint64_t room;
  uint8_t* const scratch = run.scratch(&room);
  for (;; ++state->done) {
    const uint64_t number = state->done;
    const Stretch elements = piece_of(run, state, slots, number);
    if (elements.count == 0) return CWY_OK;
    const Piece piece{run,
                      slots,
                      scratch,
                      elements,
                      static_cast<uint32_t>(number % 2),
                      (number / 2 + 1) * (run.info->size - 1)};
    const cwy_status status = one_piece(piece, state);
    if (status != CWY_OK) return status;
  }
}

}  // namespace

cwy_status shared_reduce(const Run& run, SharedReduce* state) {
  const uint32_t others = run.info->size - 1;
  if (run.bytes() == 0) return CWY_OK;
  if (others == 0) {
    run.keep_own();
    return CWY_OK;
  }
  cwy_status status = CWY_OK;
  const auto next_phase = [&](uint32_t phase) {
    state->phase = phase;
    state->next = 0;
  };
  if (state->phase == kTell) {
    status = tell_addresses(run, state);
    if (status != CWY_OK) return status;
    next_phase(kHear);
  }
  if (state->phase == kHear) {
    status = hear(run, state, kAddresses, sizeof(Address), 0);
    if (status != CWY_OK) return status;
    state->whole = !all_are_regions(run);
    uint8_t& verdict = verdicts(run)[run.info->rank];
    verdict = !state->whole && reaches_all(run, state);
    next_phase(state->whole ? kPieces : verdict ? kWork : kFinish);
  }
  if (state->phase == kWork) {
    status = state->fetches ? work_by_transfers(run, state) : work(run, state);
    if (status != CWY_OK) return status;
    next_phase(kFinish);
  }
  if (state->phase == kFinish) {
    status = say(run, state, kVerdicts, &verdicts(run)[run.info->rank], 1,
                 verdict_offset(run.info->size));
    if (status != CWY_OK) return status;
    next_phase(kAwait);
  }
  if (state->phase == kAwait) {
    status = hear(run, state, kVerdicts, 1, verdict_offset(run.info->size));
    if (status != CWY_OK) return status;
    state->done = 0;
    next_phase(kPieces);
  }
  return pieces(run, state);
}

}  // namespace hier
