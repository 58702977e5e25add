// Messages whose payload comes from device memory, or goes to it; atomics and collectives on it.
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "devices.h"

using mk::at;
using mk::pair;
using spec::job;

namespace {

std::atomic<unsigned> g_mediums{0}, g_longs{0}, g_replies{0};
std::atomic<bool> g_good{true};
std::atomic<void*> g_long_at{nullptr};

constexpr size_t kMedium = 400, kLong = 3000;

void on_medium(gex_Token_t, void* payload, size_t bytes, gex_AM_Arg_t seed) {
  if (bytes != kMedium ||
      spec::first_difference(payload, bytes, static_cast<uint64_t>(seed)) != bytes) {
    g_good = false;
  }
  ++g_mediums;
}
spec::Handler medium(on_medium, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, "mk_medium");

void on_reply(gex_Token_t, void*, size_t bytes, gex_AM_Arg_t) {
  if (bytes != kLong) g_good = false;
  ++g_replies;
}
spec::Handler reply(on_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_LONG, "mk_reply");

// Answers with a long from this rank's device memory to the sender's.
void on_long(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t from, gex_AM_Arg_t low,
             gex_AM_Arg_t high) {
  if (bytes != kLong) g_good = false;
  g_long_at = payload;
  ++g_longs;
  const uint64_t back =
      static_cast<uint32_t>(low) | static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32;
  gex_AM_ReplyLong1(token, reply, payload, kLong, reinterpret_cast<void*>(back), GEX_EVENT_NOW, 0,
                    from);
}
spec::Handler long_message(on_long, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, "mk_long");

template <typename T>
void until(const std::atomic<T>& value, T least) {
  while (value.load() < least) gasnet_AMPoll();
}

gex_TM_t device_team() {
  std::vector<gex_EP_Location_t> members;
  for (gex_Rank_t r = 0; r < job().size; ++r) {
    members.push_back({r, gex_EP_QueryIndex(mk::devices().ep[1])});
  }
  gex_TM_t team = GEX_TM_INVALID;
  gex_TM_Create(&team, 1, job().tm, members.data(), members.size(), nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH);
  return team;
}

}  // namespace

// Handlers are found at the endpoint that is addressed.
static void register_there(unsigned place) {
  static bool done[mk::kPlaces] = {true, false, false};
  if (done[place]) return;
  done[place] = true;
  gex_AM_Entry_t table[] = {medium.entry(), long_message.entry(), reply.entry()};
  CHECK_EQ(gex_EP_RegisterHandlers(mk::devices().ep[place], table, 3), GASNET_OK);
}

// Catches payloads that are read from device memory by the processor, fixed and negotiated.
SPEC_CASE(mk_messages, mediums) {
  mk::devices();
  register_there(1);
  g_mediums = 0;  // before any rank sends
  spec::barrier();
  mk::fill(1, 64, kMedium, job().rank + 3);
  const auto seed = static_cast<gex_AM_Arg_t>(job().rank + 3);
  std::byte* const source = at(job().rank, 1, 64);
  for (gex_Rank_t r = 0; r < job().size; ++r) {
    for (const unsigned to : {0u, 1u}) {
      CHECK_EQ(
          gex_AM_RequestMedium1(pair(1, to), r, medium, source, kMedium, GEX_EVENT_NOW, 0, seed),
          0);
      gex_Event_t local = GEX_EVENT_INVALID;
      CHECK_EQ(gex_AM_RequestMedium1(pair(1, to), r, medium, source, kMedium, &local, 0, seed), 0);
      gex_Event_Wait(local);
      gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(pair(1, to), r, source, kMedium, kMedium,
                                                        GEX_EVENT_NOW, 0, 1);
      gex_AM_CommitRequestMedium1(sd, medium, kMedium, seed);
    }
  }
  until(g_mediums, 6u * job().size);
  CHECK(g_good.load());
  spec::barrier();
}

// To device memory, from there, and back in a reply.
SPEC_CASE(mk_messages, longs) {
  mk::devices();
  register_there(1);
  spec::barrier();
  const gex_Rank_t peer = job().peer();
  for (const unsigned from : {0u, 1u}) {
    // The upper part of the memory receives, so that no rank's source is overwritten.
    constexpr size_t kTarget = 1 << 18, kBack = 1 << 19;
    g_longs = g_replies = 0;
    mk::fill(from, 64, kLong, job().rank + 50 + from);
    mk::fill(from, kBack, kLong, 1);
    const auto back = reinterpret_cast<uint64_t>(at(job().rank, from, kBack));
    spec::barrier();
    CHECK_EQ(
        gex_AM_RequestLong3(pair(from, 1), peer, long_message, at(job().rank, from, 64), kLong,
                            at(peer, 1, kTarget), GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(from),
                            static_cast<gex_AM_Arg_t>(back & 0xFFFFFFFFu),
                            static_cast<gex_AM_Arg_t>(back >> 32)),
        0);
    until(g_longs, 1u);
    until(g_replies, 1u);
    CHECK_EQ(g_long_at.load(), static_cast<void*>(at(job().rank, 1, kTarget)));
    CHECK_PLACE(1, kTarget, kLong, job().behind() + 50 + from);
    CHECK_PLACE(from, kBack, kLong, job().rank + 50 + from);
    CHECK(g_good.load());
    spec::barrier();
  }
}

// Every rank adds to one word of each rank's device memory. Catches updates that get lost.
SPEC_CASE(mk_messages, atomics) {
  mk::devices();
  const gex_TM_t team = device_team();
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, team, GEX_DT_U64,
                GEX_OP_ADD | GEX_OP_FADD | GEX_OP_SET | GEX_OP_GET | GEX_OP_FCAS, 0);
  const uint64_t zero = 0;
  mk::write(1, 4096, &zero, 8);
  spec::barrier();
  constexpr unsigned kTimes = 20;
  for (unsigned i = 0; i < kTimes; ++i) {
    for (gex_Rank_t r = 0; r < job().size; ++r) {
      CHECK_EQ(gex_AD_OpNBI_U64(ad, nullptr, r, at(r, 1, 4096), GEX_OP_ADD, 3, 0, 0), 0);
    }
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  spec::barrier();
  uint64_t seen = 0;
  mk::read(1, 4096, &seen, 8);
  CHECK_EQ(seen, 3u * kTimes * job().size);
  spec::barrier();
  // The result may be in device memory too.
  gex_Event_Wait(gex_AD_OpNB_U64(ad, reinterpret_cast<uint64_t*>(at(job().rank, 1, 4160)),
                                 job().rank, at(job().rank, 1, 4096), GEX_OP_FCAS, seen, 99, 0));
  uint64_t before = 0;
  mk::read(1, 4160, &before, 8);
  mk::read(1, 4096, &seen, 8);
  CHECK_EQ(before, 3u * kTimes * job().size);
  CHECK_EQ(seen, 99u);
  spec::barrier();
  gex_AD_Destroy(ad);
  gex_TM_Destroy(team, nullptr, 0);
}

// Collectives over a team of devices, and over the world with buffers in device memory.
SPEC_CASE(mk_messages, collectives) {
  mk::devices();
  const gex_TM_t team = device_team();
  constexpr size_t kCount = 5000;
  std::vector<double> mine(kCount), seen(kCount);
  for (const gex_TM_t tm : {team, job().tm}) {
    for (const bool in_place : {false, true}) {
      for (size_t i = 0; i < kCount; ++i) mine[i] = static_cast<double>(i + job().rank);
      mk::write(1, 0, mine.data(), kCount * 8);
      std::byte* const src = at(job().rank, 1, 0);
      const size_t where = in_place ? 0 : 1 << 18;
      gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, at(job().rank, 1, where), src, GEX_DT_DBL, 8,
                                            kCount, GEX_OP_ADD, nullptr, nullptr, 0));
      mk::read(1, where, seen.data(), kCount * 8);
      const double ranks = job().size;
      for (size_t i = 0; i < kCount; i += 777) {
        CHECK_EQ(seen[i], ranks * static_cast<double>(i) + ranks * (ranks - 1) / 2);
      }
    }
    for (gex_Rank_t root = 0; root < job().size; ++root) {
      if (job().rank == root) mk::fill(1, 0, 70000, 11 + root);
      gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, at(job().rank, 1, 1 << 19),
                                          at(job().rank, 1, 0), 70000, 0));
      CHECK_PLACE(1, 1 << 19, 70000, 11 + root);
      // To one, from device memory into the host's.
      const double one = 1;
      mk::write(1, 1 << 18, &one, 8);
      double sum = 0;
      gex_Event_Wait(gex_Coll_ReduceToOneNB(tm, root, &sum, at(job().rank, 1, 1 << 18), GEX_DT_DBL,
                                            8, 1, GEX_OP_ADD, nullptr, nullptr, 0));
      if (job().rank == root) CHECK_EQ(sum, static_cast<double>(job().size));
    }
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  }
  gex_TM_Destroy(team, nullptr, 0);
}

// Short ones, which may be over before the call returns, at the first look or at a later one. Would
// catch a way out that leaves the result in the host's buffer.
SPEC_CASE(mk_messages, short_collectives) {
  mk::devices();
  const gex_TM_t team = device_team();
  const int64_t ranks = job().size;
  for (int64_t i = 0; i < 400; ++i) {
    const int64_t mine = 100 * i + job().rank, poison = -1;
    int64_t sum = 0, word = 0;
    mk::write(1, 0, &mine, sizeof mine);
    mk::write(1, 64, &poison, sizeof poison);
    mk::write(1, 128, &poison, sizeof poison);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, at(job().rank, 1, 64), at(job().rank, 1),
                                          GEX_DT_I64, 8, 1, GEX_OP_ADD, nullptr, nullptr, 0));
    gex_Event_Wait(gex_Coll_BroadcastNB(team, static_cast<gex_Rank_t>(i % ranks),
                                        at(job().rank, 1, 128), at(job().rank, 1), 8, 0));
    mk::read(1, 64, &sum, sizeof sum);
    mk::read(1, 128, &word, sizeof word);
    CHECK_EQ(sum, ranks * 100 * i + ranks * (ranks - 1) / 2);
    CHECK_EQ(word, 100 * i + i % ranks);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gex_TM_Destroy(team, nullptr, 0);
}
