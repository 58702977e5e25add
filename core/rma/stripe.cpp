#include "rma/stripe.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "base/invariant.h"
#include "connection/peer.h"
#include "connection/post_flags.h"
#include "connection/split.h"
#include "progress/retry_queue.h"
#include "thread/first_failure.h"

namespace causeway {
namespace {

// Pieces begin at multiples of this in the transfer: no cache line is written by two adapters.
constexpr uint64_t kGrain = 64;

struct Striped;

struct Piece {
  cwyc_op op{};  // first: report() finds the piece by its address
  Striped* whole = nullptr;
  Connection* via = nullptr;
  char* local = nullptr;
  uint64_t raddr = 0;
  size_t length = 0;
};

// A transfer in pieces. The poster, and every bit that a piece has still to report, holds one share
// of `left`; the holder that gives back the last share deletes it. `posted` belongs to the poster,
// and then to the thread that takes the transfer out of the queue below.
struct Striped {
  cwyc_op* client;
  bool put;
  uint32_t flags;
  Rights rights;
  std::vector<Piece> pieces;
  size_t posted = 0;
  std::atomic<uint32_t> left{0};
  std::atomic<uint32_t> local_left{0}, remote_left{0};  // pieces, and one for the poster
  FirstFailure failure;                                 // of the pieces
};

// Counts reports; returns which bits are complete for the whole by them. acq_rel: the last of
// several threads that count sees what the others' pieces wrote.
uint32_t count_down(Striped& s, uint32_t what) {
  uint32_t news = 0;
  if ((what & CWYC_DONE_LOCAL) && s.local_left.fetch_sub(1, std::memory_order_acq_rel) == 1)
    news |= CWYC_DONE_LOCAL;
  if ((what & CWYC_DONE_REMOTE) && s.remote_left.fetch_sub(1, std::memory_order_acq_rel) == 1)
    news |= CWYC_DONE_REMOTE;
  return news;
}

// Bits of a piece that matter: a get has no local completion of its own.
uint32_t bits_of(const Striped& s) {
  return s.put ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE;
}

void give_back(Striped& s, uint32_t shares) {
  const uint32_t left = s.left.fetch_sub(shares, std::memory_order_acq_rel);
  ensure("no more shares of a split operation are given back than it has",
         [&] { return left >= shares; });
  if (left == shares) delete &s;
}

void settle(Striped& s, uint32_t what, cwy_status status, const cwy_detail* detail = nullptr) {
  what &= bits_of(s);
  if (what == 0) return;
  if (status != CWY_OK) s.failure.note(status, detail);
  // Ordered after every piece's note by the count.
  if (const uint32_t news = count_down(s, what); news != 0) s.failure.report(s.client, news);
  give_back(s, static_cast<uint32_t>(__builtin_popcount(what)));
}

void report(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail* detail) {
  settle(*reinterpret_cast<Piece*>(op)->whole, what, status, detail);
}

// Transfers with pieces that met back-pressure.
RetryQueue<Striped> g_waiting;

// Cuts a piece for each member, or more where a conduit takes less at once.
void cut(Striped& s, SplitPart& part, char* local, uint64_t raddr, uint64_t length) {
  uint64_t at = 0;
  double share = 0;
  // The first piece goes to the next member in turn, so that no member gets all the odd bytes.
  const size_t first = part.turn.fetch_add(1, std::memory_order_relaxed);
  const size_t count = part.members.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t m = (first + i) % count;
    share += part.shares[m];
    uint64_t end = static_cast<uint64_t>(static_cast<double>(length) * share);
    end = i + 1 == count ? length : std::min(length, (end + kGrain - 1) / kGrain * kGrain);
    Connection& via = *part.members[m];
    const uint64_t most = std::max<uint64_t>(via.attr->rma_max / kGrain * kGrain, kGrain);
    while (at < end) {
      const uint64_t n = std::min(end - at, most);
      s.pieces.push_back({{}, &s, &via, local + at, raddr + at, n});
      at += n;
    }
  }
}

// Posts pieces until all are out, or one meets back-pressure or fails.
cwy_status post_pieces(Striped& s, uint32_t flags) {
  while (s.posted < s.pieces.size()) {
    Piece& piece = s.pieces[s.posted];
    piece.op.fn = report;
    ++s.posted;  // before: the last piece may end the transfer as soon as it is out
    const cwy_status status = post_by_member(*piece.via, s.put, piece.local, piece.raddr,
                                             piece.length, flags, &piece.op, s.rights);
    if (status == CWY_OK) {
      settle(s, bits_of(s), CWY_OK);
    } else if (status != CWY_INPROGRESS) {
      --s.posted;
      return status;
    }
  }
  return CWY_OK;
}

// The pieces from `posted` on will never go out.
void fail_rest(Striped& s, cwy_status status) {
  for (size_t rest = s.pieces.size() - s.posted; rest != 0; --rest) settle(s, bits_of(s), status);
}

}  // namespace

cwy_status post_striped(SplitPart& part, bool put, void* local, uint64_t raddr, size_t length,
                        uint32_t flags, cwyc_op* op, const Rights& rights) {
  auto owned = std::make_unique<Striped>();
  Striped& s = *owned;
  s.client = op;
  s.put = put;
  s.rights = rights;
  // Pieces that wait for room still need the source, so local completion is reported, not promised.
  s.flags = flags & ~(CWYC_SRC_VOLATILE | kImmediate);
  cut(s, part, static_cast<char*>(local), raddr, length);
  const auto pieces = static_cast<uint32_t>(s.pieces.size());
  const auto bits = static_cast<uint32_t>(__builtin_popcount(bits_of(s)));
  s.left.store((pieces + 1) * bits, std::memory_order_relaxed);  // not shared yet
  s.local_left.store(put ? pieces + 1 : 0, std::memory_order_relaxed);
  s.remote_left.store(pieces + 1, std::memory_order_relaxed);
  const cwy_status status = post_pieces(s, s.flags | (flags & kImmediate));
  if (status != CWY_OK && s.posted == 0) return status;  // nothing has gone out
  owned.release();
  if (status == CWY_RETRY) {
    g_waiting.add(&s);  // the poster's shares go with it
    return CWY_INPROGRESS;
  }
  if (status != CWY_OK) fail_rest(s, status);
  // The poster's shares: complete by now means that the op is not used at all.
  const uint32_t own = bits_of(s);
  const uint32_t news = count_down(s, own);
  const bool whole = news == own && s.failure.status() == CWY_OK;
  if (news != 0 && !whole) s.failure.report(op, news);
  give_back(s, bits);
  return whole ? CWY_OK : CWY_INPROGRESS;
}

bool may_cut(const Connection& via, const Rights& rights) {
  const std::atomic<bool>& over_am = rights.over_am ? *rights.over_am : via.rma_over_am;
  return via.attr->rma_max >= kGrain && !over_am.load(std::memory_order_relaxed);
}

cwy_status post_cut(Connection& via, bool put, void* local, uint64_t raddr, size_t length,
                    uint32_t flags, cwyc_op* op, const Rights& rights) {
  SplitPart alone;
  alone.members = {&via};
  alone.shares = {1.0};
  return post_striped(alone, put, local, raddr, length, flags, op, rights);
}

uint32_t push_stripes() {
  uint32_t sent = 0;
  g_waiting.try_each([&](Striped& s) {
    const size_t before = s.posted;
    const cwy_status status = post_pieces(s, s.flags);
    sent += static_cast<uint32_t>(s.posted - before);
    if (status == CWY_RETRY) return false;
    if (status != CWY_OK) fail_rest(s, status);
    settle(s, bits_of(s), CWY_OK);  // the poster's shares
    ++sent;
    return true;
  });
  return sent;
}

}  // namespace causeway
