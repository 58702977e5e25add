/* A collective plugin that breaks the rule that scores depend on the shape alone: ranks differ. */
#include <causeway/collective.h>
#include <stdlib.h>

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: collective\n"
    "name: moody\n"
    "version: 1.0.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "summary: scores that differ from rank to rank\n"
    "license: BSD-3-Clause\n");

static int32_t score(const cwyl_shape* shape) {
  const char* rank = getenv("PMIX_RANK");
  (void)shape;
  return rank != NULL && rank[0] == '1' ? 99 : 0;
}
static cwy_status run(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                      const cwyl_args* args, void* state) {
  (void)team, (void)services, (void)seq, (void)args, (void)state;
  return CWY_ERR_UNSUPPORTED;
}
static const cwyl_candidate candidate = {CWY_HEAD(cwyl_candidate),
                                         "moody",
                                         CWYL_BROADCAST,
                                         1,
                                         0,
                                         UINT64_MAX,
                                         1,
                                         UINT32_MAX,
                                         0,
                                         0,
                                         score,
                                         run,
                                         run};
static const cwyl_candidate* const candidates[] = {&candidate};
static void fini(void) {}
static const cwyl_module module = {CWY_HEAD(cwyl_module), 0, 1, candidates, 0, fini};

CWY_EXPORT cwy_status CWY_COLLECTIVE_INIT(const cwy_services* services, const cwyl_module** out,
                                          cwy_err* err) {
  (void)services, (void)err;
  *out = &module;
  return CWY_OK;
}
