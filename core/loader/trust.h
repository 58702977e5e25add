// Whether a file may be run in this process.
#pragma once

#include <string>

namespace causeway {

// Throws Error "<path>: reason" where somebody could have put the file there, or could exchange it
// now, who could not run code in this process anyway: every directory, every link and the file must
// belong to root, to this process's user, or to whoever owns this copy of the library, and may not
// be world-writable. A sticky directory (/tmp) may: what lies there only its owner can exchange.
void check_trust(const std::string& path);

}  // namespace causeway
