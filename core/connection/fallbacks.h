// Fallbacks: what stands in a connection's table where its conduit has nothing of its own. The
// rooms above have them; wiring.cpp tells of them before anything is connected.
#pragma once

#include <causeway/conduit.h>

namespace causeway {

struct Fallbacks {
  // Over active messages, or answering CWY_ERR_UNSUPPORTED; complete.
  const cwyc_ops* emulated = nullptr;
  // Where an end of the pair lies in device memory. NULL: as between host memory.
  const cwyc_ops* device = nullptr;
  // The table of connections that stand for several (connection/split.h); complete.
  const cwyc_ops* split = nullptr;
};

// Written before threads exist, constant afterwards.
extern Fallbacks fallbacks;

// Does the completed table do that operation itself, or by its fallback?
template <auto Member>
bool is_native(const cwyc_ops& ops) {
  return ops.*Member != fallbacks.emulated->*Member;
}

}  // namespace causeway
