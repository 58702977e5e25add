// Broadcast through shared memory: the root says where its source is, and every member copies it
// from there, all at the same time. Members that cannot reach it ask for pieces: the root copies
// those into its scratch, where they read them; if even that is out of reach, into theirs.
#include "hier.h"

namespace hier {
namespace {

enum Phase : uint32_t { kBegin, kAnswer, kCopy, kTake, kGather, kServe, kEnd };
// Signals. The root: kAnswers from every member, kTaken for pieces. Members: kWhere, kPiece.
// One kPiece per slot (puts may overtake each other), one kTaken per member (the slowest counts).
enum : uint32_t { kWhere = 0, kAnswers = 1, kPiece = 2, kTaken = 8 };
static_assert(kTaken + kSharedTeam <= 64);
enum Answer : uint8_t { kDone = 1, kReadsScratch = 2, kNeedsPieces = 3 };

// What the root tells: where its source is, and its scratch.
struct Places {
  cwyl_region source, scratch;
  uint64_t exposed;  // the source is a region
};

// A member's answer lies at its rank in the root's scratch; pieces behind them, in two turns.
uint64_t answers_bytes(uint32_t size) {
  return (size + 63) / 64 * 64;
}
uint64_t piece_bytes(const Run& run) {
  uint64_t room;
  run.scratch(&room);
  const uint64_t half = (room - answers_bytes(run.info->size)) / 2 / 64 * 64;
  return half < run.info->put_max ? half : run.info->put_max / 64 * 64;
}
uint64_t piece_offset(const Run& run, uint64_t piece) {
  return answers_bytes(run.info->size) + piece % 2 * piece_bytes(run);
}
uint64_t piece_count(const Run& run) {
  return (run.bytes() + piece_bytes(run) - 1) / piece_bytes(run);
}
uint64_t length_of(const Run& run, uint64_t piece) {
  const uint64_t left = run.bytes() - piece * piece_bytes(run);
  return left < piece_bytes(run) ? left : piece_bytes(run);
}

bool is_needy(const Run& run, const uint8_t* answers, uint32_t rank) {
  return rank != run.args->root && answers[rank] != kDone;
}

// One piece to those who asked, once all of them have emptied its slot.
cwy_status serve_piece(const Run& run, SharedBroadcast* state, uint8_t* scratch,
                       const uint8_t* src) {
  const uint64_t piece = state->piece, n = length_of(run, piece), at = piece_offset(run, piece);
  const uint8_t* const from = src + piece * piece_bytes(run);
  if (state->next == 0) {
    for (uint32_t r = 0; piece >= 2 && r < run.info->size; ++r) {
      if (is_needy(run, scratch, r) && run.signal(kTaken + r) < piece - 1) return CWY_INPROGRESS;
    }
    if (state->staged) run.s->copy(run.team, run.seq, scratch + at, from, n);
  }
  for (; state->next < run.info->size; ++state->next) {
    const uint32_t to = state->next;
    if (!is_needy(run, scratch, to)) continue;
    const bool reads = scratch[to] == kReadsScratch;
    const cwy_status status = run.s->put_signal(run.team, run.seq, to, reads ? nullptr : from,
                                                reads ? 0 : n, reads ? 0 : at, kPiece + piece % 2);
    if (status == CWY_RETRY) return CWY_INPROGRESS;
    if (status != CWY_OK) return status;
  }
  state->next = 0;
  return CWY_OK;
}

cwy_status as_root(const Run& run, SharedBroadcast* state) {
  const uint32_t size = run.info->size;
  const auto* src = static_cast<const uint8_t*>(run.args->src);
  uint64_t room;
  uint8_t* const scratch = run.scratch(&room);
  if (state->phase == kBegin) {
    // A region that could not be exposed opens nothing: members ask for pieces.
    Places places{};
    places.exposed = 1;
    if (run.s->expose(run.team, run.seq, const_cast<uint8_t*>(src), run.bytes(), &places.source) !=
        CWY_OK) {
      places.source = cwyl_region{};
      places.exposed = 0;
    }
    if (run.s->expose(run.team, run.seq, scratch, room, &places.scratch) != CWY_OK) {
      places.scratch = cwyl_region{};
    }
    const cwy_status status =
        tell_others(run, &state->next, &places, sizeof places, answers_bytes(size), kWhere);
    if (status != CWY_OK) return status;
    if (run.args->dst != src) run.s->copy(run.team, run.seq, run.args->dst, src, run.bytes());
    state->phase = kGather;
  }
  if (state->phase == kGather) {
    if (run.signal(kAnswers) + 1 < size) return CWY_INPROGRESS;
    for (uint32_t r = 0; r < size; ++r) {
      if (r == run.args->root || scratch[r] == kDone) continue;
      ++state->needy;
      state->staged |= scratch[r] == kReadsScratch;
    }
    state->next = 0;
    state->phase = kServe;
  }
  if (state->needy == 0) return CWY_OK;
  for (; state->piece < piece_count(run); ++state->piece) {
    const cwy_status status = serve_piece(run, state, scratch, src);
    if (status != CWY_OK) return status;
  }
  return CWY_OK;
}

cwy_status answer(const Run& run, uint8_t word) {
  return run.s->put_signal(run.team, run.seq, run.args->root, &word, 1, run.info->rank, kAnswers);
}

// The next `n` bytes of the root's, which are not mapped here. UNSUPPORTED: nor reached otherwise.
// Members begin in different places: those that have the kernel copy the same pages at the same
// time wait for each other there.
cwy_status fetch(const Run& run, SharedBroadcast* state, uint8_t* dst, uint64_t* n) {
  if (!state->exposed) return CWY_ERR_UNSUPPORTED;
  const uint64_t total = run.bytes(), begin = total / run.info->size * run.info->rank;
  const uint64_t at = (begin + state->done) % total;
  if (*n > total - at) *n = total - at;
  if (!state->asked) {
    state->arrived = 0;
    const cwy_status status = run.s->get_region(run.team, run.seq, run.args->root, &state->region,
                                                at, dst + at, *n, &state->arrived);
    if (status != CWY_OK) return status == CWY_RETRY ? CWY_INPROGRESS : status;
    state->asked = 1;
  }
  const uint32_t arrived = __atomic_load_n(&state->arrived, __ATOMIC_ACQUIRE);
  if (arrived == 0) return CWY_INPROGRESS;
  state->asked = 0;
  return arrived == 1 ? CWY_OK : CWY_ERR_INVALID;
}

cwy_status as_member(const Run& run, SharedBroadcast* state) {
  auto* dst = static_cast<uint8_t*>(run.args->dst);
  uint64_t room;
  uint8_t* const scratch = run.scratch(&room);
  if (state->phase == kBegin) {
    if (run.signal(kWhere) == 0) return CWY_INPROGRESS;
    const auto* told = reinterpret_cast<const Places*>(scratch + answers_bytes(run.info->size));
    state->region = told->source;
    state->scratch = told->scratch;
    state->exposed = told->exposed != 0;
    state->phase = kCopy;
  }
  if (state->phase == kCopy) {
    // In turns, so that polls come in between.
    constexpr uint64_t kAtOnce = 1 << 20;
    const uint64_t left = run.bytes() - state->done;
    uint64_t n = left < kAtOnce ? left : kAtOnce;
    const void* from =
        run.s->direct(run.team, run.seq, run.args->root, &state->region, state->done);
    if (from != nullptr) {
      run.s->copy(run.team, run.seq, dst + state->done, from, n);
    } else {
      const cwy_status status = fetch(run, state, dst, &n);
      if (status == CWY_ERR_UNSUPPORTED && state->done == 0) {
        state->staged = 1;
      } else if (status != CWY_OK) {
        return status;
      }
    }
    if (!state->staged) {
      state->done += n;
      if (state->done < run.bytes()) return CWY_INPROGRESS;
    }
    state->phase = kAnswer;
  }
  if (state->phase == kAnswer) {
    const bool reads =
        run.s->direct(run.team, run.seq, run.args->root, &state->scratch, 0) != nullptr;
    state->needy = reads;
    const cwy_status status = answer(run, !state->staged ? kDone
                                          : reads        ? kReadsScratch
                                                         : kNeedsPieces);
    if (status == CWY_RETRY) return CWY_INPROGRESS;
    if (status != CWY_OK) return status;
    if (!state->staged) return CWY_OK;
    state->phase = kTake;
  }
  const uint64_t count = piece_count(run);
  while (state->piece < count) {
    if (state->next == 0) {
      const uint64_t at = piece_offset(run, state->piece);
      if (run.signal(kPiece + state->piece % 2) < state->piece / 2 + 1) return CWY_INPROGRESS;
      const void* from = state->needy
                             ? run.s->direct(run.team, run.seq, run.args->root, &state->scratch, at)
                             : scratch + at;
      run.s->copy(run.team, run.seq, dst + state->piece * piece_bytes(run), from,
                  length_of(run, state->piece));
      state->next = 1;
    }
    if (state->piece + 2 < count) {  // the slot will be needed again
      const cwy_status status = run.s->put_signal(run.team, run.seq, run.args->root, nullptr, 0, 0,
                                                  kTaken + run.info->rank);
      if (status == CWY_RETRY) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
    }
    state->next = 0;
    ++state->piece;
  }
  return CWY_OK;
}

}  // namespace

cwy_status shared_broadcast(const Run& run, SharedBroadcast* state) {
  if (run.bytes() == 0) return CWY_OK;
  return run.info->rank == run.args->root ? as_root(run, state) : as_member(run, state);
}

}  // namespace hier
