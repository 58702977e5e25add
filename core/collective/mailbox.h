// Mailbox: where messages for one member of one team arrive, also before that member has made its
// side of the team.
//
// A mailbox comes into being with the member's side of the team or with the first message for it,
// whichever is first, and lasts until the team's number is released here (team_ids.h). Messages may
// come later than that: a member does not wait for posts that it does not look at, and the news
// that all members have ended the team may be faster than a post.
// Invariant: a mailbox exists only under a number that is in use. Making one and looking at the
// number are one step under the mutex of the mailboxes, and a thread that releases a number sweeps
// under that mutex afterwards. So a late message finds no mailbox and makes none, and since a
// number is used once, no later team finds its words.
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
  TeamRuns* team = nullptr;  // NULL: not made yet here, or ended
  std::vector<EarlySignal> early;
};

// The mailbox of that member, made if need be; NULL when the team has ended here. Any thread.
std::shared_ptr<Mailbox> mailbox(uint32_t team_id, uint32_t rank);
// The same if there is one already, else NULL: for answers.
std::shared_ptr<Mailbox> known_mailbox(uint32_t team_id, uint32_t rank);
// Ends the mailboxes under the number unless it is in use.
void sweep_mailboxes(uint32_t team_id);

}  // namespace causeway
