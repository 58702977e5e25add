// Fallbacks: what stands in a connection's table where its conduit has nothing of its own. The
// rooms above have them; wiring.cpp tells of them before anything is connected.
#pragma once

#include <causeway/conduit.h>

namespace causeway {

struct Fallbacks {
  // Over active messages: put, get, atomic, am_long, am_prepare, am_commit, am_cancel.
  const cwyc_ops* emulated = nullptr;
  // Where an end of the pair lies in device memory: put_small, put, get, am_medium, am_long.
  const cwyc_ops* device = nullptr;
  // Of connections that stand for several (connection/split.h); complete.
  const cwyc_ops* split = nullptr;
};

// Written before threads exist, constant afterwards.
extern Fallbacks fallbacks;

// An entry of any kind that a conduit lacks and that nothing stands in for.
template <typename... Args>
cwy_status unsupported(cwyc_conn*, Args...) {
  return CWY_ERR_UNSUPPORTED;
}

// Sets every NULL entry to an emulation, or to a stub that answers CWY_ERR_UNSUPPORTED.
void fill_with_emulation(cwyc_ops& ops);

}  // namespace causeway
