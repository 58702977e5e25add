// The steps of loading: each source is validated and merged onto those before it; then what only
// the merged document can show is checked, and the typed Config made of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/document.h"
#include "config/problem.h"
#include "config/schema.h"

namespace causeway {

// ---- validate.cpp: one source against the schema, so that every problem has its own position ----

// Checks `root`, rewrites sizes, times and integers into their canonical spelling, and removes
// what is wrong, so that the rest can still be checked. Keys that nothing in this version uses,
// set to something else than what holds anyway, go to `unused`.
void validate(const Schema& schema, Node& root, Problems& problems, std::vector<Problem>& unused);

bool holds(const std::vector<std::string>& words, const std::string& word);

// "self, shm or ofi".
std::string join_words(const std::vector<std::string>& words, const std::string& last);

// ---- merge.cpp: maps merge key by key, scalars and lists replace ----

// Path of a named entry that a source removed -> where it did: "conduits.shm".
using Removals = std::map<std::string, Origin>;

// Lays `over` onto `base`. Removing what is not there is a problem.
void merge(const Schema& schema, Node& base, Node over, Removals& removals, Problems& problems);

// ---- references.cpp: between parts of the merged document ----

// Every value of type conduit must name a conduit of `root`. A conduit that is likely another's
// name with a slip goes to `warnings`.
void check_references(const Schema& schema, const Node& root, const Removals& removals,
                      Problems& problems, std::vector<Problem>& warnings);

// ---- build_config.cpp: from the merged, checked document to the typed Config ----

// Rules as far as they are understood. comparable[i] is false where validation had to drop a
// condition. Two rules of one name are a problem.
std::vector<PeerRule> build_rules(const Node& root, std::vector<bool>& comparable,
                                  Problems& problems);

// `root` has no mistakes any more: they have been dropped.
Config build_config(const Node& root, std::vector<PeerRule> rules);

}  // namespace causeway
