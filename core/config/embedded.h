// The texts of configs/ that are part of the core; embed.cmake writes the definitions.
#pragma once

namespace causeway {

extern const char k_schema_yaml[];
extern const char k_default_yaml[];

}  // namespace causeway
