// Stand-ins for the cold members a plugin leaves out: the rest of the core calls every member of
// a module without looking.
#pragma once

#include <string>

#include "loader/loader.h"

namespace causeway {

// Replaces every NULL member. `who` ("conduit 'x'") is named in the text a stub leaves in the
// caller's cwy_err: "conduit 'x' has no mem_reg". Required members must have been checked before.
void fill_missing(cwyc_module& module, const std::string& who);
void fill_missing(cwym_module& module, const std::string& who);
void fill_missing(cwyl_module& module, const std::string& who);
void fill_missing(cwyl_candidate& candidate);

}  // namespace causeway
