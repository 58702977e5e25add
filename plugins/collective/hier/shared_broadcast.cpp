// Broadcast through shared memory: the root says where its source is, and every member copies it
// from there, all at the same time. Members that cannot reach it ask for pieces: the root copies
// those into its scratch, where they read them; if even that is out of reach, into theirs. When
// the source is no region, nobody reaches it, and what is no longer than two pieces lies in the
// root's scratch before it tells anybody: one exchange less. Of more, members copy a piece while
// the root copies the next.
//
// The root of a long broadcast would have nothing to do meanwhile: members tell it where their
// destinations are, and it writes stretches there that they have not come to. A stretch is claimed
// first, by an atomic addition to a word in the root's scratch.
//
// Why the root's source and every frame may be used again when a run has ended:
// - The source, and what lies in the scratch from the start, is read before an answer, and the
//   root waits for all answers.
// - A slot of the root's scratch is written again only after all its readers have raised kTaken
//   for the piece before it. The root ends only after all of them have said so of the last piece
//   too: what comes next in this frame is another run's.
// - A slot of a member's scratch is filled by a put whose signal that member awaits, and it says
//   kTaken of every piece whose slot is filled again. The root awaits all of these.
// - A member tells the root of its destination before it answers, answers when all its stretches
//   have been copied, and claims none after that: the root awaits all of it.
// So every signal is awaited where it is raised: kWhere, kHelped, kGivenBack and every kPiece by
// the members, kTargets, kAnswers and every kTaken by the root.
#include <cstddef>
#include <cstring>

#include "hier.h"

namespace hier {
namespace {

enum Phase : uint32_t {
  kBegin,
  kTell,
  kProbe,
  kTarget,
  kCopy,
  kAnswer,
  kTake,
  kHelp,
  kGather,
  kServe
};
// Signals. The root: kTargets and kAnswers from every member, kTaken for pieces. Members: kWhere,
// kPiece, kHelped for each stretch that the root has written, kGivenBack for one that it could not
// write. One kPiece per slot (puts may overtake each other), one kTaken per member (the slowest
// counts).
enum : uint32_t { kWhere, kAnswers, kPiece, kTargets = kPiece + 2, kHelped, kGivenBack, kTaken };
static_assert(kTaken + kSharedTeam <= 64);
enum Answer : uint8_t { kDone = 1, kReadsScratch = 2, kNeedsPieces = 3 };

// The root's message: where its source is, and its scratch.
struct Places {
  cwyl_region source, scratch;
  uint64_t exposed;  // the source is a region
  uint64_t laid;     // all bytes lie in the scratch already, as pieces
};

// In the root's scratch behind the answers, for every member until the first piece lies there.
struct alignas(64) Target {
  cwyl_region memory;  // where the member wants the bytes, as it has told
  uint64_t claimed;    // stretches, by the member and the root
};
enum Step : uint32_t { kUnclaimed, kClaimed, kCopying, kCopied, kRefused };

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

// Stretches are claimed one by one: polls come in between, and no member waits long for the root.
constexpr uint64_t kStretch = 256 << 10;
constexpr uint64_t kHelpFrom = 4 * kStretch;
uint64_t stretch_count(const Run& run) {
  return (run.bytes() + kStretch - 1) / kStretch;
}
// Does the root help? It knows where members want the bytes then.
bool is_helped(const Run& run, const SharedBroadcast* state) {
  return state->exposed != 0 && run.bytes() >= kHelpFrom &&
         2 * piece_bytes(run) >= run.info->size * sizeof(Target);
}
// The stretch is the member's `stretch`-th. Members begin at different places: those that have the
// kernel copy the same pages at the same time wait for each other there.
uint64_t stretch_offset(const Run& run, uint64_t stretch, uint32_t member) {
  const uint64_t count = stretch_count(run);
  return (stretch + count * member / run.info->size) % count * kStretch;
}
uint64_t stretch_length(const Run& run, uint64_t at) {
  return run.bytes() - at < kStretch ? run.bytes() - at : kStretch;
}
// Relaxed: what was copied is told by signals.
bool claim(const Run& run, void* claims, SharedBroadcast* state) {
  state->stretch = __atomic_fetch_add(static_cast<uint64_t*>(claims), 1, __ATOMIC_RELAXED);
  return state->stretch < stretch_count(run);
}

uint64_t target_offset(const Run& run, uint32_t member) {
  return answers_bytes(run.info->size) + member * sizeof(Target);
}

bool is_needy(const Run& run, const uint8_t* answers, uint32_t rank) {
  return rank != run.args->root && answers[rank] != kDone;
}
bool is_reader(const Run& run, const uint8_t* answers, uint32_t rank) {
  return rank != run.args->root && answers[rank] == kReadsScratch;
}

// How often a needy member has raised kTaken when the slot of `piece` is free: for each piece up to
// the one that lay there before.
uint64_t taken_before(uint64_t piece) {
  return piece < 2 ? 0 : piece - 1;
}

// Copies one piece to the members that asked, once all of them have emptied its slot.
cwy_status serve_piece(const Run& run, SharedBroadcast* state, uint8_t* scratch,
                       const uint8_t* src) {
  const uint64_t piece = state->piece, n = length_of(run, piece), at = piece_offset(run, piece);
  const uint8_t* const from = src + piece * piece_bytes(run);
  if (state->next == 0) {
    for (uint32_t r = 0; piece >= 2 && r < run.info->size; ++r) {
      if (!is_needy(run, scratch, r)) continue;
      if (run.signal(kTaken + r) < taken_before(piece)) return CWY_INPROGRESS;
    }
    if (state->staged) run.s->copy(run.team, run.seq, scratch + at, from, n);
  }
  for (; state->next < run.info->size; ++state->next) {
    const uint32_t to = state->next;
    if (!is_needy(run, scratch, to)) continue;
    const bool reads = is_reader(run, scratch, to);
    const cwy_status status = run.s->put_signal(run.team, run.seq, to, reads ? nullptr : from,
                                                reads ? 0 : n, reads ? 0 : at, kPiece + piece % 2);
    if (status == CWY_RETRY) return CWY_INPROGRESS;
    if (status != CWY_OK) return status;
  }
  state->next = 0;
  return CWY_OK;
}

// Has every reader said of the last piece too that it has it?
bool is_read(const Run& run, const uint8_t* scratch) {
  for (uint32_t r = 0; r < run.info->size; ++r) {
    if (!is_reader(run, scratch, r)) continue;
    if (run.signal(kTaken + r) < taken_before(piece_count(run) - 1) + 1) return false;
  }
  return true;
}

// The root shows its source, or else its scratch, with all in it that is not long.
void show(const Run& run, SharedBroadcast* state, uint8_t* scratch, uint64_t room) {
  auto* const src = static_cast<uint8_t*>(const_cast<void*>(run.args->src));
  state->exposed = run.s->expose(run.team, run.seq, src, run.bytes(), &state->region) == CWY_OK;
  const bool shows_scratch =
      run.s->expose(run.team, run.seq, scratch, room, &state->scratch) == CWY_OK;
  // A region that could not be exposed opens nothing: members ask for pieces.
  if (!shows_scratch) state->scratch = cwyl_region{};
  if (state->exposed) return;
  state->region = cwyl_region{};
  const uint64_t count = piece_count(run);
  if (!shows_scratch || run.info->size == 1 || count > 2) return;
  for (uint64_t piece = 0; piece < count; ++piece) {
    run.s->copy(run.team, run.seq, scratch + piece_offset(run, piece),
                src + piece * piece_bytes(run), length_of(run, piece));
  }
  state->laid = 1;
}

// Claims a stretch of a member that can be written to; false: there is none left.
bool claim_for_member(const Run& run, SharedBroadcast* state, Target* targets) {
  const uint32_t size = run.info->size;
  for (uint32_t tried = 0; tried < size; ++tried) {
    const uint32_t to = state->next = (state->next + 1) % size;
    if (to != run.info->rank &&
        run.s->put_region(run.team, run.seq, to, &targets[to].memory, 0, nullptr, 0,
                          &state->arrived) == CWY_OK &&
        claim(run, &targets[to].claimed, state))
      return true;
  }
  return false;
}

// Writes one stretch, for one member after the other. OK: all are claimed. Memory that this process
// may not write, a device's for one, is left to its owner, the stretch included.
cwy_status help(const Run& run, SharedBroadcast* state, uint8_t* scratch) {
  if (run.signal(kTargets) + 1 < run.info->size) return CWY_INPROGRESS;
  auto* const targets = reinterpret_cast<Target*>(scratch + target_offset(run, 0));
  if (state->step == kUnclaimed) {
    if (!claim_for_member(run, state, targets)) return CWY_OK;
    state->step = kClaimed;
  }
  cwy_status status = CWY_OK;
  const uint64_t at = stretch_offset(run, state->stretch, state->next);
  if (state->step == kClaimed) {
    state->arrived = 0;
    status = run.s->put_region(run.team, run.seq, state->next, &targets[state->next].memory, at,
                               static_cast<const uint8_t*>(run.args->src) + at,
                               stretch_length(run, at), &state->arrived);
    if (status == CWY_OK) state->step = kCopying;
  }
  if (state->step == kCopying) {
    const uint32_t arrived = __atomic_load_n(&state->arrived, __ATOMIC_ACQUIRE);
    if (arrived != 0) state->step = arrived == 1 ? kCopied : kRefused;
  }
  if (state->step == kCopied || state->step == kRefused) {
    const bool refused = state->step == kRefused;
    if (refused) targets[state->next].memory = {};
    status =
        run.s->put_signal(run.team, run.seq, state->next, refused ? &state->stretch : nullptr,
                          refused ? sizeof state->stretch : 0, 0, refused ? kGivenBack : kHelped);
    if (status == CWY_OK) state->step = kUnclaimed;
  }
  return status == CWY_OK || status == CWY_RETRY ? CWY_INPROGRESS : status;
}

cwy_status as_root(const Run& run, SharedBroadcast* state) {
  const uint32_t size = run.info->size;
  const auto* src = static_cast<const uint8_t*>(run.args->src);
  uint64_t room;
  uint8_t* const scratch = run.scratch(&room);
  if (state->phase == kBegin) {
    show(run, state, scratch, room);
    for (uint32_t r = 0; r < size && is_helped(run, state); ++r)
      reinterpret_cast<Target*>(scratch + target_offset(run, r))->claimed = 0;
    state->phase = kTell;
  }
  if (state->phase == kTell) {
    const Places places{state->region, state->scratch, state->exposed, state->laid};
    const cwy_status status =
        tell_others(run, &state->next, &places, sizeof places, answers_bytes(size), kWhere);
    if (status != CWY_OK) return status;
    run.keep_own();
    state->phase = is_helped(run, state) ? kHelp : kGather;
  }
  if (state->phase == kHelp) {
    const cwy_status status = help(run, state, scratch);
    if (status != CWY_OK) return status;
    state->phase = kGather;
  }
  if (state->phase == kGather) {
    if (run.signal(kAnswers) + 1 < size) return CWY_INPROGRESS;
    for (uint32_t r = 0; r < size; ++r) {
      state->needy += is_needy(run, scratch, r);
      state->staged |= is_reader(run, scratch, r);
    }
    state->next = 0;
    state->phase = kServe;
  }
  if (state->needy == 0) return CWY_OK;
  for (; state->piece < piece_count(run); ++state->piece) {
    const cwy_status status = serve_piece(run, state, scratch, src);
    if (status != CWY_OK) return status;
  }
  return is_read(run, scratch) ? CWY_OK : CWY_INPROGRESS;
}

cwy_status answer(const Run& run, uint8_t word) {
  return run.s->put_signal(run.team, run.seq, run.args->root, &word, 1, run.info->rank, kAnswers);
}

// Does this member read the root's scratch?
bool reads_scratch(const Run& run, const SharedBroadcast* state) {
  return run.s->direct(run.team, run.seq, run.args->root, &state->scratch, 0) != nullptr;
}

// Finds out, by its first byte, whether the root's source is within reach: mapped, or the kernel
// gets bytes from there. Else the member needs pieces.
cwy_status probe_source(const Run& run, SharedBroadcast* state) {
  if (state->exposed == 0) {
    state->staged = state->laid == 0;
  } else if (run.s->direct(run.team, run.seq, run.args->root, &state->region, 0) == nullptr) {
    if (state->step == kUnclaimed) {
      state->arrived = 0;
      const cwy_status status = run.s->get_region(run.team, run.seq, run.args->root, &state->region,
                                                  0, &state->probe, 1, &state->arrived);
      if (status == CWY_RETRY) return CWY_INPROGRESS;
      if (status == CWY_ERR_PEER_FAILED) return status;
      if (status != CWY_OK) state->arrived = 2;
      state->step = kCopying;
    }
    const uint32_t arrived = __atomic_load_n(&state->arrived, __ATOMIC_ACQUIRE);
    if (arrived == 0) return CWY_INPROGRESS;
    state->step = kUnclaimed;
    state->staged = arrived != 1;
  }
  state->reads = state->staged != 0 && reads_scratch(run, state);
  return CWY_OK;
}

// Tells the root where the bytes shall be; nowhere, if it is not to write there.
cwy_status tell_target(const Run& run, SharedBroadcast* state) {
  const uint64_t at = target_offset(run, run.info->rank);
  cwyl_region memory{};
  void* const claims = run.s->direct(run.team, run.seq, run.args->root, &state->scratch,
                                     at + offsetof(Target, claimed));
  if (claims != nullptr && state->staged == 0 &&
      run.s->expose(run.team, run.seq, run.args->dst, run.bytes(), &memory) == CWY_OK)
    state->claims = claims;
  else
    memory = {};
  return run.s->put_signal(run.team, run.seq, run.args->root, &memory, sizeof memory,
                           at + offsetof(Target, memory), kTargets);
}

// The next piece, out of the root's scratch or of this member's own.
void take(const Run& run, SharedBroadcast* state, const uint8_t* scratch) {
  const uint64_t at = piece_offset(run, state->piece);
  const void* const from =
      state->reads ? run.s->direct(run.team, run.seq, run.args->root, &state->scratch, at)
                   : scratch + at;
  run.s->copy(run.team, run.seq,
              static_cast<uint8_t*>(run.args->dst) + state->piece * piece_bytes(run), from,
              length_of(run, state->piece));
}

// The stretch that has been claimed.
cwy_status copy_stretch(const Run& run, SharedBroadcast* state) {
  const uint64_t at = stretch_offset(run, state->stretch, run.info->rank);
  auto* const dst = static_cast<uint8_t*>(run.args->dst) + at;
  if (state->step == kClaimed) {
    const void* from = run.s->direct(run.team, run.seq, run.args->root, &state->region, at);
    if (from != nullptr) {
      run.s->copy(run.team, run.seq, dst, from, stretch_length(run, at));
      return CWY_OK;
    }
    state->arrived = 0;
    const cwy_status status = run.s->get_region(run.team, run.seq, run.args->root, &state->region,
                                                at, dst, stretch_length(run, at), &state->arrived);
    if (status != CWY_OK) return status == CWY_RETRY ? CWY_INPROGRESS : status;
    state->step = kCopying;
  }
  const uint32_t arrived = __atomic_load_n(&state->arrived, __ATOMIC_ACQUIRE);
  if (arrived == 0) return CWY_INPROGRESS;
  return arrived == 1 ? CWY_OK : CWY_ERR_INVALID;
}

// Out of the root's source. OK: all of it, the stretches that the root has written included. One
// that it gives back lies in front of the scratch.
cwy_status copy_source(const Run& run, SharedBroadcast* state, const uint8_t* scratch) {
  constexpr int kInAStep = 4;
  const uint64_t count = stretch_count(run);
  for (int i = 0; i < kInAStep; ++i) {
    if (state->step == kUnclaimed) {
      if (run.signal(kGivenBack) > state->taken_back) {
        ++state->taken_back;
        memcpy(&state->stretch, scratch, sizeof state->stretch);
      } else if (state->stretch >= count || !claim(run, state->claims, state)) {
        break;
      }
      state->step = kClaimed;
    }
    const cwy_status status = copy_stretch(run, state);
    if (status != CWY_OK) return status;
    ++state->own;
    state->step = kUnclaimed;
  }
  return state->own + run.signal(kHelped) == count ? CWY_OK : CWY_INPROGRESS;
}

// Out of the root's scratch, where everything lies. If that cannot be reached, pieces must come.
void copy_laid(const Run& run, SharedBroadcast* state, const uint8_t* scratch) {
  state->staged = !reads_scratch(run, state);
  if (state->staged) return;
  state->reads = 1;
  for (; state->piece < piece_count(run); ++state->piece) take(run, state, scratch);
}

// Pieces one by one; each is acknowledged if its slot is filled again, and the last one if it was
// read where the root's next run in this frame would write.
cwy_status take_pieces(const Run& run, SharedBroadcast* state, const uint8_t* scratch) {
  const uint64_t count = piece_count(run);
  for (; state->piece < count; ++state->piece, state->next = 0) {
    if (state->next == 0) {
      if (run.signal(kPiece + state->piece % 2) < state->piece / 2 + 1) return CWY_INPROGRESS;
      take(run, state, scratch);
      state->next = 1;
    }
    if (state->piece + 2 < count || (state->reads && state->piece + 1 == count)) {
      const cwy_status status = run.s->put_signal(run.team, run.seq, run.args->root, nullptr, 0, 0,
                                                  kTaken + run.info->rank);
      if (status == CWY_RETRY) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
    }
  }
  return CWY_OK;
}

cwy_status as_member(const Run& run, SharedBroadcast* state) {
  uint64_t room;
  uint8_t* const scratch = run.scratch(&room);
  if (state->phase == kBegin) {
    if (run.signal(kWhere) == 0) return CWY_INPROGRESS;
    const auto* told = reinterpret_cast<const Places*>(scratch + answers_bytes(run.info->size));
    state->region = told->source;
    state->scratch = told->scratch;
    state->exposed = told->exposed != 0;
    state->laid = told->laid;
    state->claims = &state->claimed;
    state->phase = kProbe;
  }
  if (state->phase == kProbe) {
    const cwy_status status = probe_source(run, state);
    if (status != CWY_OK) return status;
    state->phase = kTarget;
  }
  if (state->phase == kTarget) {
    if (is_helped(run, state)) {
      const cwy_status status = tell_target(run, state);
      if (status == CWY_RETRY) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
    }
    state->phase = kCopy;
  }
  if (state->phase == kCopy) {
    if (state->laid != 0) {
      copy_laid(run, state, scratch);
    } else if (state->staged == 0) {
      const cwy_status status = copy_source(run, state, scratch);
      if (status != CWY_OK) return status;
    }
    state->phase = kAnswer;
  }
  if (state->phase == kAnswer) {
    const cwy_status status = answer(run, !state->staged ? kDone
                                          : state->reads ? kReadsScratch
                                                         : kNeedsPieces);
    if (status == CWY_RETRY) return CWY_INPROGRESS;
    if (status != CWY_OK) return status;
    if (!state->staged) return CWY_OK;
    state->phase = kTake;
  }
  return take_pieces(run, state, scratch);
}

}  // namespace

cwy_status shared_broadcast(const Run& run, SharedBroadcast* state) {
  if (run.bytes() == 0) return CWY_OK;
  return run.info->rank == run.args->root ? as_root(run, state) : as_member(run, state);
}

}  // namespace hier
