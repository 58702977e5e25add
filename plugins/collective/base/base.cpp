// Collective plugin `base`: algorithms that work on every team over every transport.
#include <causeway/collective.h>

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: collective\n"
    "name: base\n"
    "version: 1.0.0\n"
    "api: \"1.0\"\n"
    "min_core_minor: 0\n"
    "summary: algorithms for every team and transport (barrier by dissemination)\n"
    "license: BSD-3-Clause\n");

namespace {

// Dissemination barrier (Hensgen, Finkel, Manber 1988): in round k every member signals the one
// 2^k ranks further on and waits for the one 2^k behind; ceil(log2 n) rounds.
struct Dissemination {
  uint32_t round;
  uint32_t sent; /* this round's signal is out */
};

int32_t score(const cwyl_shape*) {
  return 10;
}

cwy_status step(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq, const cwyl_args*,
                void* memory) {
  auto* state = static_cast<Dissemination*>(memory);
  const cwyl_team_info* info = services->info(team);
  while ((1u << state->round) < info->size) {
    if (!state->sent) {
      const uint32_t to = (info->rank + (1u << state->round)) % info->size;
      const cwy_status status = services->put_signal(team, seq, to, nullptr, 0, 0, state->round);
      if (status == CWY_RETRY) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
      state->sent = 1;
    }
    if (services->signal(team, seq, state->round) == 0) return CWY_INPROGRESS;
    state->sent = 0;
    ++state->round;
  }
  return CWY_OK;
}

const cwyl_candidate kDissemination = {CWY_HEAD(cwyl_candidate),
                                       "dissemination",
                                       CWYL_BARRIER,
                                       /*keeps_order=*/1,
                                       /*min_bytes=*/0,
                                       UINT64_MAX,
                                       /*min_team=*/1,
                                       UINT32_MAX,
                                       /*memkind_classes=*/UINT32_MAX,
                                       sizeof(Dissemination),
                                       score,
                                       step,
                                       step};
const cwyl_candidate* const kCandidates[] = {&kDissemination};

void fini() {}

const cwyl_module kModule = {CWY_HEAD(cwyl_module), 0, 1, kCandidates, 0, fini};

}  // namespace

extern "C" CWY_EXPORT cwy_status CWY_COLLECTIVE_INIT(const cwy_services*,
                                                     const cwyl_module** module, cwy_err*) {
  *module = &kModule;
  return CWY_OK;
}
