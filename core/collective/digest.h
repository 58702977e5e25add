// A short text that is equal on two ranks exactly when their tables of collective algorithms are:
// plugins, versions, candidates with their ranges, and the scores of a sample of shapes.
#pragma once

#include <string>

namespace causeway {

const std::string& table_digest();

}  // namespace causeway
