// The domain that tests of remote atomics share, beside the model.
#pragma once

#include <string>

#include "../harness.h"
#include "atomic_model.h"

namespace atomics {

// A domain for as long as the object lives. Collective at both ends.
class Domain {
 public:
  Domain(gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags = 0, gex_TM_t tm = spec::job().tm) {
    gex_AD_Create(&ad_, tm, dt, ops, flags);
  }
  ~Domain() {
    spec::barrier();  // operations are complete everywhere before anybody destroys
    gex_AD_Destroy(ad_);
  }
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
  operator gex_AD_t() const { return ad_; }

 private:
  gex_AD_t ad_ = GEX_AD_INVALID;
};

}  // namespace atomics
