// The processes below this one: for ending a job without leaving a grandchild.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace causeway::launch {

// Direct children, zombies included, of process `pid` (all its threads).
std::vector<pid_t> children_of(pid_t pid);

// SIGKILLs every descendant of this process, except the subtrees of `spared`, and reaps what
// becomes its child, until nothing is left or `limit_s` has passed. The caller is a subreaper, so
// daemonised grandchildren turn up here as well. Returns false when something is left.
bool kill_descendants(const std::set<pid_t>& spared, double limit_s);

// SIGKILLs every process of this user whose environment at exec contains `entry` ("NAME=value"):
// what a job left whose front and keeper were killed together.
void kill_marked(const std::string& entry);

}  // namespace causeway::launch
