#include "config/site_file.h"

#include <unistd.h>

#include "base/own_path.h"

namespace causeway {

std::optional<std::string> default_site_file() {
  const std::string path = own_prefix() + "/etc/causeway.yaml";
  // A file that exists and cannot be read is a problem to report, not one to pass over.
  if (::access(path.c_str(), F_OK) != 0) return std::nullopt;
  return path;
}

}  // namespace causeway
