#include "collective/mailbox.h"

#include <mutex>
#include <unordered_map>

namespace causeway {
namespace {

std::mutex g_mutex;
std::unordered_map<uint64_t, std::shared_ptr<Mailbox>> g_mailboxes;

uint64_t key(uint32_t team_id, uint32_t rank) {
  return static_cast<uint64_t>(team_id) << 32 | rank;
}

}  // namespace

std::shared_ptr<Mailbox> mailbox(uint32_t team_id, uint32_t rank) {
  const std::lock_guard lock(g_mutex);
  auto& slot = g_mailboxes[key(team_id, rank)];
  if (slot == nullptr) slot = std::make_shared<Mailbox>();
  return slot;
}

std::shared_ptr<Mailbox> known_mailbox(uint32_t team_id, uint32_t rank) {
  const std::lock_guard lock(g_mutex);
  const auto found = g_mailboxes.find(key(team_id, rank));
  return found != g_mailboxes.end() ? found->second : nullptr;
}

void forget_mailbox(uint32_t team_id, uint32_t rank) {
  const std::lock_guard lock(g_mutex);
  g_mailboxes.erase(key(team_id, rank));
}

}  // namespace causeway
