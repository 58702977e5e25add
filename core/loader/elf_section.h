// Reads the manifest section of a shared object without loading it. Every number in the file is
// taken for hostile: nothing is read that was not checked against the size of the file.
#pragma once

#include <string>

namespace causeway {

// The bytes of section `cwy_manifest`, without trailing NULs. Throws Error(CWY_ERR_INVALID)
// "<path>: reason" when the file is not a plugin for this machine, or when somebody else than
// its owner could have written it.
std::string read_manifest_section(const std::string& path);

}  // namespace causeway
