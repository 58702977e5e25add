#include "collective/mailbox.h"

#include <map>
#include <mutex>
#include <utility>

#include "object/team_ids.h"

namespace causeway {
namespace {

using MailboxKey = std::pair<uint32_t, uint32_t>;  // number of the team, rank in it

// Taken before the mutex of the numbers.
std::mutex g_mailbox_mutex;
std::map<MailboxKey, std::shared_ptr<Mailbox>> g_mailboxes;

}  // namespace

std::shared_ptr<Mailbox> mailbox(uint32_t team_id, uint32_t rank) {
  const std::lock_guard lock(g_mailbox_mutex);
  const auto found = g_mailboxes.find({team_id, rank});
  if (found != g_mailboxes.end()) return found->second;
  if (!team_ids::in_use(team_id)) return nullptr;
  return g_mailboxes[{team_id, rank}] = std::make_shared<Mailbox>();
}

std::shared_ptr<Mailbox> known_mailbox(uint32_t team_id, uint32_t rank) {
  const std::lock_guard lock(g_mailbox_mutex);
  const auto found = g_mailboxes.find({team_id, rank});
  return found != g_mailboxes.end() ? found->second : nullptr;
}

void sweep_mailboxes(uint32_t team_id) {
  const std::lock_guard lock(g_mailbox_mutex);
  if (team_ids::in_use(team_id)) return;
  g_mailboxes.erase(g_mailboxes.lower_bound({team_id, 0}),
                    g_mailboxes.upper_bound({team_id, UINT32_MAX}));
}

}  // namespace causeway
