// Collective plugin `base`: algorithms that work on every team over every transport.
#include "../common/catalogue.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: collective\n"
    "name: base\n"
    "version: 1.1.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "summary: trees, chains, rings and hypercubes for every team and transport\n"
    "license: BSD-3-Clause\n");

namespace base {
namespace {

cwyl_candidate candidates[kAlgorithms];
const cwyl_candidate* list[kAlgorithms];

cwyl_candidate candidate(const Algorithm& a) {
  return {CWY_HEAD(cwyl_candidate), a.name,       a.operation,   a.keeps_order,
          /*min_bytes=*/0,          UINT64_MAX,
          /*min_team=*/1,           kMostMembers, a.state_bytes,
          /*reserved=*/0,           a.score,      a.start,       a.step};
}

void fini() {}

const cwyl_module kModule = {CWY_HEAD(cwyl_module), 0, kAlgorithms, list, 0, fini};

}  // namespace
}  // namespace base

extern "C" CWY_EXPORT cwy_status CWY_COLLECTIVE_INIT(const cwy_services*,
                                                     const cwyl_module** module, cwy_err*) {
  for (uint32_t i = 0; i < base::kAlgorithms; ++i) {
    base::candidates[i] = base::candidate(base::catalogue[i]);
    base::list[i] = &base::candidates[i];
  }
  *module = &base::kModule;
  return CWY_OK;
}
