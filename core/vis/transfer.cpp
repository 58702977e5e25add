#include "vis/transfer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "am/internal.h"
#include "am/limits.h"
#include "base/context.h"
#include "base/fatal.h"
#include "base/invariant.h"
#include "config/config.h"
#include "kinds/places.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "progress/poll.h"
#include "rma/unanswered.h"
#include "staging/transfer.h"
#include "thread/thread_buffer.h"
#include "vis/run_list.h"

namespace causeway {
namespace {

// Entries of one vector operation at most; the lists lie on the stack.
constexpr size_t kBatch = 128;
// A piece is not cut for the sake of fewer bytes than this at the end of a message.
constexpr size_t kLeastCut = 64;

class VisTransfer;

// A message or operation under way. `op` leads, so that a conduit's report finds the slot.
struct Slot {
  cwyc_op op{};
  VisTransfer* transfer = nullptr;
  uint32_t awaits = 0;  // CWYC_DONE_* still to be reported; under g_mutex
  Walk at;              // a packed get: where its answer belongs
  size_t bytes = 0;     //   and how long that is
};

// Guards the slots and counts of all transfers and the queues. Never held while anything is sent
// or a client's operation is completed: a message to oneself is answered within the sending call.
std::mutex g_mutex;

struct Queue {
  VisTransfer* head = nullptr;
  VisTransfer* tail = nullptr;
};
// Transfers with something to send, by peer, so that a peer without room holds up nobody else.
std::unordered_map<Peer*, Queue> g_queues;

enum class Outcome {
  finished,   // everything has happened; the caller owns the transfer and reports
  no_room,    // the peer's connection pushes back; the caller owns the transfer
  under_way,  // answers will carry on or finish; the transfer is no longer the caller's
};

// Access: the walk and everything marked `poster's` belong to the poster, which is one thread at a
// time: the thread that starts the transfer, then a thread that takes it from a queue. A transfer
// is in a queue, or being posted, or waits for answers, never two of these. The thread that learns
// that it is finished deletes it.
class VisTransfer {
 public:
  VisTransfer(const TransferPlan& plan, cwyc_op* op);
  VisTransfer(const VisTransfer&) = delete;
  VisTransfer& operator=(const VisTransfer&) = delete;

  // Sends what there is room for; adds to `sent` what went out.
  Outcome post(uint32_t* sent);
  bool begun() const { return begun_; }  // poster's
  // Deletes the transfer and reports to the client.
  void finish();
  void settle(Slot& slot, uint32_t what);
  bool scatter(const Slot& slot, const char* data, size_t length) const;
  Peer& peer() const { return peer_; }

  VisTransfer* next = nullptr;  // in its queue

 private:
  // Long pieces first, each on its own; then the short ones together.
  enum class Stage { large, small, posted };

  bool is_large(size_t piece) const { return piece >= pack_below_; }
  void classify();
  bool seek();
  Slot* take_slot();
  void await_local(Slot& slot);
  void give_back(Slot& slot);
  void free_slot(Slot& slot);
  Outcome all_posted();
  Outcome send_notice();
  uint32_t post_flags() const { return immediate_ && !begun_ ? CWYC_IMMEDIATE : 0; }
  cwyc_conn* connected(std::atomic<cwyc_conn*>& which);
  cwy_status send_next(Slot& slot);
  cwy_status post_piece(Slot& slot);
  cwy_status post_vector(cwyc_conn* conn, Slot& slot);
  cwy_status post_message(Slot& slot);
  size_t useful_room(size_t most) const;
  size_t pack(char* buffer, size_t room, size_t most, int32_t* args, Slot& slot);
  size_t pack_put(char* buffer, size_t room, int32_t* args);
  size_t pack_get(char* buffer, size_t room, size_t most, Slot& slot);

  const char* const call_;
  Peer& peer_;
  const bool put_;
  const bool immediate_;
  const bool anywhere_;
  bool begun_ = false;
  bool vectors_possible_;
  bool has_large_ = true, has_small_ = true;
  const size_t pack_below_;
  size_t total_ = 0;
  std::vector<Level> local_levels_, remote_levels_;
  Side local_, remote_;
  Walk walk_;
  Stage stage_ = Stage::large;
  cwyc_op* const client_;

  // The notice for the peer, until it is out.
  uint32_t notice_ = 0;
  uint32_t notice_length_ = 0;
  std::array<char, kMaxPeerCompletion> notice_payload_;

  // Under g_mutex.
  uint64_t free_ = 0;  // slots, one bit each
  uint32_t outstanding_ = 0;
  uint32_t locals_ = 0;  // slots that await CWYC_DONE_LOCAL
  bool parked_ = false;  // waits for a slot
  bool posted_ = false;
  bool local_reported_ = false;
  uint32_t slot_count_ = 1;
  std::unique_ptr<Slot[]> slots_;
};

void enqueue_locked(VisTransfer* transfer) {
  Queue& queue = g_queues[&transfer->peer()];
  transfer->next = nullptr;
  (queue.tail != nullptr ? queue.tail->next : queue.head) = transfer;
  queue.tail = transfer;
  vis_waiting.fetch_add(1, std::memory_order_relaxed);
}

Slot& slot_of(cwyc_op* op) {
  static_assert(offsetof(Slot, op) == 0);
  return *reinterpret_cast<Slot*>(op);
}

void part_reported(cwyc_op* op, uint32_t what, cwy_status status) {
  if (status != CWY_OK) return operation_failed(op, status);
  Slot& slot = slot_of(op);
  slot.transfer->settle(slot, what);
}

Side owned(const Side& side, std::vector<Level>& levels) {
  Side out = side;
  if (side.kind == Side::Kind::strided) {
    levels.assign(side.levels, side.levels + side.level_count);
    out.levels = levels.data();
  }
  return out;
}

VisTransfer::VisTransfer(const TransferPlan& plan, cwyc_op* op)
    : call_(plan.call),
      peer_(plan.peer),
      put_(plan.operation == Operation::put),
      immediate_(plan.immediate),
      anywhere_(plan.reach == Reach::anywhere),
      vectors_possible_(plan.reach == Reach::bound),
      pack_below_(plan.reach != Reach::bound ? SIZE_MAX
                  : plan.one_by_one          ? 0
                                             : context().config().vis.pack_below),
      local_(owned(plan.local, local_levels_)),
      remote_(owned(plan.remote, remote_levels_)),
      client_(op),
      notice_(plan.completion.handler),
      notice_length_(plan.completion.length) {
  if (notice_length_ != 0) {
    std::memcpy(notice_payload_.data(), plan.completion.source, notice_length_);
  }
  classify();
  slots_ = std::make_unique<Slot[]>(slot_count_);
  for (uint32_t i = 0; i < slot_count_; ++i) {
    slots_[i].transfer = this;
    slots_[i].op.fn = part_reported;
  }
  free_ = slot_count_ == 64 ? ~uint64_t{0} : (uint64_t{1} << slot_count_) - 1;
  walk_ = {Cursor(local_), Cursor(remote_)};
}

// Which stages there are, and how many slots can be of use. A stage that may be empty costs a walk
// over the lists, so what the lengths rule out is left out.
void VisTransfer::classify() {
  size_t local_longest = 0, remote_longest = 0;
  total_ = std::min(local_.total(&local_longest), remote_.total(&remote_longest));
  const size_t longest = std::min(local_longest, remote_longest);
  has_large_ = is_large(longest);
  const bool uniform = local_.kind != Side::Kind::vector && remote_.kind != Side::Kind::vector &&
                       (local_longest == remote_longest || local_.runs == 1 || remote_.runs == 1);
  has_small_ = pack_below_ != 0 && !(uniform && has_large_);
  const size_t pieces = local_.runs + remote_.runs;
  const bool one_message =
      !has_large_ &&
      total_ + pieces * RunWriter::kMostPerRun + kMaxPeerCompletion <= limits_of(peer_).medium;
  if (!one_message) {
    slot_count_ = static_cast<uint32_t>(
        std::min<size_t>(context().config().vis.pipeline, std::max<size_t>(total_, 1)));
  }
}

// Moves the walk to the next piece that is to be sent. False when there is none left.
bool VisTransfer::seek() {
  while (stage_ != Stage::posted) {
    const bool large = stage_ == Stage::large;
    if (large ? has_large_ : has_small_) {
      while (!walk_.done() && is_large(walk_.piece()) != large) walk_.advance(walk_.piece());
      if (!walk_.done()) return true;
    }
    stage_ = large ? Stage::small : Stage::posted;
    if (large && has_large_) walk_ = {Cursor(local_), Cursor(remote_)};
  }
  return false;
}

Slot* VisTransfer::take_slot() {
  const std::lock_guard lock(g_mutex);
  if (free_ == 0) {
    parked_ = true;
    return nullptr;
  }
  Slot& slot = slots_[static_cast<uint32_t>(__builtin_ctzll(free_))];
  ensure("a free slot of a pipeline awaits nothing", [&] { return slot.awaits == 0; });
  free_ &= free_ - 1;
  ++outstanding_;
  slot.awaits = CWYC_DONE_REMOTE;
  return &slot;
}

// The operation to be posted reads the client's memory after the call that posts it.
void VisTransfer::await_local(Slot& slot) {
  const std::lock_guard lock(g_mutex);
  slot.awaits |= CWYC_DONE_LOCAL;
  ++locals_;
}

void VisTransfer::free_slot(Slot& slot) {
  ensure("a slot of a pipeline is freed once",
         [&] { return outstanding_ != 0 && (free_ & uint64_t{1} << (&slot - slots_.get())) == 0; });
  if (slot.awaits & CWYC_DONE_LOCAL) --locals_;
  slot.awaits = 0;
  free_ |= uint64_t{1} << (&slot - slots_.get());
  --outstanding_;
}

// A slot whose operation did not come to be, or was complete at once. The poster's.
void VisTransfer::give_back(Slot& slot) {
  const std::lock_guard lock(g_mutex);
  free_slot(slot);
}

// Something was reported of a slot, by any thread, possibly within the poster's own call.
void VisTransfer::settle(Slot& slot, uint32_t what) {
  cwyc_op* const client = client_;  // once unlocked, another thread may finish the transfer
  bool report_local = false, finished = false;
  {
    const std::lock_guard lock(g_mutex);
    const uint32_t news = what & slot.awaits;
    if (news == 0) return;
    if (news & CWYC_DONE_LOCAL) --locals_;
    slot.awaits &= ~news;
    const bool freed = slot.awaits == 0;
    if (freed) free_slot(slot);
    if (!posted_) {
      if (freed && parked_) {
        parked_ = false;
        enqueue_locked(this);
      }
    } else if (outstanding_ == 0) {
      // The notice is a request, which no handler may send: a poll does it.
      finished = notice_ == 0;
      if (!finished) enqueue_locked(this);
    } else if (put_ && locals_ == 0 && !local_reported_) {
      local_reported_ = report_local = true;
    }
  }
  if (finished) {
    finish();
  } else if (report_local) {
    client->fn(client, CWYC_DONE_LOCAL, CWY_OK);
  }
}

void VisTransfer::finish() {
  cwyc_op* const client = client_;
  uint32_t bits = CWYC_DONE_REMOTE;
  if (put_ && !local_reported_) bits |= CWYC_DONE_LOCAL;
  delete this;
  client->fn(client, bits, CWY_OK);
}

// Everything has gone out. Unless nothing is under way any more, the answers own the transfer once
// the lock is given up.
Outcome VisTransfer::all_posted() {
  cwyc_op* const client = client_;
  bool report_local = false;
  {
    const std::lock_guard lock(g_mutex);
    posted_ = true;
    if (outstanding_ != 0 && put_ && locals_ == 0) local_reported_ = report_local = true;
    if (outstanding_ == 0) return Outcome::finished;
  }
  if (report_local) client->fn(client, CWYC_DONE_LOCAL, CWY_OK);
  return Outcome::under_way;
}

Outcome VisTransfer::send_notice() {
  if (notice_ == 0) return Outcome::finished;
  if (try_notify(peer_, notice_, notice_payload_.data(), notice_length_) == CWY_RETRY) {
    return Outcome::no_room;
  }
  notice_ = 0;
  return Outcome::finished;
}

Outcome VisTransfer::post(uint32_t* sent) {
  // With its data out, a transfer comes here for its notice only.
  if (stage_ == Stage::posted) return send_notice();
  while (seek()) {
    Slot* const slot = take_slot();
    if (slot == nullptr) return Outcome::under_way;
    const bool vectors_were_possible = vectors_possible_;
    const cwy_status status = send_next(*slot);
    if (status != CWY_INPROGRESS) give_back(*slot);
    if (status == CWY_RETRY) return Outcome::no_room;
    // The conduit's vectors do not reach this memory: messages take over.
    if (status == CWY_ERR_UNSUPPORTED && vectors_were_possible && !vectors_possible_) continue;
    if (status < 0) send_failed(peer_, status);
    begun_ = true;
    ++*sent;
  }
  const Outcome outcome = all_posted();
  return outcome == Outcome::finished ? send_notice() : outcome;
}

// The connection behind one of the peer's pointers, or NULL while it is being made.
cwyc_conn* VisTransfer::connected(std::atomic<cwyc_conn*>& which) {
  cwyc_conn* conn = which.load(std::memory_order_acquire);
  if (conn != &peer_.stub) return conn;
  const cwy_status status = or_fatal(call_, [&] { return connect_peer(peer_); });
  if (status == CWY_RETRY) return nullptr;
  if (status < 0) send_failed(peer_, status);
  return which.load(std::memory_order_acquire);
}

cwy_status VisTransfer::send_next(Slot& slot) {
  if (stage_ == Stage::large) return post_piece(slot);
  if (vectors_possible_) {
    cwyc_conn* const conn = connected(put_ ? peer_.put : peer_.get);
    if (conn == nullptr) return CWY_RETRY;
    const Connection& c = Connection::of(conn);
    if ((c.cep->caps & CWYC_CAP_VECTOR) && !c.rma_over_am.load(std::memory_order_relaxed)) {
      const cwy_status status = post_vector(conn, slot);
      vectors_possible_ = status != CWY_ERR_UNSUPPORTED;
      return status;
    }
    vectors_possible_ = false;
  }
  return post_message(slot);
}

cwy_status VisTransfer::post_piece(Slot& slot) {
  const size_t n = walk_.piece();
  if (put_) await_local(slot);
  const cwy_status status =
      rma_post_once(call_, put_ ? Operation::put : Operation::get, peer_, walk_.local.addr(),
                    reinterpret_cast<uint64_t>(walk_.remote.addr()), n, post_flags(), &slot.op);
  if (status == CWY_OK || status == CWY_INPROGRESS) walk_.advance(n);
  return status;
}

// The conduit's vector put or get of the next short pieces.
cwy_status VisTransfer::post_vector(cwyc_conn* conn, Slot& slot) {
  Connection& c = Connection::of(conn);
  const Walk before = walk_;
  const size_t entries = std::min<uint64_t>(kBatch, std::max<uint64_t>(c.cep->attr.iov_max, 1));
  cwyc_iov local[kBatch];
  cwyc_riov remote[kBatch];
  size_t locals = 0, remotes = 0;
  const char *low = walk_.local.addr(), *high = low;
  while (!walk_.done()) {
    const size_t n = walk_.piece();
    if (!is_large(n)) {
      char* const at = walk_.local.addr();
      const auto raddr = reinterpret_cast<uint64_t>(walk_.remote.addr());
      const bool joins_local =
          locals != 0 &&
          static_cast<char*>(local[locals - 1].addr) + local[locals - 1].length == at;
      const bool joins_remote =
          remotes != 0 && remote[remotes - 1].addr + remote[remotes - 1].length == raddr;
      if ((!joins_local && locals == entries) || (!joins_remote && remotes == entries)) break;
      if (joins_local) {
        local[locals - 1].length += n;
      } else {
        local[locals++] = {at, n};
      }
      if (joins_remote) {
        remote[remotes - 1].length += n;
      } else {
        remote[remotes++] = {raddr, n};
      }
      low = std::min<const char*>(low, at);
      high = std::max<const char*>(high, at + n);
    }
    walk_.advance(n);
  }
  cwyc_mem* const lmem = local_registration(*peer_.ep, conn, low, static_cast<size_t>(high - low));
  cwyc_rkey* const rkey = c.rkey.load(std::memory_order_acquire);
  cwy_status status = CWY_OK;
  if (put_) {
    await_local(slot);
    status =
        conn->ops->putv(conn, local, locals, lmem, remote, remotes, rkey, post_flags(), &slot.op);
  } else {
    status =
        conn->ops->getv(conn, local, locals, lmem, remote, remotes, rkey, post_flags(), &slot.op);
  }
  if (status != CWY_OK && status != CWY_INPROGRESS) walk_ = before;
  return status;
}

// Room that the rest of the transfer can use, at most: data of puts, and a list of runs.
size_t VisTransfer::useful_room(size_t most) const {
  const size_t list = (local_.runs + remote_.runs + 1) * RunWriter::kMostPerRun;
  if (list >= most) return most;
  const size_t want = list + RunWriter::kMostPerRun + (put_ ? total_ + notice_length_ : 0);
  return std::min(most, want);
}

// A message with the next short pieces of a put, or the request for those of a get. Where the
// conduit lends a buffer, it is packed in place, and back-pressure is known before any work.
cwy_status VisTransfer::post_message(Slot& slot) {
  static thread_local ThreadBuffer buffer;
  cwyc_conn* const conn = connected(peer_.am);
  if (conn == nullptr) return CWY_RETRY;
  const size_t most = Connection::of(conn).cep->attr.am_medium_max;
  const size_t room = useful_room(most);
  const uint64_t word = internal_word(put_ ? Internal::vis_put : Internal::vis_get, false);
  // A further argument says that runs may lie in no segment.
  const unsigned nargs = (put_ ? 4u : 3u) + anywhere_;
  int32_t args[5] = {};
  if (Connection::of(conn).cep->caps & CWYC_CAP_AM_PREPARE) {
    constexpr size_t kLeast = 512;  // what every conduit can carry
    cwyc_am_slot lent{};
    const cwy_status status =
        conn->ops->am_prepare(conn, std::min(kLeast, room), room, nargs, post_flags(), &lent);
    if (status != CWY_OK) return status;
    const size_t length = pack(static_cast<char*>(lent.buffer), std::min<size_t>(lent.length, room),
                               most, args, slot);
    note_question(peer_.rank);
    conn->ops->am_commit(conn, &lent, word, args, nargs, length);
    return CWY_INPROGRESS;
  }
  const Walk before = walk_;
  const Stage stage = stage_;
  const uint32_t notice = notice_;
  char* const bytes = buffer.of(room);
  const size_t length = pack(bytes, room, most, args, slot);
  const cwy_status status = conn->ops->am_medium(conn, word, args, nargs, bytes, nullptr, length,
                                                 post_flags() | CWYC_SRC_VOLATILE, nullptr);
  if (status == CWY_OK) {
    note_question(peer_.rank);
    return CWY_INPROGRESS;  // there is an answer to come
  }
  walk_ = before;
  stage_ = stage;
  notice_ = notice;
  return status;
}

// Writes the message into `buffer`; returns its length. Past this, the slot may be answered.
size_t VisTransfer::pack(char* buffer, size_t room, size_t most, int32_t* args, Slot& slot) {
  const auto cookie = reinterpret_cast<uint64_t>(&slot.op);
  args[0] = low_half(cookie);
  args[1] = high_half(cookie);
  slot.at = walk_;
  const size_t length = put_ ? pack_put(buffer, room, args) : pack_get(buffer, room, most, slot);
  if (!put_) args[2] = static_cast<int32_t>(slot.bytes);
  hand_over(&slot.op);
  return length;
}

// Message: data, a notice's payload, list of runs. Arguments: cookie, bytes of data, the notice's
// bytes and handler.
size_t VisTransfer::pack_put(char* buffer, size_t room, int32_t* args) {
  // The notice goes along if this message turns out to be the only one.
  const bool first = notice_ != 0 && !begun_;
  if (first) room -= notice_length_;
  RunWriter runs(buffer + room);
  size_t data = 0;
  while (!walk_.done()) {
    size_t n = walk_.piece();
    if (!is_large(n)) {
      const size_t taken = data + runs.used() + RunWriter::kMostPerRun;
      const size_t fits = room > taken ? room - taken : 0;
      if (n > fits) {
        if (fits < kLeastCut && data != 0) break;
        n = fits;
      }
      copy_bytes(call_, buffer + data, walk_.local.addr(), n);
      runs.add(reinterpret_cast<uint64_t>(walk_.remote.addr()), static_cast<uint32_t>(n));
      data += n;
    }
    walk_.advance(n);
  }
  const size_t list = runs.finish();
  const char* const written = buffer + room - list;
  size_t at = data;
  args[2] = static_cast<int32_t>(data);
  args[3] = 0;
  if (first && !seek()) {
    // Moved before the notice is written: the notice may lie where the list was built.
    std::memmove(buffer + at + notice_length_, written, list);
    std::memcpy(buffer + at, notice_payload_.data(), notice_length_);
    args[3] = static_cast<int32_t>((notice_length_ << 8) | notice_);
    at += notice_length_;
    notice_ = 0;
  } else {
    std::memmove(buffer + at, written, list);
  }
  return at + list;
}

// Message: list of runs. Arguments: cookie, bytes wanted.
size_t VisTransfer::pack_get(char* buffer, size_t room, size_t most, Slot& slot) {
  RunWriter runs(buffer + room);
  size_t data = 0;
  while (!walk_.done() && data < most) {
    size_t n = walk_.piece();
    if (!is_large(n)) {
      if (data != 0 && runs.used() + RunWriter::kMostPerRun > room) break;
      const size_t fits = most - data;
      if (n > fits) {
        if (fits < kLeastCut && data != 0) break;
        n = fits;
      }
      runs.add(reinterpret_cast<uint64_t>(walk_.remote.addr()), static_cast<uint32_t>(n));
      data += n;
    }
    walk_.advance(n);
  }
  slot.bytes = data;
  const size_t list = runs.finish();
  std::memmove(buffer, buffer + room - list, list);
  return list;
}

// The answer to a packed get: goes through the same pieces as pack_get did.
bool VisTransfer::scatter(const Slot& slot, const char* data, size_t length) const {
  if (length != slot.bytes) return false;
  Walk walk = slot.at;
  for (size_t at = 0; at < length;) {
    size_t n = walk.piece();
    if (!is_large(n)) {
      n = std::min(n, length - at);
      copy_bytes(call_, walk.local.addr(), data + at, n);
      at += n;
    }
    walk.advance(n);
  }
  return true;
}

}  // namespace

cwy_status start_transfer(const TransferPlan& plan, cwyc_op* op) {
  auto* const transfer = new VisTransfer(plan, op);
  uint32_t sent = 0;
  switch (transfer->post(&sent)) {
    case Outcome::finished:
      delete transfer;
      return CWY_OK;
    case Outcome::no_room:
      if (plan.immediate && !transfer->begun()) {
        delete transfer;
        return CWY_RETRY;
      }
      {
        const std::lock_guard lock(g_mutex);
        enqueue_locked(transfer);
      }
      return CWY_INPROGRESS;
    case Outcome::under_way:
      break;
  }
  return CWY_INPROGRESS;
}

uint32_t push_transfers() {
  std::vector<std::pair<Peer*, Queue>> batch;
  {
    const std::lock_guard lock(g_mutex);
    batch.assign(g_queues.begin(), g_queues.end());
    g_queues.clear();
  }
  uint32_t sent = 0;
  for (auto& [peer, queue] : batch) {
    while (queue.head != nullptr) {
      VisTransfer* const transfer = queue.head;
      VisTransfer* const next = transfer->next;
      const Outcome outcome = transfer->post(&sent);
      if (outcome == Outcome::no_room) break;  // nor will the next ones find any
      queue.head = next;
      vis_waiting.fetch_sub(1, std::memory_order_relaxed);
      if (outcome == Outcome::finished) {
        ++sent;
        transfer->finish();
      }
    }
  }
  const std::lock_guard lock(g_mutex);
  for (auto& [peer, queue] : batch) {
    if (queue.head == nullptr) continue;
    // In front of what came meanwhile.
    Queue& now = g_queues[peer];
    queue.tail->next = now.head;
    now.head = queue.head;
    if (now.tail == nullptr) now.tail = queue.tail;
  }
  return sent;
}

void vis_put_done(uint64_t cookie) {
  Slot& slot = slot_of(take_over(cookie));
  slot.transfer->settle(slot, CWYC_DONE_REMOTE);
}

bool vis_got(uint64_t cookie, const char* data, size_t length) {
  Slot& slot = slot_of(take_over(cookie));
  if (!slot.transfer->scatter(slot, data, length)) return false;
  slot.transfer->settle(slot, CWYC_DONE_REMOTE);
  return true;
}

}  // namespace causeway
