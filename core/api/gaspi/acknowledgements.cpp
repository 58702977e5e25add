#include "api/gaspi/acknowledgements.h"

#include <algorithm>
#include <utility>

#include "am/internal.h"
#include "api/gaspi/messages.h"
#include "api/gaspi/world.h"

namespace causeway::gaspi {

// Drops acknowledgements that belong to an earlier process of the rank.
Acknowledgements::Row& Acknowledgements::row_for(const World& world, uint32_t rank) {
  auto& row = rows_[rank];
  if (row == nullptr) {
    row = std::make_unique<Row>();
    row->cookies.reserve(kMost);
  }
  if (const uint32_t now = world.epoch(rank); __builtin_expect(row->epoch != now, 0)) {
    row->cookies.clear();
    row->epoch = now;
  }
  return *row;
}

void Acknowledgements::add(Row& row, uint32_t rank, uint64_t cookie) {
  if (row.cookies.empty()) {
    const bool first = list_.empty() && row.waits;
    if (first) first_.store(true, std::memory_order_relaxed);
    row.fresh = !first;
  }
  row.cookies.push_back(cookie);
  if (std::exchange(row.listed, true)) return;
  list_.push_back(rank);
  listed_.store(list_.size(), std::memory_order_relaxed);
}

Acknowledgements::Load Acknowledgements::take_from(Row& row, int32_t* args, unsigned room) {
  const unsigned n = std::min(room / 2, static_cast<unsigned>(row.cookies.size()));
  for (unsigned i = 0; i < n; ++i) {
    const uint64_t cookie = row.cookies.back();
    row.cookies.pop_back();
    args[2 * i] = low_half(cookie);
    args[2 * i + 1] = high_half(cookie);
  }
  return {2 * n, row.epoch};
}

void Acknowledgements::owe(const World& world, Peer& from, uint64_t cookie) {
  int32_t args[CWYC_AM_MAX_ARGS] = {static_cast<int32_t>(Message::done), low_half(cookie),
                                    high_half(cookie)};
  Load load{2, 0};
  if (may_wait_.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(mutex_);
    Row& row = row_for(world, from.rank);
    add(row, from.rank, cookie);
    if (row.cookies.size() < kMost) return;
    load = take_from(row, args + 1, kMostArgs);
  }
  reply_internal(from, Internal::interface, args, 1 + load.nargs, nullptr, 0);
}

Acknowledgements::Load Acknowledgements::take_some(const World& world, uint32_t rank, int32_t* args,
                                                   unsigned room) {
  const std::lock_guard lock(mutex_);
  Row& row = row_for(world, rank);
  if (std::exchange(row.answered, false)) row.waits = true;
  return take_from(row, args, room);
}

void Acknowledgements::put_back(const World& world, uint32_t rank, const int32_t* args,
                                const Load& load) {
  const std::lock_guard lock(mutex_);
  Row& row = row_for(world, rank);
  if (row.epoch != load.epoch) return;
  for (unsigned i = 0; i < load.nargs; i += 2) add(row, rank, join_halves(args[i], args[i + 1]));
}

// Puts the ranks whose acknowledgements are to be sent now at `ranks`, and returns how many these
// are. Rows that need no poll any more leave the list.
unsigned Acknowledgements::due(const World& world, uint32_t (&ranks)[kAtOnce]) {
  unsigned n = 0;
  const std::lock_guard lock(mutex_);
  std::erase_if(list_, [&](uint32_t rank) {
    if (n == kAtOnce) return false;
    Row& row = row_for(world, rank);
    const bool empty = row.cookies.empty();
    if ((row.waits || empty) && std::exchange(row.fresh, false)) return false;
    if (!empty) {
      row.waits = false;
      row.answered = row.fresh = true;
      ranks[n++] = rank;
      return false;
    }
    row.answered = row.listed = false;
    return true;
  });
  listed_.store(list_.size(), std::memory_order_relaxed);
  return n;
}

// False: nothing more can be sent now.
bool Acknowledgements::send_some(World& world, uint32_t rank) {
  int32_t args[CWYC_AM_MAX_ARGS] = {static_cast<int32_t>(Message::done)};
  Load load;
  {
    const std::lock_guard lock(mutex_);
    load = take_from(row_for(world, rank), args + 1, kMostArgs);
  }
  if (load.nargs == 0) return false;
  const cwy_status status = try_send_internal(world.peer(rank), Internal::interface, args,
                                              1 + load.nargs, nullptr, 0, false);
  if (status == CWY_RETRY) give_back(world, rank, args + 1, load);
  return status == CWY_OK;
}

uint32_t Acknowledgements::send_due(World& world) {
  uint32_t ranks[kAtOnce];
  const unsigned n = due(world, ranks);
  uint32_t sent = 0;
  for (unsigned i = 0; i < n; ++i) {
    if (try_connect(world, ranks[i]) != GASPI_SUCCESS) continue;
    while (send_some(world, ranks[i])) ++sent;
  }
  return sent;
}

bool Acknowledgements::none() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() &&
         std::ranges::all_of(list_, [this](uint32_t rank) { return rows_[rank]->cookies.empty(); });
}

void Acknowledgements::forget(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  if (rows_[rank] != nullptr) rows_[rank]->cookies.clear();
}

}  // namespace causeway::gaspi
