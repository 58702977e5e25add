#include "staging/staging_service.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "am/arguments.h"
#include "am/peer_memory.h"
#include "base/context.h"
#include "base/fatal.h"
#include "kinds/places.h"
#include "object/endpoint.h"
#include "object/mappings.h"
#include "object/segment.h"
#include "progress/hints.h"
#include "rma/unanswered.h"
#include "staging/bounce.h"
#include "staging/pins.h"
#include "staging/staged_transfer.h"

namespace causeway {
namespace {

constexpr const char* kStagedTransfer = "staged transfer";

// Bytes of one copy to or from memory that needs no bounce buffer: as much as the device takes at
// once, and still not all of a long transfer, so that other transfers have their turn.
constexpr uint64_t kStraight = 32 << 20;

// A transfer that a peer asked for. The transfer outlives the client's segment and kind where the
// peer knows that all bytes have arrived and this side does not know that yet: nothing is left to
// copy then, and the bounce buffers are in a pool that the transfer owns a share of.
//
// Access: everything belongs to the thread that moves staged transfers, but for the `step` of a
// chunk. While the step is `theirs` the handler of the peer's message advances the step, and while
// a copy is under way the copy's report does; each once, with release.
class ServedTransfer {
 public:
  // `there`: the other end, mapped here; NULL: the bytes go through bounce buffers.
  ServedTransfer(Peer& peer, bool put, uint32_t cookie, uint64_t raddr, uint64_t length,
                 uint64_t piece, uint32_t known_arena, Device& device, char* there)
      : peer_(peer),
        put_(put),
        cookie_(cookie),
        raddr_(raddr),
        length_(length),
        known_arena_(known_arena),
        device_(device.weak_from_this()),
        there_(there),
        pool_(there == nullptr ? device.peer_bounces(!put) : nullptr),
        piece_(there != nullptr ? kStraight : std::min<uint64_t>(piece, device.policy().chunk)),
        chunks_(device.policy().depth) {}

  uint32_t number = 0;
  const Peer& peer() const { return peer_; }
  void advance(uint32_t& moved);
  bool finished() const { return done_ == length_ || gone_; }
  // The peer is lost, or has given the transfer up. Relaxed: it writes nothing any more, so nothing
  // is passed on.
  void lose_peer() { peer_is_gone_.store(true, std::memory_order_relaxed); }
  bool copies_to_peer() const {
    return there_ != nullptr &&
           std::ranges::any_of(chunks_, [](const ServedChunk& b) { return b.copying(); });
  }
  // From a handler: the peer has filled the buffer with that number, or emptied it.
  void given_back(uint32_t buffer) {
    if (buffer >= chunks_.size() ||
        chunks_[buffer].step.load(std::memory_order_acquire) != (put_ ? put_theirs : get_theirs))
      fatal(kStagedTransfer, "rank {} names a buffer that it was not given", peer_.rank);
    chunks_[buffer].step.store(put_ ? put_filled : get_taken, std::memory_order_release);
  }

 private:
  struct ServedChunk : Chunk {
    char* buffer = nullptr;
    bool copying() const {
      const uint32_t now = step.load(std::memory_order_acquire);
      return now == put_copying || now == get_copying;
    }
  };
  enum Step : uint32_t {
    empty,
    // of a put
    put_free,
    put_theirs,
    put_filled,
    put_copying,
    put_copied,
    // of a get
    get_free,
    get_copying,
    get_copied,
    get_theirs,
    get_taken
  };
  bool push(ServedChunk& chunk, uint32_t& moved);
  std::shared_ptr<Device> device();
  bool take_buffer(ServedChunk& chunk);
  void give_buffer(const ServedChunk& chunk);
  bool copy(ServedChunk& chunk, Step copying, Step before);
  bool grant(const ServedChunk& chunk);
  template <size_t Count>
  bool send(const std::array<int32_t, Count>& args, const std::string& payload);
  bool leave();
  bool report_copied(const ServedChunk& chunk);
  bool settle(ServedChunk& chunk, uint32_t& moved);

  Peer& peer_;
  const bool put_;
  const uint32_t cookie_;
  const uint64_t raddr_, length_;
  const uint32_t known_arena_;
  const std::weak_ptr<Device> device_;
  char* const there_;
  const std::shared_ptr<BouncePool> pool_;  // NULL: no bounce buffers
  const uint64_t piece_;
  uint64_t next_ = 0, done_ = 0;
  std::atomic<bool> peer_is_gone_{false};
  bool gone_ = false;
  std::vector<ServedChunk> chunks_;
};

// The device that copies. NULL: the segment was destroyed before the transfer was complete, which
// only the loss of the peer excuses.
std::shared_ptr<Device> ServedTransfer::device() {
  std::shared_ptr<Device> alive = device_.lock();
  if (alive != nullptr) return alive;
  if (!context().survives_failures()) {
    fatal(rma_call_name(put_),
          "rank {} uses [{:#x}, {:#x}), whose segment and memory kind were destroyed", peer_.rank,
          raddr_, raddr_ + length_);
  }
  lose_peer();
  return nullptr;
}

bool ServedTransfer::take_buffer(ServedChunk& chunk) {
  if (next_ == length_) return false;
  if (there_ != nullptr && next_ == 0) {
    const std::shared_ptr<Device> alive = device();
    if (alive == nullptr) return false;
    pin_for_copy(*alive, there_, length_);
  }
  chunk.buffer = there_ != nullptr ? there_ + next_ : pool_->take(peer_.rank);
  if (chunk.buffer == nullptr) return false;
  chunk.at = next_;
  chunk.bytes = std::min(piece_, length_ - next_);
  next_ += chunk.bytes;
  const Step filled = there_ != nullptr ? put_filled : put_free;
  chunk.step.store(put_ ? filled : get_free, std::memory_order_relaxed);
  return true;
}

void ServedTransfer::give_buffer(const ServedChunk& chunk) {
  if (there_ == nullptr) pool_->give(chunk.buffer);
}

bool ServedTransfer::copy(ServedChunk& chunk, Step copying, Step before) {
  const std::shared_ptr<Device> alive = device();
  if (alive == nullptr) return false;
  auto* const place = reinterpret_cast<char*>(raddr_ + chunk.at);
  chunk.step.store(copying, std::memory_order_relaxed);
  const cwy_status status =
      chunk.move(alive.get(), put_ ? place : chunk.buffer, put_ ? chunk.buffer : place);
  if (status != CWY_RETRY) return status == CWY_OK;
  chunk.step.store(before, std::memory_order_relaxed);
  return false;
}

bool ServedTransfer::grant(const ServedChunk& chunk) {
  const BouncePool::Arena arena = pool_->arena(chunk.buffer);
  return send(handler_args(StagingMessage::grant, cookie_, number,
                           static_cast<int32_t>(&chunk - chunks_.data()), arena.number,
                           chunk.buffer, chunk.at, static_cast<int32_t>(chunk.bytes)),
              known_arena_ == arena.number ? std::string() : arena.memory->pack());
}

bool ServedTransfer::report_copied(const ServedChunk& chunk) {
  return send(handler_args(StagingMessage::copied, cookie_, static_cast<int32_t>(chunk.bytes)), {});
}

// A process that survives its peers ends the transfers of lost ones.
template <size_t Count>
bool ServedTransfer::send(const std::array<int32_t, Count>& args, const std::string& payload) {
  const cwy_status status =
      try_send_internal(peer_, Internal::device_stage, args,
                        payload.empty() ? nullptr : payload.data(), payload.size());
  if (is_error(status) && status != CWY_RETRY) lose_peer();
  return status == CWY_OK;
}

// True when the device uses none of the buffers any more, which are free then.
bool ServedTransfer::leave() {
  for (const ServedChunk& chunk : chunks_)
    if (chunk.copying()) return false;
  for (const ServedChunk& chunk : chunks_)
    if (chunk.step.load(std::memory_order_relaxed) != empty) give_buffer(chunk);
  return true;
}

bool ServedTransfer::settle(ServedChunk& chunk, uint32_t& moved) {
  give_buffer(chunk);
  done_ += chunk.bytes;
  ++moved;
  chunk.step.store(empty, std::memory_order_relaxed);
  return true;
}

// The chunk's next step; false when the chunk has to wait.
bool ServedTransfer::push(ServedChunk& chunk, uint32_t& moved) {
  // Acquire: what the peer or the device wrote is there.
  switch (chunk.step.load(std::memory_order_acquire)) {
    case empty:
      return take_buffer(chunk);
    case get_copied:
      if (there_ != nullptr) return report_copied(chunk) && settle(chunk, moved);
      [[fallthrough]];
    case put_free: {
      // Before it is sent: the answer may come at once, to another thread.
      const auto before = chunk.step.load(std::memory_order_relaxed);
      chunk.step.store(put_ ? put_theirs : get_theirs, std::memory_order_relaxed);
      if (grant(chunk)) return false;
      chunk.step.store(before, std::memory_order_relaxed);
      return false;
    }
    case put_filled:
      return copy(chunk, put_copying, put_filled);
    case put_copied:
      return report_copied(chunk) && settle(chunk, moved);
    case get_free:
      return copy(chunk, get_copying, get_free);
    case get_taken:
      return settle(chunk, moved);
    default:
      return false;  // on its way
  }
}

void ServedTransfer::advance(uint32_t& moved) {
  if (peer_is_gone_.load(std::memory_order_relaxed)) {
    gone_ = leave();
    return;
  }
  for (ServedChunk& chunk : chunks_) {
    while (push(chunk, moved)) {
    }
  }
}

// Guards what handlers note for polls, and what they look up. Never held while something is sent.
// Not destroyed at exit: what is left knows other objects.
std::mutex g_staging_service_mutex;
auto& g_asked = *new std::vector<std::unique_ptr<ServedTransfer>>;
std::map<uint32_t, ServedTransfer*> g_transfers;
std::map<uint32_t, StagingClient*> g_clients;
uint32_t g_numbers = 0;

// Belongs to the thread that moves staged transfers.
auto& g_served = *new std::vector<std::unique_ptr<ServedTransfer>>;

// A transfer that this process gave up and its owner is to end. Under g_staging_service_mutex.
struct Refusal {
  Peer* owner;
  uint32_t epoch;  // of the process that granted
  uint32_t transfer;
};
std::vector<Refusal> g_refusals;

void on_ask(Peer& from, const int32_t* args, unsigned nargs) {
  if (nargs != 13)
    fatal(kStagedTransfer, "rank {} asks in a form that is not known here", from.rank);
  const bool put = args[1] != 0;
  const uint64_t raddr = join_halves(args[3], args[4]);
  const uint64_t length = join_halves(args[5], args[6]);
  require_in_segment(from, raddr, length, rma_call_name(put));
  Device* const device = device_at(rma_call_name(put), raddr, length);
  if (device == nullptr || length == 0 || args[7] <= 0) {
    fatal(rma_call_name(put),
          "rank {} named [{:#x}, {:#x}), which is no device memory of this rank's", from.rank,
          raddr, raddr + length);
  }
  const uint64_t laddr = join_halves(args[9], args[10]), segment = join_halves(args[11], args[12]);
  const bool straight = segment != 0 && context().direct_allowed() &&
                        device->policy().staging != KindPolicy::Staging::always;
  auto transfer = std::make_unique<ServedTransfer>(
      from, put, static_cast<uint32_t>(args[2]), raddr, length, static_cast<uint32_t>(args[7]),
      static_cast<uint32_t>(args[8]), *device,
      straight ? mapped_here(from.rank, segment, laddr, length) : nullptr);
  const std::lock_guard lock(g_staging_service_mutex);
  transfer->number = ++g_numbers;
  g_transfers[transfer->number] = transfer.get();
  g_asked.push_back(std::move(transfer));
  emulations_waiting.fetch_add(1, std::memory_order_relaxed);
}

// Messages of a lost process may arrive after it was forgotten.
bool may_be_late() {
  return context().survives_failures();
}

void on_given_back(const Peer& from, const int32_t* args, unsigned nargs) {
  const std::lock_guard lock(g_staging_service_mutex);
  const auto found =
      nargs == 3 ? g_transfers.find(static_cast<uint32_t>(args[1])) : g_transfers.end();
  if (found == g_transfers.end() || found->second->peer().rank != from.rank) {
    if (may_be_late()) return;
    fatal(kStagedTransfer, "rank {} speaks of a transfer that it did not ask for", from.rank);
  }
  found->second->given_back(static_cast<uint32_t>(args[2]));
}

void on_refused(const Peer& from, const int32_t* args, unsigned nargs) {
  const std::lock_guard lock(g_staging_service_mutex);
  const auto found =
      nargs == 2 ? g_transfers.find(static_cast<uint32_t>(args[1])) : g_transfers.end();
  // It may have ended meanwhile.
  if (found != g_transfers.end() && found->second->peer().rank == from.rank)
    found->second->lose_peer();
}

void refuse_locked(Peer& owner, uint32_t transfer) {
  g_refusals.push_back({&owner, owner.epoch.load(std::memory_order_acquire), transfer});
  emulations_waiting.fetch_add(1, std::memory_order_relaxed);
}

// Tells the owner. True when the refusal is done with.
bool refuse(const Refusal& r) {
  // Acquire: a later process of the rank knows nothing of it.
  if (r.owner->epoch.load(std::memory_order_acquire) != r.epoch) return true;
  return try_send_internal(*r.owner, Internal::device_stage,
                           handler_args(StagingMessage::refused, r.transfer)) != CWY_RETRY;
}

void send_refusals() {
  std::vector<Refusal> refusals;
  {
    const std::lock_guard lock(g_staging_service_mutex);
    refusals.swap(g_refusals);
  }
  const auto sent = std::erase_if(refusals, refuse);
  if (sent != 0)
    emulations_waiting.fetch_sub(static_cast<uint32_t>(sent), std::memory_order_relaxed);
  if (refusals.empty()) return;
  const std::lock_guard lock(g_staging_service_mutex);
  g_refusals.insert(g_refusals.end(), refusals.begin(), refusals.end());
}

void on_answer(Peer& from, const int32_t* args, unsigned nargs, const void* payload,
               size_t length) {
  const bool grant = static_cast<StagingMessage>(args[0]) == StagingMessage::grant;
  const std::lock_guard lock(g_staging_service_mutex);
  const auto found = nargs == (grant ? 10u : 3u) ? g_clients.find(static_cast<uint32_t>(args[1]))
                                                 : g_clients.end();
  if (found == g_clients.end()) {
    // The transfer was given up: its owner would wait for a buffer that is never given back.
    if (may_be_late() && grant) refuse_locked(from, static_cast<uint32_t>(args[2]));
    if (may_be_late()) return;
    fatal(kStagedTransfer, "rank {} answers what this rank did not ask", from.rank);
  }
  // It has gone on: an answer to one question, and the next is open until the transfer is over.
  note_question(from.rank);
  note_answer(from.rank);
  if (!grant) return found->second->copied(static_cast<uint32_t>(args[2]));
  found->second->granted({static_cast<uint32_t>(args[2]), static_cast<uint32_t>(args[3]),
                          static_cast<uint32_t>(args[4]), join_halves(args[5], args[6]),
                          join_halves(args[7], args[8]), static_cast<uint32_t>(args[9]),
                          std::string(static_cast<const char*>(payload), length)});
}

}  // namespace

void on_device_stage(Peer& from, const int32_t* args, unsigned nargs, void* payload,
                     size_t length) {
  if (nargs == 0) return;
  switch (static_cast<StagingMessage>(args[0])) {
    case StagingMessage::ask:
      return on_ask(from, args, nargs);
    case StagingMessage::filled:
    case StagingMessage::taken:
      return on_given_back(from, args, nargs);
    case StagingMessage::refused:
      return on_refused(from, args, nargs);
    case StagingMessage::grant:
    case StagingMessage::copied:
      return on_answer(from, args, nargs, payload, length);
  }
}

uint32_t push_served_transfers() {
  {
    const std::lock_guard lock(g_staging_service_mutex);
    for (auto& transfer : g_asked) g_served.push_back(std::move(transfer));
    g_asked.clear();
  }
  send_refusals();
  // Oldest first: the transfer that has waited the longest gets the next buffer.
  uint32_t moved = 0;
  for (const auto& transfer : g_served) transfer->advance(moved);
  const auto ended = std::erase_if(g_served, [](const std::unique_ptr<ServedTransfer>& transfer) {
    if (!transfer->finished()) return false;
    const std::lock_guard lock(g_staging_service_mutex);
    g_transfers.erase(transfer->number);
    return true;
  });
  if (ended != 0)
    emulations_waiting.fetch_sub(static_cast<uint32_t>(ended), std::memory_order_relaxed);
  return moved;
}

void forget_served_transfers(uint32_t rank) {
  const std::lock_guard lock(g_staging_service_mutex);
  for (const auto& [number, transfer] : g_transfers)
    if (transfer->peer().rank == rank) transfer->lose_peer();
}

bool copies_for(uint32_t rank) {
  const std::lock_guard lock(g_staging_service_mutex);
  return std::ranges::any_of(g_transfers, [rank](const auto& entry) {
    return entry.second->peer().rank == rank && entry.second->copies_to_peer();
  });
}

void refuse_transfer(Peer& owner, uint32_t transfer) {
  const std::lock_guard lock(g_staging_service_mutex);
  refuse_locked(owner, transfer);
}

uint32_t add_staging_client(StagingClient& client) {
  const std::lock_guard lock(g_staging_service_mutex);
  g_clients[++g_numbers] = &client;
  return g_numbers;
}

void remove_staging_client(uint32_t number) {
  const std::lock_guard lock(g_staging_service_mutex);
  g_clients.erase(number);
}

}  // namespace causeway
