// Merging of validated sources: maps merge key by key, scalars and lists replace.
#pragma once

#include <map>
#include <string>

#include "config/document.h"
#include "config/schema.h"

namespace causeway {

// Path of a named entry that a source removed -> where it did: "conduits.shm".
using Removals = std::map<std::string, Origin>;

// Lays `over` onto `base`. Removing what is not there is a problem.
void merge(const Schema& schema, Node& base, Node over, Removals& removals, Problems& problems);

}  // namespace causeway
