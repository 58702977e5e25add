// Exchange: the all-gather of small texts that the core's own collective calls need (segment
// publication, team creation). Blocking; over active messages; a binomial tree up and down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace causeway {

class Team;
struct Peer;

// Collective over `team`. Returns every member's contribution by team rank. Also a barrier: no
// member returns before all have called. `call`, a literal, is what the client waits in.
std::vector<std::string> exchange(Team& team, const std::string& own, const char* call);

void on_exchange_piece(Peer& from, const int32_t* args, unsigned nargs, void* payload,
                       size_t length);

// Does an exchange of this process stand still until it hears from that rank of the job?
bool exchange_waits_for(uint32_t job_rank);

}  // namespace causeway
