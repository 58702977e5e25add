// The smaller suites of the two other kinds of plugin, in the same binary.
#pragma once

#include <vector>

#include "harness/cases.h"
#include "harness/plugin_host.h"
#include "loader/loader.h"

namespace causeway::conformance {

const std::vector<Case>& kind_cases(PluginKind kind);
// Throws Error with the loader's line.
void load_kind(const Settings& settings, PluginKind kind);

const std::vector<Case>& memkind_cases();
const std::vector<Case>& collective_cases();
void one_run_after_another();  // of the collective cases
MemkindPlugin& memkind_plugin();
CollectivePlugin& collective_plugin();
const Settings& kind_settings();
const cwy_options* kind_options();

}  // namespace causeway::conformance
