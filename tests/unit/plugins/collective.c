/* A collective plugin that is listed but never run: two good candidates and one for an operation
 * of some later minor, bad in the way its compile definitions say. */
#include <causeway/collective.h>

CWY_MANIFEST("causeway_manifest: 1\nkind: collective\nname: " VARIANT_NAME
             "\nversion: 1.0.0\napi: '2.0'\n");

static cwy_status run(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                      const cwyl_args* args, void* state) {
  (void)team, (void)services, (void)seq, (void)args, (void)state;
  return CWY_OK;
}

static int32_t score(const cwyl_shape* shape) {
  return shape->team_size > 2 ? 10 : 1;
}

#ifdef VARIANT_TWINS
#define SECOND "first"
#else
#define SECOND "second"
#endif
#ifdef VARIANT_STEPLESS
#define STEP 0
#else
#define STEP run
#endif

static const cwyl_candidate first = {.head = CWY_HEAD(cwyl_candidate),
                                     .name = "first",
                                     .operation = CWYL_BARRIER,
                                     .max_bytes = UINT64_MAX,
                                     .max_team = UINT32_MAX,
                                     .score = score,
                                     .start = run,
                                     .step = run};
static const cwyl_candidate second = {.head = CWY_HEAD(cwyl_candidate),
                                      .name = SECOND,
                                      .operation = CWYL_BARRIER,
                                      .max_bytes = UINT64_MAX,
                                      .max_team = UINT32_MAX,
                                      .start = run,
                                      .step = STEP};
static const cwyl_candidate later = {.head = CWY_HEAD(cwyl_candidate),
                                     .name = "later",
                                     .operation = 1000,
                                     .start = run,
                                     .step = run};
static const cwyl_candidate* const candidates[] = {&first, &second, &later};
static const cwyl_module module = {
    .head = CWY_HEAD(cwyl_module), .candidate_count = 3, .candidates = candidates};

CWY_EXPORT cwy_status CWY_COLLECTIVE_INIT(const cwy_services* core, const cwyl_module** out,
                                          cwy_err* err);

cwy_status CWY_COLLECTIVE_INIT(const cwy_services* core, const cwyl_module** out, cwy_err* err) {
  (void)core, (void)err;
  *out = &module;
  return CWY_OK;
}
