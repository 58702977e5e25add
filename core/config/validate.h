// Validation of one source against the schema, before sources are merged, so that every problem
// has its own position.
#pragma once

#include <string>
#include <vector>

#include "config/document.h"
#include "config/schema.h"

namespace causeway {

// Checks `root`, rewrites sizes, times and integers into their canonical spelling, and removes
// what is wrong, so that the rest can still be checked. Keys that nothing in this version uses,
// set to something else than what holds anyway, go to `unused`.
void validate(const Schema& schema, Node& root, Problems& problems, std::vector<Problem>& unused);

bool holds(const std::vector<std::string>& words, const std::string& word);

// "self, shm or ofi".
std::string join_words(const std::vector<std::string>& words, const std::string& last);

}  // namespace causeway
