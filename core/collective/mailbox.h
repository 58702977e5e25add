// Mailbox: where messages for one member of one team arrive, also before that member has made its
// side of the team.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collective/team_mutex.h"

namespace causeway {

class TeamRuns;

// A signal with its data, or a post of `sender`.
struct EarlySignal {
  uint64_t seq;
  uint64_t offset;
  uint32_t signal;  // or the post's number
  std::vector<char> data;
  bool is_post = false;
  uint32_t sender = 0;
};

struct Mailbox {
  TeamMutex mutex;           // guards the members below; taken after the mutex of TeamRuns
  TeamRuns* team = nullptr;  // NULL: not made yet here
  std::vector<EarlySignal> early;
};

// The mailbox of that member, made if need be. Any thread.
std::shared_ptr<Mailbox> mailbox(uint32_t team_id, uint32_t rank);
// The same if that member's is in use, else NULL: for answers, which may come after the team has
// ended here.
std::shared_ptr<Mailbox> known_mailbox(uint32_t team_id, uint32_t rank);
void forget_mailbox(uint32_t team_id, uint32_t rank);

}  // namespace causeway
