// Where the site's file lies.
#pragma once

#include <optional>
#include <string>

namespace causeway {

// <prefix>/etc/causeway.yaml of this copy of the core, if there is such a file.
std::optional<std::string> default_site_file();

}  // namespace causeway
