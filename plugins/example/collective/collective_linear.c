/* collective_linear: a complete collective plugin in one C file. One algorithm, a broadcast in
 * which the root sends to every member itself: the slowest way there is, and the shortest to write
 * down. Needs causeway/collective.h and a C compiler; links nothing of Causeway.
 */
#include <causeway/collective.h>

/* 1. The manifest: what `causeway info` reads without loading the file. */
CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: collective\n"
    "name: linear\n"
    "version: 1.0.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "summary: a broadcast by the root alone, as an example\n"
    "license: BSD-3-Clause\n");

/* 2. What a run remembers from one step to the next, on one member. Zeroed before start(). */
typedef struct run {
  uint64_t piece; /* the root: sends it now; a member: waits for it */
  uint32_t to;    /* the root: members before it have got that piece */
  uint32_t taken; /* a member: has copied the piece and owes the root the word of it */
} run;

/* Two pieces are under way at a time: even ones in the first half of the scratch, odd ones in the
 * second. A signal of the members per half says that it was filled, one of the root's per half
 * counts the members that have emptied it. */
enum { FILLED = 0, EMPTIED = 2 };

static uint64_t half_bytes(cwyl_team* team, const cwyl_team_services* s, cwyl_seq seq) {
  uint64_t scratch = 0;
  s->scratch(team, seq, &scratch);
  uint64_t half = scratch / 2 / 64 * 64;
  const uint64_t most = s->info(team)->put_max / 64 * 64;
  return half < most ? half : most;
}

/* 3. The root. Every service answers at once; CWY_RETRY means: come back at the next step. */
static cwy_status send_all(cwyl_team* team, const cwyl_team_services* s, cwyl_seq seq,
                           const cwyl_args* args, run* r, uint64_t half, uint64_t pieces) {
  const cwyl_team_info* info = s->info(team);
  const char* src = (const char*)args->src;
  for (; r->piece < pieces; ++r->piece, r->to = 0) {
    const uint64_t which = r->piece % 2, at = r->piece * half;
    const uint64_t length = args->count - at < half ? args->count - at : half;
    /* Everybody has emptied this half of all pieces before. */
    if (s->signal(team, seq, EMPTIED + (uint32_t)which) < r->piece / 2 * (info->size - 1))
      return CWY_INPROGRESS;
    for (; r->to < info->size; ++r->to) {
      cwy_status status;
      if (r->to == info->rank) continue;
      status =
          s->put_signal(team, seq, r->to, src + at, length, which * half, FILLED + (uint32_t)which);
      if (status == CWY_RETRY) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
    }
  }
  if (args->dst != args->src) s->copy(team, seq, args->dst, args->src, args->count);
  return CWY_OK;
}

/* 4. The others. No word to the root for the last two pieces: nobody waits for it, and a run may
 * only end when all signals raised for it have been seen. */
static cwy_status take_all(cwyl_team* team, const cwyl_team_services* s, cwyl_seq seq,
                           const cwyl_args* args, run* r, uint64_t half, uint64_t pieces) {
  uint64_t room = 0;
  const char* scratch = (const char*)s->scratch(team, seq, &room);
  for (; r->piece < pieces; ++r->piece, r->taken = 0) {
    const uint64_t which = r->piece % 2, at = r->piece * half;
    const uint64_t length = args->count - at < half ? args->count - at : half;
    if (!r->taken) {
      if (s->signal(team, seq, FILLED + (uint32_t)which) < r->piece / 2 + 1) return CWY_INPROGRESS;
      s->copy(team, seq, (char*)args->dst + at, scratch + which * half, length);
      r->taken = 1;
    }
    if (r->piece + 2 < pieces) {
      const cwy_status status =
          s->put_signal(team, seq, args->root, NULL, 0, 0, EMPTIED + (uint32_t)which);
      if (status == CWY_RETRY) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
    }
  }
  return CWY_OK;
}

/* 5. start() and step() are one function here: the state says where it goes on. */
static cwy_status go_on(cwyl_team* team, const cwyl_team_services* s, cwyl_seq seq,
                        const cwyl_args* args, void* state) {
  const uint64_t half = half_bytes(team, s, seq), pieces = (args->count + half - 1) / half;
  run* r = (run*)state;
  if (s->info(team)->rank == args->root) return send_all(team, s, seq, args, r, half, pieces);
  return take_all(team, s, seq, args, r, half, pieces);
}

/* 6. The score: a function of the shape and nothing else. Low: only a rule makes this one run. */
static int32_t score(const cwyl_shape* shape) {
  (void)shape;
  return 1;
}

/* 7. The list of candidates and the one exported function. */
static const cwyl_candidate linear = {.head = CWY_HEAD(cwyl_candidate),
                                      .name = "linear",
                                      .operation = CWYL_BROADCAST,
                                      .keeps_order = 1, /* nothing is combined */
                                      .max_bytes = UINT64_MAX,
                                      .min_team = 1,
                                      .max_team = 1024,
                                      .state_bytes = sizeof(run),
                                      .score = score,
                                      .start = go_on,
                                      .step = go_on};
static const cwyl_candidate* const candidates[] = {&linear};
static void fini(void) {}
static const cwyl_module module = {CWY_HEAD(cwyl_module), 0, 1, candidates, 0, fini};

CWY_EXPORT cwy_status CWY_COLLECTIVE_INIT(const cwy_services* services, const cwyl_module** out,
                                          cwy_err* err);
cwy_status CWY_COLLECTIVE_INIT(const cwy_services* services, const cwyl_module** out,
                               cwy_err* err) {
  (void)services, (void)err;
  *out = &module;
  return CWY_OK;
}
