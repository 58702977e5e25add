// gex_VIS_SetPeerCompletionHandler: the handler runs once per armed put, with its payload, and
// finds the data in place.
#include <atomic>

#include "vis_model.h"

using spec::job;

namespace {

// What a put announces: where its rows lie in the target's segment and what they hold.
struct Notice {
  uint64_t offset;
  uint64_t rows, row, pitch;
  uint64_t seed;
};

std::atomic<unsigned> good{0}, bad{0}, empty{0}, full{0}, aligned{0};

void on_put(gex_Token_t token, void* payload, size_t bytes) {
  Notice notice;
  gex_Token_Info_t info{};
  gex_Token_Info(token, &info, GEX_TI_ALL);
  if (bytes != sizeof notice || info.gex_is_req || info.gex_srcrank >= job().size) {
    bad.fetch_add(1, std::memory_order_release);
    return;
  }
  std::memcpy(&notice, payload, sizeof notice);
  std::vector<char> got;
  const std::byte* row = spec::my_segment(notice.offset);
  for (uint64_t i = 0; i < notice.rows; ++i, row += notice.pitch) {
    const char* const data = reinterpret_cast<const char*>(row);
    got.insert(got.end(), data, data + notice.row);
  }
  const bool whole = spec::first_difference(got.data(), got.size(), notice.seed) == got.size();
  (whole ? good : bad).fetch_add(1, std::memory_order_release);
}
spec::Handler put_handler(&on_put, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, "vis put is there");

void on_empty(gex_Token_t, void*, size_t bytes) {
  (bytes == 0 ? empty : bad).fetch_add(1, std::memory_order_release);
}
spec::Handler empty_handler(&on_empty, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY,
                            "vis without payload");

void on_full(gex_Token_t, void* payload, size_t bytes) {
  const bool whole =
      bytes == GEX_VIS_MAX_PEERCOMPLETION && spec::first_difference(payload, bytes, 31) == bytes;
  (whole ? full : bad).fetch_add(1, std::memory_order_release);
}
spec::Handler full_handler(&on_full, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, "vis largest payload");

// Data that a handler loads into a vector register must be aligned for it, or the process dies.
void on_aligned(gex_Token_t, void* payload, size_t bytes) {
  const bool fits = reinterpret_cast<uintptr_t>(payload) % alignof(std::max_align_t) == 0;
  const bool whole = bytes >= 1 && spec::first_difference(payload, bytes, bytes) == bytes;
  (fits && whole ? aligned : bad).fetch_add(1, std::memory_order_release);
}
spec::Handler aligned_handler(&on_aligned, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY,
                              "vis aligned payload");

void await(std::atomic<unsigned>& count, unsigned expected) {
  GASNET_BLOCKUNTIL(count.load(std::memory_order_acquire) + bad.load(std::memory_order_acquire) >=
                    expected);
  CHECK_EQ(count.load(std::memory_order_acquire), expected);
  CHECK_EQ(bad.load(std::memory_order_acquire), 0u);
  spec::barrier();
  gasnet_AMPoll();
  CHECK_EQ(count.load(std::memory_order_acquire), expected);  // once each
  count.store(0, std::memory_order_relaxed);
  spec::barrier();
}

}  // namespace

// Small puts of one message, puts of many, of long pieces, and puts whose source and notice are
// overwritten as soon as local completion allows.
SPEC_CASE(vis_peer_completion, finds_the_data) {
  constexpr unsigned kPuts = 24;
  const size_t each = vis::arena_bytes() / kPuts & ~size_t{7};
  std::byte* const far = vis::arena(job().peer());
  std::vector<std::vector<char>> sources(kPuts);
  std::vector<Notice> notices(kPuts);
  std::vector<gex_Event_t> events;
  for (unsigned i = 0; i < kPuts; ++i) {
    const size_t row = i % 3 == 0 ? 24 : i % 3 == 1 ? 700 : 6000;
    const size_t pitch = row + 8;
    const size_t most = std::max<size_t>(each / pitch, 1);
    if (pitch * most > each) continue;
    const size_t rows = i % 4 == 0 ? 1 : most;
    Notice& notice = notices[i];
    notice = {static_cast<uint64_t>(far + i * each - spec::segment_of(job().peer(), 0)), rows, row,
              pitch, 900 + i + job().rank};
    sources[i].resize(rows * row);
    spec::fill(sources[i].data(), sources[i].size(), notice.seed);
  }
  unsigned armed = 0;
  for (unsigned i = 0; i < kPuts; ++i) {
    Notice notice = notices[i];
    if (notice.rows == 0) continue;
    ++armed;
    const auto near = static_cast<ptrdiff_t>(notice.row),
               pitch = static_cast<ptrdiff_t>(notice.pitch);
    const size_t rows = notice.rows;
    gex_VIS_SetPeerCompletionHandler(put_handler, &notice, sizeof notice, 0);
    const gex_Flags_t flags = i % 2 == 0 ? GEX_FLAG_ENABLE_LEAF_LC : 0;
    const gex_Event_t event =
        gex_VIS_StridedPutNB(job().tm, job().peer(), far + i * each, &pitch, sources[i].data(),
                             &near, notice.row, &rows, 1, flags);
    if (flags != 0) {
      gex_Event_Wait(gex_Event_QueryLeaf(event, GEX_EC_LC));
      notice = {};
      std::memset(sources[i].data(), 0xEE, sources[i].size());
    }
    gex_Event_Wait(event);
  }
  // Everybody armed equally many: the sizes depend on what all ranks share.
  await(good, armed);
}

// Payloads of no bytes and of the most bytes; blocking and implicit puts; vector and indexed; to
// oneself.
SPEC_CASE(vis_peer_completion, payloads) {
  char data[64];
  spec::fill(data, sizeof data, 3);
  char most[GEX_VIS_MAX_PEERCOMPLETION];
  spec::fill(most, sizeof most, 31);
  CHECK(GEX_VIS_MAX_PEERCOMPLETION >= 127);
  for (const gex_Rank_t rank : {job().rank, job().peer()}) {
    void* const to[] = {vis::arena(rank), vis::arena(rank) + 100};
    void* const from[] = {data};
    const gex_Memvec_t to_vector[] = {{to[0], 8}, {to[1], 56}}, from_vector[] = {{data, 64}};
    gex_VIS_SetPeerCompletionHandler(empty_handler, nullptr, 0, 0);
    CHECK_EQ(gex_VIS_IndexedPutBlocking(job().tm, rank, 2, to, 32, 1, from, 64, 0), 0);
    gex_VIS_SetPeerCompletionHandler(full_handler, most, sizeof most, 0);
    CHECK_EQ(gex_VIS_VectorPutNBI(job().tm, rank, 2, to_vector, 1, from_vector, 0), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
  await(empty, 2);
  await(full, 2);
}

// A payload that travels in one message with the data, behind it and so anywhere, is aligned for
// any type where the handler finds it, as every medium's is (GASNet-1, 2.3.3.2).
SPEC_CASE(vis_peer_completion, payload_is_aligned) {
  constexpr unsigned kMost = 40;
  char data[2 * kMost], note[kMost];
  unsigned armed = 0;
  for (const gex_Rank_t rank : {job().rank, job().peer()}) {
    for (size_t bytes = 1; bytes <= kMost; ++bytes) {
      std::byte* const to = vis::arena(rank);
      const gex_Memvec_t dst[] = {{to, bytes}, {to + kMost + 1, bytes}},
                         src[] = {{data, 2 * bytes}};
      spec::fill(data, 2 * bytes, 5);
      spec::fill(note, bytes, bytes);
      gex_VIS_SetPeerCompletionHandler(aligned_handler, note, bytes, 0);
      CHECK_EQ(gex_VIS_VectorPutBlocking(job().tm, rank, 2, dst, 1, src, 0), 0);
      ++armed;
    }
  }
  await(aligned, armed);
}

// Only the next put has the handler; a later arming replaces an earlier one; 0 disarms; a put of
// no bytes counts as one.
SPEC_CASE(vis_peer_completion, arming) {
  char data[16] = {};
  const gex_Memvec_t to[] = {{vis::arena(job().peer()), 16}}, from[] = {{data, 16}};
  const auto put = [&] {
    CHECK_EQ(gex_VIS_VectorPutBlocking(job().tm, job().peer(), 1, to, 1, from, 0), 0);
  };
  gex_VIS_SetPeerCompletionHandler(full_handler, data, 16, 0);
  gex_VIS_SetPeerCompletionHandler(empty_handler, nullptr, 0, 0);
  put();
  put();
  gex_VIS_SetPeerCompletionHandler(empty_handler, nullptr, 0, 0);
  gex_VIS_SetPeerCompletionHandler(0, nullptr, 0, 0);
  put();
  gex_VIS_SetPeerCompletionHandler(empty_handler, nullptr, 0, 0);
  CHECK_EQ(gex_VIS_VectorPutBlocking(job().tm, job().peer(), 0, nullptr, 0, nullptr, 0), 0);
  put();
  await(empty, 2);
}
