// The documents of configs/ in the core; causeway_embed (tools/embed) writes the definitions.
#pragma once

#include <string>

#include "config/document.h"

namespace causeway {

extern const char k_schema_tree[];
extern const char k_default_tree[];

// The tree of one of them, with the positions of its file, and `source` for the file's name.
Node unpack_document(const char* packed, const std::string& source);

}  // namespace causeway
