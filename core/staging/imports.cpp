#include "staging/imports.h"

#include <map>
#include <mutex>
#include <vector>

#include "am/arguments.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/log.h"
#include "kinds/device.h"
#include "loader/one_line.h"
#include "object/endpoint.h"
#include "progress/hints.h"
#include "progress/poll.h"
#include "progress/waiter.h"
#include "staging/remote.h"
#include "thread/thread_state.h"

namespace causeway {

constinit RankPredicate* has_departed = nullptr;

namespace {

// A peer that makes no call answers nobody. The owner goes on after this long: what a program does
// between two calls is not the library's to bound, and a destroyed segment may be one that nobody
// will use again.
constexpr uint64_t kPatienceNs = 2'000'000'000;
// Polls before the first look, because a peer's message may lie in another queue than later news of
// the client's.
constexpr int kLooks = 32;

enum class Word : int32_t { opened, closed, let_go };

struct Message {
  uint32_t rank;
  uint32_t epoch;  // of the process that it is for
  Word word;
  uint64_t segment;
};

// Guards everything below. Never held while something is sent, a driver is called or a share is
// given up. The lists are not destroyed at exit: polls look to the very end.
std::mutex g_imports_mutex;
auto& g_unsent = *new std::vector<Message>;
auto& g_known = *new std::vector<RemoteDevice*>;
// A segment of this process whose handle was given away, until it has been asked back.
struct Export {
  // By rank: mappings opened less those closed. Messages may overtake each other, so it may be
  // negative for a moment.
  std::map<uint32_t, int> openers;
  bool recalled = false;
};
auto& g_exports = *new std::map<uint64_t, Export>;

// The rank has been met: its messages came here, or this process told it something. Meeting it with
// g_imports_mutex held would be wrong.
Peer& peer_of(uint32_t rank) {
  return context().base_endpoint().peer(rank);
}

Message message_to(uint32_t rank, Word word, uint64_t segment) {
  return {rank, peer_of(rank).epoch.load(std::memory_order_acquire), word, segment};
}

void say_later(const Message& m) {
  g_unsent.push_back(m);
  emulations_waiting.fetch_add(1, std::memory_order_relaxed);
}

// True when it is done with: sent, or for a process that is no more.
bool send(const Message& m) {
  Peer& to = peer_of(m.rank);
  if (to.epoch.load(std::memory_order_acquire) != m.epoch) return true;
  return try_send_internal(to, Internal::device_import, handler_args(m.word, m.segment)) !=
         CWY_RETRY;
}

// Under g_imports_mutex. Nobody waits any more for mappings of a segment that is not there.
void count_opener(uint32_t from, uint64_t segment, int change) {
  const auto found = g_exports.find(segment);
  const bool goes = found == g_exports.end() || found->second.recalled;
  if (goes && change > 0) say_later(message_to(from, Word::let_go, segment));
  if (found == g_exports.end()) return;
  std::map<uint32_t, int>& openers = found->second.openers;
  if ((openers[from] += change) == 0) openers.erase(from);
}

// From a handler. The shares are given up without the mutex: the last one closes the mapping.
void let_go(uint32_t rank, uint64_t segment) {
  std::vector<std::shared_ptr<Import>> shares;
  const std::lock_guard lock(g_imports_mutex);
  for (RemoteDevice* known : g_known)
    if (known->is(rank, segment)) shares.push_back(known->let_go());
}

// The ranks that still have the segment open and can answer.
std::vector<uint32_t> openers_of(uint64_t segment) {
  std::vector<uint32_t> ranks;
  {
    const std::lock_guard lock(g_imports_mutex);
    for (const auto& [rank, count] : g_exports[segment].openers) ranks.push_back(rank);
  }
  std::erase_if(ranks, [](uint32_t rank) { return has_departed(rank); });
  return ranks;
}

}  // namespace

Import::Import(uint32_t rank, uint64_t segment, std::shared_ptr<Device> device,
               const cwy_memref& handle)
    : rank_(rank), segment_(segment), device_(std::move(device)) {
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  void* address = nullptr;
  const cwy_status status =
      device_->module().import_mem(device_->kind(), &handle, &import_, &address, &err);
  if (status != CWY_OK) throw Error(status, "{}", reason(err, status));
  delta_ = reinterpret_cast<intptr_t>(address) - static_cast<intptr_t>(handle.addr);
}

Import::~Import() {
  device_->module().import_close(device_->kind(), import_);
  const std::lock_guard lock(g_imports_mutex);
  say_later(message_to(rank_, Word::closed, segment_));
}

// At once where that is allowed: before the client can tell the owner that the memory may go.
void Import::tell_owner() const {
  const Message m = message_to(rank_, Word::opened, segment_);
  const ThreadState& thread = thread_state();
  if (thread.context == Context::client && !thread.polls() && send(m)) return;
  const std::lock_guard lock(g_imports_mutex);
  say_later(m);
}

void enter_imports(RemoteDevice& known) {
  const std::lock_guard lock(g_imports_mutex);
  g_known.push_back(&known);
}

void leave_imports(RemoteDevice& known) {
  const std::lock_guard lock(g_imports_mutex);
  std::erase(g_known, &known);
}

void note_export(uint64_t segment) {
  const std::lock_guard lock(g_imports_mutex);
  g_exports.try_emplace(segment);
}

void recall_imports(uint64_t segment, const char* call) {
  {
    const std::lock_guard lock(g_imports_mutex);
    if (!g_exports.contains(segment)) return;
  }
  for (int i = 0; i < kLooks; ++i) poll_once();
  {
    const std::lock_guard lock(g_imports_mutex);
    Export& exported = g_exports[segment];
    exported.recalled = true;  // a late opener is asked when it says so
    for (const auto& [rank, count] : exported.openers)
      say_later(message_to(rank, Word::let_go, segment));
  }
  std::vector<uint32_t> openers = openers_of(segment);
  const uint64_t limit = now_ns() + kPatienceNs;
  WaiterFor waiter({"the end of a device segment that other ranks have open"});
  while (!openers.empty() && now_ns() < limit) {
    waiter.step();
    openers = openers_of(segment);
  }
  for (const uint32_t rank : openers) {
    log_warn(
        "{}: rank {} has the device memory open, and has made no call of the library for {} s that "
        "would close it; going on without it",
        call, rank, kPatienceNs / 1'000'000'000);
  }
  const std::lock_guard lock(g_imports_mutex);
  g_exports.erase(segment);
}

void forget_imports(uint32_t rank) {
  const std::lock_guard lock(g_imports_mutex);
  for (auto& [segment, exported] : g_exports) exported.openers.erase(rank);
}

void on_device_import(Peer& from, const int32_t* args, unsigned nargs, void*, size_t) {
  if (nargs != 3) return;
  const uint64_t segment = join_halves(args[1], args[2]);
  if (static_cast<Word>(args[0]) == Word::let_go) return let_go(from.rank, segment);
  const std::lock_guard lock(g_imports_mutex);
  count_opener(from.rank, segment, static_cast<Word>(args[0]) == Word::opened ? 1 : -1);
}

uint32_t push_imports() {
  std::vector<Message> unsent;
  {
    const std::lock_guard lock(g_imports_mutex);
    if (g_unsent.empty()) return 0;
    unsent.swap(g_unsent);
  }
  const auto sent = static_cast<uint32_t>(std::erase_if(unsent, send));
  emulations_waiting.fetch_sub(sent, std::memory_order_relaxed);
  const std::lock_guard lock(g_imports_mutex);
  g_unsent.insert(g_unsent.begin(), unsent.begin(), unsent.end());
  return sent;
}

}  // namespace causeway
