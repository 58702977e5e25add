// Vector, indexed and strided transfers between endpoints that were created, through gex_TM_Pair
// and through teams of them; peer completion at the endpoint that is addressed. And two clients
// that do collectives, atomics and such transfers at the same time.
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "extra_endpoints.h"
#include "team_load.h"

using spec::extra;
using spec::job;
using spec::kEndpoints;

namespace {

constexpr size_t kRows = 12, kNear = 40, kFar = 100;  // bytes of a row here, and its pitch there
constexpr size_t kBlock = kRows * kFar;

// Where the block of an initiating endpoint lies in the segment of another. Endpoints 2 and 3 have
// one segment, so the target's place counts too.
size_t block_at(unsigned from, unsigned to) {
  return 1024 + (from * kEndpoints + to) * kBlock;
}

struct Put {
  std::array<std::byte, kRows * kNear> rows;
  std::array<void*, kRows> near, far;
  std::array<gex_Memvec_t, kRows> vector;
  gex_Memvec_t all;  // the rows as one; stays until the operation is complete, as every list

  Put(std::byte* target, uint64_t seed) {
    spec::fill(rows.data(), rows.size(), seed);
    for (size_t i = 0; i < kRows; ++i) {
      near[i] = rows.data() + i * kNear;
      far[i] = target + i * kFar;
      vector[i] = {far[i], kNear};
    }
  }
};

// Puts the rows in one of three forms.
gex_Event_t put(gex_TM_t tm, gex_Rank_t rank, Put& p, unsigned form) {
  if (form % 3 == 0)
    return gex_VIS_IndexedPutNB(tm, rank, kRows, p.far.data(), kNear, kRows, p.near.data(), kNear,
                                0);
  if (form % 3 == 1) {
    p.all = {p.rows.data(), p.rows.size()};
    return gex_VIS_VectorPutNB(tm, rank, kRows, p.vector.data(), 1, &p.all, 0);
  }
  const ptrdiff_t there = kFar, here = kNear;
  const size_t count = kRows;
  return gex_VIS_StridedPutNB(tm, rank, p.far[0], &there, p.rows.data(), &here, kNear, &count, 1,
                              0);
}

void get(gex_TM_t tm, gex_Rank_t rank, std::byte* source, std::byte* into) {
  const ptrdiff_t there = kFar, here = kNear;
  const size_t count = kRows;
  CHECK_EQ(gex_VIS_StridedGetBlocking(tm, into, &here, rank, source, &there, kNear, &count, 1, 0),
           0);
}

uint64_t seed_of(gex_Rank_t from_rank, unsigned from, unsigned to, uint64_t round) {
  return ((round * 64 + from_rank) * kEndpoints + from) * kEndpoints + to;
}

// ---- peer completion ----

struct Notice {
  uint32_t from, to;
  uint64_t round;
};
std::atomic<unsigned> good{0}, bad{0};

void on_put(gex_Token_t token, void* payload, size_t bytes) {
  Notice notice{};
  gex_Token_Info_t info{};
  gex_Token_Info(token, &info, GEX_TI_ALL);
  bool right = bytes == sizeof notice;
  if (right) {
    std::memcpy(&notice, payload, sizeof notice);
    right = notice.from < kEndpoints && notice.to < kEndpoints && !info.gex_is_req &&
            info.gex_ep == extra().ep[notice.to] && info.gex_srcrank == job().behind();
  }
  if (right) {
    // Handlers do not ask the library: the segment of the endpoint says where the block is.
    const gex_Segment_t segment = gex_EP_QuerySegment(info.gex_ep);
    const std::byte* row = static_cast<std::byte*>(gex_Segment_QueryAddr(segment)) +
                           (notice.to == 0 ? spec::kScratchOffset : 0) +
                           block_at(notice.from, notice.to);
    std::array<std::byte, kRows * kNear> got;
    for (size_t i = 0; i < kRows; ++i) std::memcpy(got.data() + i * kNear, row + i * kFar, kNear);
    right = spec::first_difference(
                got.data(), got.size(),
                seed_of(info.gex_srcrank, notice.from, notice.to, notice.round)) == got.size();
  }
  (right ? good : bad).fetch_add(1, std::memory_order_release);
}

// The handler's index in each endpoint; the same on every rank, since all do the same.
const std::array<gex_AM_Index_t, kEndpoints>& handlers() {
  static const std::array<gex_AM_Index_t, kEndpoints> indices = [] {
    std::array<gex_AM_Index_t, kEndpoints> out{};
    for (unsigned i = 0; i < kEndpoints; ++i) {
      gex_AM_Entry_t entry = {0,
                              reinterpret_cast<gex_AM_Fn_t>(&on_put),
                              GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY,
                              0,
                              nullptr,
                              "endpoint put"};
      if (i == 0) {
        spec::register_handlers(&entry, 1);
      } else {
        gex_EP_RegisterHandlers(extra().ep[i], &entry, 1);
      }
      out[i] = entry.gex_index;
    }
    spec::barrier();
    return out;
  }();
  return indices;
}

}  // namespace

// From every endpoint here to every endpoint of the next rank and of this one, in every form; what
// is there afterwards is read back through another pair.
SPEC_CASE(endpoint_vis, pairs) {
  extra();
  for (const gex_Rank_t rank : {job().peer(), job().rank})
    for (uint64_t round = 0; round < 3; ++round) {
      std::vector<Put> puts;
      puts.reserve(kEndpoints * kEndpoints);
      std::vector<gex_Event_t> events;
      for (unsigned from = 0; from < kEndpoints; ++from)
        for (unsigned to = 0; to < kEndpoints; ++to) {
          puts.emplace_back(spec::extra_segment(rank, to, block_at(from, to)),
                            seed_of(job().rank, from, to, round));
          events.push_back(put(gex_TM_Pair(extra().ep[from], extra().index[to]), rank, puts.back(),
                               from + to + static_cast<unsigned>(round)));
        }
      gex_Event_WaitAll(events.data(), events.size(), 0);
      for (unsigned from = 0; from < kEndpoints; ++from)
        for (unsigned to = 0; to < kEndpoints; ++to) {
          std::array<std::byte, kRows * kNear> got{};
          get(gex_TM_Pair(extra().ep[kEndpoints - 1 - from], extra().index[to]), rank,
              spec::extra_segment(rank, to, block_at(from, to)), got.data());
          CHECK_PATTERN(got.data(), got.size(), seed_of(job().rank, from, to, round));
        }
      spec::barrier();  // the next round, or rank, writes to the same places
    }
}

// Through a team of created endpoints, with offsets into their segments.
SPEC_CASE(endpoint_vis, teams_and_offsets) {
  std::vector<gex_EP_Location_t> args;
  for (gex_Rank_t r = job().size; r-- > 0;) args.push_back({r, extra().index[2]});
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Create(&tm, 1, job().tm, args.data(), args.size(), nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  const gex_Rank_t n = job().size, target = (gex_TM_QueryRank(tm) + 1) % n;
  const auto at = [](size_t offset) { return reinterpret_cast<std::byte*>(offset); };
  const size_t here = 512, there = 32768;
  std::byte* const own = spec::extra_segment(job().rank, 2, here);
  spec::fill(own, kRows * kNear, job().rank + 77);
  const ptrdiff_t far = kFar, near = kNear;
  const size_t count = kRows;
  CHECK_EQ(gex_VIS_StridedPutBlocking(tm, target, at(there), &far, at(here), &near, kNear, &count,
                                      1, GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET),
           0);
  std::array<std::byte, kRows * kNear> got{};
  CHECK_EQ(gex_VIS_StridedGetNBI(tm, got.data(), &near, target, at(there), &far, kNear, &count, 1,
                                 GEX_FLAG_PEER_SEG_OFFSET),
           0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  CHECK_PATTERN(got.data(), got.size(), job().rank + 77);
  gex_TM_Destroy(tm, nullptr, 0);
  spec::barrier();
}

// The handler runs at the endpoint that the put addressed, once, and finds the data there.
SPEC_CASE(endpoint_vis, peer_completion) {
  handlers();
  for (uint64_t round = 0; round < spec::scaled(6, 2); ++round) {
    good.store(0, std::memory_order_relaxed);
    spec::barrier();
    std::vector<Put> puts;
    puts.reserve(kEndpoints * kEndpoints);
    std::vector<gex_Event_t> events;
    for (uint32_t from = 0; from < kEndpoints; ++from)
      for (uint32_t to = 0; to < kEndpoints; ++to) {
        const Notice notice{from, to, round};
        puts.emplace_back(spec::extra_segment(job().peer(), to, block_at(from, to)),
                          seed_of(job().rank, from, to, round));
        gex_VIS_SetPeerCompletionHandler(handlers()[to], &notice, sizeof notice, 0);
        const gex_Event_t event =
            put(gex_TM_Pair(extra().ep[from], extra().index[to]), job().peer(), puts.back(),
                from + to + static_cast<unsigned>(round));
        // The payload belongs to the library until the put is complete: one at a time.
        gex_Event_Wait(event);
      }
    GASNET_BLOCKUNTIL(good.load(std::memory_order_acquire) + bad.load(std::memory_order_acquire) >=
                      kEndpoints * kEndpoints);
    CHECK_EQ(bad.load(std::memory_order_acquire), 0u);
    spec::barrier();
    gasnet_AMPoll();
    CHECK_EQ(good.load(std::memory_order_acquire), kEndpoints * kEndpoints);
    spec::barrier();
  }
}

// ---- two clients at the same time ----

namespace {

// What one client does: teams, domains, transfers, all through its own objects.
struct Worker {
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  size_t first;  // offset of what it may use of the segments
  uint64_t seed;

  std::byte* there(gex_Rank_t rank, size_t offset) const {
    void* owner = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &owner, nullptr, nullptr, 0));
    return static_cast<std::byte*>(owner) + first + offset;
  }

  void clear() const {
    std::memset(static_cast<std::byte*>(gex_Segment_QueryAddr(segment)) + first, 0, 64);
  }

  // Everything begun before anything is waited for. `other` gets its turn in between when one
  // thread does the work of both.
  template <typename Between>
  void round(gex_AD_t ad, gex_TM_t part, unsigned number, Between between) const {
    const gex_Rank_t peer = job().peer();
    spec::TeamLoad world(tm, seed + number, 300), local(part, seed + number, 40);
    std::vector<gex_Event_t> events;
    for (unsigned kind = 0; kind < spec::TeamLoad::kKinds; ++kind) {
      events.push_back(world.begin(kind));
      events.push_back(local.begin(kind));
    }
    auto* const word = reinterpret_cast<uint64_t*>(there(0, 0));
    events.push_back(gex_AD_OpNB_U64(ad, nullptr, 0, word, GEX_OP_ADD, 1, 0, 0));
    Put p(there(peer, 1024), seed + number + job().rank);
    events.push_back(put(tm, peer, p, number));
    between();
    gex_Event_WaitAll(events.data(), events.size(), 0);
    world.check();
    local.check();
    std::array<std::byte, kRows * kNear> got{};
    get(tm, peer, there(peer, 1024), got.data());
    CHECK_PATTERN(got.data(), got.size(), seed + number + job().rank);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));  // the next round writes to the same places
  }
};

Worker second_client() {
  static const Worker second = [] {
    gex_Client_t client = GEX_CLIENT_INVALID;
    Worker w{};
    CHECK_EQ(gex_Client_Init(&client, &w.ep, &w.tm, "SPEC_BESIDE", nullptr, nullptr, 0), GASNET_OK);
    CHECK_EQ(gex_Segment_Attach(&w.segment, w.tm, size_t{64} << 10), GASNET_OK);
    w.seed = 5000;
    return w;
  }();
  return second;
}

constexpr gex_OP_t kOps = GEX_OP_ADD | GEX_OP_GET;

void check_count(const Worker& w, gex_AD_t ad, uint64_t expected) {
  uint64_t got = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &got, 0, reinterpret_cast<uint64_t*>(w.there(0, 0)),
                                 GEX_OP_GET, 0, 0, 0));
  CHECK_EQ(got, expected);
}

}  // namespace

SPEC_CASE(endpoint_vis, two_clients) {
  const Worker second = second_client();
  const Worker first{job().ep, job().tm, job().segment, spec::kScratchOffset, 100};
  const Worker* const workers[] = {&first, &second};
  gex_TM_t part[2];
  gex_AD_t ad[2];
  for (unsigned c = 0; c < 2; ++c) {
    workers[c]->clear();
    gex_TM_Split(&part[c], workers[c]->tm, static_cast<int>(job().rank % (c + 1)),
                 -static_cast<int>(job().rank), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_AD_Create(&ad[c], workers[c]->tm, GEX_DT_U64, kOps, 0);
  }
  spec::barrier();
  const unsigned rounds = spec::scaled(25, 5);
#ifdef GASNET_PAR
  std::thread beside([&] {
    for (unsigned i = 0; i < rounds; ++i) second.round(ad[1], part[1], i, [] {});
  });
  for (unsigned i = 0; i < rounds; ++i) first.round(ad[0], part[0], i, [] {});
  beside.join();
#else
  // One within the other, in either order.
  for (unsigned i = 0; i < rounds; ++i) {
    const unsigned outer = i % 2;
    workers[outer]->round(ad[outer], part[outer], i, [&] {
      workers[1 - outer]->round(ad[1 - outer], part[1 - outer], i, [] {});
    });
  }
#endif
  spec::barrier();
  for (unsigned c = 0; c < 2; ++c) check_count(*workers[c], ad[c], uint64_t{rounds} * job().size);
  spec::barrier();
  for (unsigned c = 0; c < 2; ++c) {
    gex_AD_Destroy(ad[c]);
    gex_TM_Destroy(part[c], nullptr, 0);
  }
  spec::barrier();
}
