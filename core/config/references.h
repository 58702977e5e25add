// References between parts of the merged document.
#pragma once

#include "config/document.h"
#include "config/merge.h"
#include "config/schema.h"

namespace causeway {

// Every value of type conduit must name a conduit of `root`.
void check_references(const Schema& schema, const Node& root, const Removals& removals,
                      Problems& problems);

}  // namespace causeway
