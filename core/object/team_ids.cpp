#include "object/team_ids.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace causeway::team_ids {
namespace {

struct Use {
  uint64_t tag = 0;
  uint32_t members = 0;
  std::vector<Team*> going;  // by collect()
};

// The handles that a builder left for other callers: not part of a Use, which may end first.
struct Deposit {
  std::vector<gex_TM_t> members;
  uint32_t readers = 0;
};

std::mutex g_team_ids_mutex;
std::map<uint32_t, Use> g_uses;
std::map<std::pair<uint32_t, uint64_t>, Deposit> g_deposits;  // by number and tag
uint32_t g_next = kFirst + 1;
uint32_t g_least = kFirst + 1;  // above all numbers that were released

}  // namespace

uint32_t next() {
  const std::lock_guard lock(g_team_ids_mutex);
  return g_next;
}

void raise(uint32_t id) {
  const std::lock_guard lock(g_team_ids_mutex);
  g_next = std::max(g_next, id);
}

bool claim(uint32_t id, uint64_t tag) {
  const std::lock_guard lock(g_team_ids_mutex);
  if (id < g_least && g_uses.find(id) == g_uses.end()) return false;
  const auto [use, fresh] = g_uses.try_emplace(id);
  if (!fresh && use->second.tag != tag) return false;
  use->second.tag = tag;
  ++use->second.members;
  g_next = std::max(g_next, id + 1);
  return true;
}

void release(uint32_t id) {
  const std::lock_guard lock(g_team_ids_mutex);
  const auto use = g_uses.find(id);
  if (use == g_uses.end() || --use->second.members != 0) return;
  g_uses.erase(use);
  g_least = std::max(g_least, id + 1);
}

bool in_use(uint32_t id) {
  if (id <= kFirst) return true;
  const std::lock_guard lock(g_team_ids_mutex);
  return g_uses.find(id) != g_uses.end();
}

void deposit(uint32_t id, uint64_t tag, std::vector<gex_TM_t> members, uint32_t readers) {
  const std::lock_guard lock(g_team_ids_mutex);
  g_deposits[{id, tag}] = {std::move(members), readers};
}

std::vector<gex_TM_t> take(uint32_t id, uint64_t tag) {
  const std::lock_guard lock(g_team_ids_mutex);
  const auto found = g_deposits.find({id, tag});
  if (found == g_deposits.end()) return {};
  std::vector<gex_TM_t> members = found->second.members;
  if (--found->second.readers == 0) g_deposits.erase(found);
  return members;
}

std::vector<Team*> collect(uint32_t id, Team* member, uint32_t locals) {
  const std::lock_guard lock(g_team_ids_mutex);
  std::vector<Team*>& going = g_uses[id].going;
  going.push_back(member);
  if (going.size() < locals) return {};
  return std::move(going);
}

}  // namespace causeway::team_ids
