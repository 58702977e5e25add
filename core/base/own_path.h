// Where this copy of the core lies, and with it what was installed beside it.
#pragma once

#include <string>

namespace causeway {

// Directory in which this copy of the core looks for its own plugins:
// <dir of libcauseway.so or tool>/causeway/2 or <dir>/../<libdir>/causeway/2.
std::string own_plugin_directory();
// <prefix> of this copy, for etc/causeway.yaml and libexec.
std::string own_prefix();
// Where a command of this copy lies, or is expected. Empty: the system does not tell where this
// copy lies, and no other place will do.
std::string own_command(const std::string& name);

}  // namespace causeway
