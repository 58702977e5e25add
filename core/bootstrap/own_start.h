// Programs of identity udp are started without a launcher as `prog N arguments...`: the first
// argument is the number of ranks, and the client goes on with the others.
#pragma once

#include <cstdint>
#include <optional>

namespace causeway {

// Tells the arguments that a client gave its start, NULL for nothing: before the runtime starts.
// They have to stay until it has, since the number is taken out there.
void offer_arguments(int* argc, char*** argv);

// How many ranks the arguments ask for. nullopt: this is no program of that identity, or its first
// argument is no number. Throws Error for a number that cannot be.
std::optional<uint32_t> ranks_of_arguments();

// GASNET_SPAWNFN, or a list of hosts, asks for ranks that are not all children of this process.
bool own_start_is_elsewhere();

// Becomes `amudprun`, which starts the program with the other arguments. Throws Error without it.
[[noreturn]] void become_launcher(uint32_t ranks);

// In a rank: the client's arguments are those behind the number.
void drop_number_of_ranks();

}  // namespace causeway
