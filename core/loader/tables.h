// The core's own full-size copies of a plugin's tables, whatever minor the plugin was built
// against. All functions throw Error(CWY_ERR_INVALID) with the reason only (no path).
#pragma once

#include "loader/loader.h"

namespace causeway {

// `module` is what the plugin's init returned. The manifest has been checked.
ConduitPlugin make_conduit_plugin(const Manifest& manifest, const void* module);
MemkindPlugin make_memkind_plugin(const Manifest& manifest, const void* module);
CollectivePlugin make_collective_plugin(const Manifest& manifest, const void* module);

}  // namespace causeway
