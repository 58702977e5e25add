// The programs that a test's jobs run, which every test of this folder chooses for itself.
#include "launch_harness.h"
#ifdef API_VICTIM_PAR
#include "api_job.h"
#endif

namespace launch_test {

std::string rank_program() {
  return LAUNCH_RANK;
}

}  // namespace launch_test

#ifdef API_VICTIM_PAR
std::string api_test::victim(bool threads) {
  return threads ? API_VICTIM_PAR : API_VICTIM;
}
#endif
