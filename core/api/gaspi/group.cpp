#include "api/gaspi/group.h"

#include <algorithm>
#include <cstring>

#include "api/gaspi/control_queue.h"
#include "api/gaspi/world.h"
#include "process/runtime.h"

namespace causeway::gaspi {
namespace {

constexpr unsigned kMostGroups = 255;

[[noreturn]] void refuse_group(unsigned group) {
  refuse(GASPI_ERR_INV_GROUP, "there is no group {}", group);
}

uint64_t mixed(uint64_t h, uint64_t value) {
  h ^= value + 0x9E3779B97F4A7C15ull + (h << 6) + (h >> 2);
  h *= 0xBF58476D1CE4E5B9ull;
  return h ^ (h >> 31);
}

uint64_t key_of(const std::vector<gaspi_rank_t>& ranks) {
  uint64_t h = mixed(0, ranks.size());
  for (const gaspi_rank_t r : ranks) h = mixed(h, r + 1u);
  return h;
}

uint64_t step_number(const Group& group, Kind kind, uint32_t step) {
  const uint64_t sequence = group.sequence[static_cast<size_t>(kind)];
  return static_cast<uint64_t>(kind) << 56 | static_cast<uint64_t>(step) << 32 | sequence;
}

}  // namespace

// ---- the table ----

void Groups::make_all(bool committed) {
  auto all = std::make_shared<Group>();
  for (uint32_t r = 0; r < world_.size; ++r) all->ranks.push_back(static_cast<gaspi_rank_t>(r));
  all->index = world_.rank;
  if (committed) {
    // All ranks are members from the start and know it, so none of them has to be asked.
    all->committed = true;
    all->key = key_of(all->ranks);
    all->uid = mixed(all->key, 0);
    note_members(*all);
  }
  const std::lock_guard lock(table_mutex_);
  groups_[GASPI_GROUP_ALL] = std::move(all);
}

unsigned Groups::create() {
  const std::lock_guard lock(table_mutex_);
  unsigned id = 1;
  while (groups_.count(id) != 0) ++id;
  if (groups_.size() >= world_.config.group_max || id >= kMostGroups)
    refuse(GASPI_ERR_MANY_GRP, "there are {} groups, group_max", groups_.size());
  groups_[id] = std::make_shared<Group>();
  return id;
}

std::shared_ptr<Group> Groups::find(unsigned group) {
  const std::lock_guard lock(table_mutex_);
  const auto found = groups_.find(group);
  return found == groups_.end() ? nullptr : found->second;
}

std::shared_ptr<Group> Groups::at(unsigned group) {
  const std::lock_guard lock(table_mutex_);
  const auto found = groups_.find(group);
  if (found == groups_.end()) refuse_group(group);
  return found->second;
}

uint32_t Groups::count() {
  const std::lock_guard lock(table_mutex_);
  return static_cast<uint32_t>(groups_.size());
}

gaspi_return_t Groups::add(unsigned group, uint32_t rank) {
  const std::shared_ptr<Group> g = find(group);
  if (g == nullptr || g->committed || g->joining) return GASPI_ERR_INV_GROUP;
  const auto value = static_cast<gaspi_rank_t>(rank);
  const auto at = std::ranges::lower_bound(g->ranks, value);
  if (at != g->ranks.end() && *at == value) return GASPI_ERR_INV_RANK;
  g->ranks.insert(at, value);
  return GASPI_SUCCESS;
}

void Groups::remove(unsigned group) {
  std::shared_ptr<Group> g;
  {
    const std::lock_guard lock(table_mutex_);
    const auto taken = groups_.extract(group);
    if (taken.empty()) refuse_group(group);
    g = taken.mapped();
  }
  // Others may commit the same ranks again: what this rank has proposed must not be taken for that.
  if (g->joining) take_back(*g);
  if (!g->committed) return;
  const std::lock_guard lock(messages_mutex_);
  const StepKey first{g->uid, 0, 0};
  steps_.erase(steps_.lower_bound(first), steps_.lower_bound({g->uid + 1, 0, 0}));
}

void Groups::note_members(Group& group) const {
  // Acquire, and before the members: who is lost meanwhile is found to be lost.
  group.losses = world_.losses.load(std::memory_order_acquire);
  group.epochs.clear();
  for (const gaspi_rank_t r : group.ranks) group.epochs.push_back(world_.epoch(r));
}

// A member that was lost and replaced is lost for the group all the same, until that is committed
// again (6.1).
gaspi_return_t Groups::unless_lost(const Group& group) const {
  // Acquire: pairs with lose_rank().
  if (world_.losses.load(std::memory_order_acquire) == 0) return GASPI_TIMEOUT;
  for (size_t i = 0; i < group.ranks.size(); ++i) {
    const gaspi_rank_t r = group.ranks[i];
    if (!world_.is_corrupt(r) && world_.epoch(r) == group.epochs[i]) continue;
    note_told(world_);
    return GASPI_ERROR;
  }
  return GASPI_TIMEOUT;
}

// The member with this index has not sent a step. Our launcher reports deaths; under another
// launcher an attempt to connect shows whether the member is gone.
gaspi_return_t Groups::still_waiting(const Group& group, uint32_t index) {
  const gaspi_return_t lost = unless_lost(group);
  if (lost == GASPI_ERROR || runtime().bootstrap().own_launcher()) return lost;
  const gaspi_return_t connected = try_connect(world_, group.ranks[index]);
  return connected == GASPI_ERROR ? GASPI_ERROR : GASPI_TIMEOUT;
}

// ---- control messages ----

void Groups::on_control_message(uint32_t from, ControlMessage message, const Header& header,
                                std::string& text) {
  const std::lock_guard lock(messages_mutex_);
  switch (message) {
    case ControlMessage::join:
      joins_[header.a][from].push_back(header.b);
      break;
    case ControlMessage::leave:
      withdraw_join(header.a, from, header.b);
      break;
    case ControlMessage::commit:
      if (const auto asked = commits_.find({header.a, header.c}); asked != commits_.end())
        asked->second = header.b;
      break;
    default:
      steps_[{header.a, header.b, from}] = std::move(text);
  }
}

// Control messages keep their order: a proposal that is not there has been answered. The mutex is
// held.
void Groups::withdraw_join(uint64_t key, uint32_t rank, uint64_t proposed) {
  const auto joined = joins_.find(key);
  if (joined == joins_.end()) return;
  const auto of_rank = joined->second.find(rank);
  if (of_rank == joined->second.end()) return;
  std::erase(of_rank->second, proposed);
  if (of_rank->second.empty()) joined->second.erase(of_rank);
}

// The first proposals of all members, taken together, are a group; its number is the largest, which
// none of theirs before had. The mutex is held.
void Groups::answer_joins(const Group& g) {
  auto& joined = joins_[g.key];
  while (joined.size() == g.ranks.size()) {
    uint64_t generation = 0;
    for (const auto& [rank, proposals] : joined)
      generation = std::max(generation, proposals.front());
    for (const auto& [rank, proposals] : joined)
      post(world_, rank, ControlMessage::commit, {g.key, generation, proposals.front()});
    for (auto of_rank = joined.begin(); of_rank != joined.end();) {
      of_rank->second.pop_front();
      of_rank = of_rank->second.empty() ? joined.erase(of_rank) : std::next(of_rank);
    }
  }
  if (joined.empty()) joins_.erase(g.key);
}

// Steps that the lost member has sent stay: a collective may wait for nothing else.
void Groups::forget(uint32_t rank) {
  const std::lock_guard lock(messages_mutex_);
  for (auto& [key, joined] : joins_) joined.erase(rank);
}

void Groups::send_step(const Group& group, Kind kind, uint32_t step, uint32_t to_index,
                       std::string text) {
  post(world_, group.ranks[to_index], ControlMessage::step,
       {group.uid, step_number(group, kind, step)}, std::move(text));
}

bool Groups::take_step(const Group& group, Kind kind, uint32_t step, uint32_t from_index,
                       std::string* text) {
  const std::lock_guard lock(messages_mutex_);
  const auto found =
      steps_.find({group.uid, step_number(group, kind, step), group.ranks[from_index]});
  if (found == steps_.end()) return false;
  if (text != nullptr) *text = std::move(found->second);
  steps_.erase(found);
  return true;
}

// ---- commit ----

gaspi_return_t Groups::commit(Group& g) {
  const gaspi_return_t result = try_commit(g);
  // The next attempt begins anew, perhaps with another process in the place of a lost one.
  if (result == GASPI_ERROR && g.joining) take_back(g);
  if (result == GASPI_SUCCESS) world_.control->flush();
  return result;
}

// The commit under way is given up.
void Groups::take_back(Group& g) {
  g.joining = false;
  {
    const std::lock_guard lock(messages_mutex_);
    commits_.erase({g.key, g.proposed});
  }
  post(world_, g.ranks.front(), ControlMessage::leave, {g.key, g.proposed});
}

gaspi_return_t Groups::try_commit(Group& g) {
  const auto own = std::ranges::find(g.ranks, world_.rank);
  if (own == g.ranks.end()) return GASPI_ERR_INV_GROUP;
  g.index = static_cast<uint32_t>(own - g.ranks.begin());
  for (const gaspi_rank_t r : g.ranks) {
    const gaspi_return_t connected = r == world_.rank ? GASPI_SUCCESS : try_connect(world_, r);
    if (connected != GASPI_SUCCESS) return connected;
  }
  if (!g.joining) {
    g.joining = true;
    g.committed = false;
    g.key = key_of(g.ranks);
    note_members(g);
    {
      const std::lock_guard lock(messages_mutex_);
      g.proposed = ++generations_[g.key];
      commits_[{g.key, g.proposed}] = 0;
    }
    post(world_, g.ranks.front(), ControlMessage::join, {g.key, g.proposed});
  }
  const std::lock_guard lock(messages_mutex_);
  if (g.index == 0) answer_joins(g);
  const auto answer = commits_.find({g.key, g.proposed});
  if (answer->second == 0) return unless_lost(g);
  // Another group of the same members may have proposed more by now.
  uint64_t& last = generations_[g.key];
  last = std::max(last, answer->second);
  g.uid = mixed(g.key, answer->second);
  commits_.erase(answer);
  g.sequence = {};
  g.barrier = g.creation = Barrier{};
  g.reduction = Reduction{};
  g.joining = false;
  g.committed = true;
  return GASPI_SUCCESS;
}

// ---- collectives ----
//
// A member that is done may compute, or stop, for as long as it likes: what others wait for has
// left before it returns.

gaspi_return_t Groups::barrier(Group& g, Kind kind, Barrier& b) {
  if (!b.active) {
    if (unless_lost(g) == GASPI_ERROR) return GASPI_ERROR;
    b = Barrier{true, false, 0};
  }
  for (uint32_t distance = 1u << b.round; distance < g.size(); distance = 1u << b.round) {
    if (!b.told) {
      send_step(g, kind, b.round, (g.index + distance) % g.size());
      b.told = true;
    }
    const uint32_t behind = (g.index + g.size() - distance) % g.size();
    if (!take_step(g, kind, b.round, behind)) return still_waiting(g, behind);
    ++b.round;
    b.told = false;
  }
  b.active = false;
  ++g.sequence[static_cast<size_t>(kind)];
  world_.control->flush();
  return GASPI_SUCCESS;
}

// ---- creations of segments ----

// The number of a step that no barrier has: the creation has failed at the sender.
constexpr uint32_t kFailed = 0xFFFFFF;

// Every member counts every creation once, whatever came of it.
void Groups::end_creation(Group& g) {
  g.creation = Barrier{};
  ++g.sequence[static_cast<size_t>(Kind::creation)];
}

void Groups::fail_creation(Group& g) {
  for (uint32_t i = 0; i < g.size(); ++i)
    if (i != g.index) send_step(g, Kind::creation, kFailed, i);
  end_creation(g);
}

bool Groups::creation_failed(Group& g) {
  const uint64_t now = step_number(g, Kind::creation, kFailed);
  const uint64_t first = now & ~uint64_t{UINT32_MAX};  // of earlier ones, which failed here too
  const std::lock_guard lock(messages_mutex_);
  const auto since = steps_.lower_bound({g.uid, now, 0});
  const auto end = steps_.lower_bound({g.uid, now + 1, 0});
  const bool failed = since != end;
  steps_.erase(steps_.lower_bound({g.uid, first, 0}), end);
  if (failed) end_creation(g);
  return failed;
}

// Children of index i: i + 2^k for the 2^k below its lowest set bit; the root's: all.
gaspi_return_t Groups::hear_children(Group& g, Reduction& r, size_t bytes, const Combine& combine,
                                     Deadline& deadline) {
  for (; r.bit < g.size() && (g.index & r.bit) == 0; r.bit <<= 1) {
    if (g.index + r.bit >= g.size()) continue;
    const uint32_t child = g.index + r.bit;
    if (r.other.empty() && !take_step(g, Kind::allreduce, r.bit, child, &r.other))
      return still_waiting(g, child);
    if (r.other.size() != bytes) return GASPI_ERR_INV_NUM;  // members disagree
    r.result.resize(bytes);
    const gaspi_return_t combined =
        combine(r.value.data(), r.other.data(), r.result.data(), r.done, deadline.left());
    if (combined != GASPI_SUCCESS) return combined;
    r.value.swap(r.result);
    r.other.clear();
    r.done = 0;
  }
  return GASPI_SUCCESS;
}

gaspi_return_t Groups::reduce(Group& g, const void* send, void* receive, size_t bytes,
                              const Combine& combine, Deadline& deadline) {
  Reduction& r = g.reduction;
  constexpr uint32_t kDown = 0;
  if (!r.active) {
    if (unless_lost(g) == GASPI_ERROR) return GASPI_ERROR;
    r = Reduction{};
    r.active = true;
    r.value.assign(static_cast<const char*>(send), bytes);
    r.bytes = bytes;
  }
  if (r.bytes != bytes) return GASPI_ERR_ACTIVE_COLL;  // another one than the one under way
  const uint32_t parent = g.index & (g.index - 1);
  if (r.phase == Reduction::Phase::up) {
    const gaspi_return_t heard = hear_children(g, r, bytes, combine, deadline);
    if (heard != GASPI_SUCCESS) return heard;
    if (g.index != 0) send_step(g, Kind::allreduce, g.index & -g.index, parent, r.value);
    r.phase = Reduction::Phase::down;
  }
  if (g.index != 0 && !take_step(g, Kind::allreduce, kDown, parent, &r.value))
    return still_waiting(g, parent);
  if (r.value.size() != bytes) return GASPI_ERR_INV_NUM;
  for (uint32_t bit = 1; bit < g.size() && (g.index & bit) == 0; bit <<= 1)
    if (g.index + bit < g.size()) send_step(g, Kind::allreduce, kDown, g.index + bit, r.value);
  if (bytes != 0) std::memcpy(receive, r.value.data(), bytes);
  r = Reduction{};
  ++g.sequence[static_cast<size_t>(Kind::allreduce)];
  world_.control->flush();
  return GASPI_SUCCESS;
}

}  // namespace causeway::gaspi
