// The core's own full-size copies of a plugin's tables, whatever minor the plugin was built
// against. All functions throw Error(CWY_ERR_INVALID) with the reason only (no path).
#pragma once

#include "loader/loader.h"

namespace causeway {

// `module` is what the plugin's init returned. The plugin has its manifest, which has been checked.
void fill_tables(ConduitPlugin& plugin, const void* module);
void fill_tables(MemkindPlugin& plugin, const void* module);
void fill_tables(CollectivePlugin& plugin, const void* module);

}  // namespace causeway
