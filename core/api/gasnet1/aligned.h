// Segments that begin at the same address on every node.
#pragma once

#include <cstddef>

namespace causeway {

class Team;

// Collective. An address where `size` bytes are free in this process and the sizes of the others
// are in theirs; NULL where there is none. The same answer everywhere.
void* common_free_address(Team& team, size_t size);

// Do all members' segments begin at one address? Members without a segment do not count. After the
// segments were published; the same answer everywhere.
bool segments_aligned(const Team& team);

}  // namespace causeway
