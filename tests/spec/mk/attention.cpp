// No rank waits for a rank that it has nothing to do with: rank 1 begins transfers, or is meant by
// some, and is silent until transfers between the others are complete. What is compared is the
// order of these, so that a busy machine changes nothing.
#include <vector>

#include "devices.h"
#include "silence.h"

using mk::at;
using mk::pair;
using spec::job;

namespace {

enum Flag : unsigned { kBegun, kMet, kThrough };

// More than the buffers of the configurations that show something (64 KiB, up to 4 a direction)
// hold, from memory in no segment, which nobody but its rank reaches.
constexpr size_t kMany = 512 << 10;
constexpr size_t kFew = 192 << 10;

// Rank 1 starts something with rank 0 and is silent. Rank 0 has met that when rank 2 does its part.
template <typename Begin, typename Part>
void beside_silent(Begin&& begin, Part&& part) {
  mk::devices();
  mk::clear_flags();
  if (job().rank == 1) {
    const gex_Event_t event = begin();
    mk::flag(kBegun).store(1);
    CHECK(mk::silent_until(kThrough));
    gex_Event_Wait(event);
  } else if (job().rank == 0) {
    CHECK(mk::polling_until(kBegun));
    for (int i = 0; i < 2000; ++i) gasnet_AMPoll();
    mk::flag(kMet).store(1);
    CHECK(mk::polling_until(kThrough));
  } else if (job().rank == 2) {
    CHECK(mk::polling_until(kMet));
    part();
    mk::flag(kThrough).store(1);
  }
  spec::barrier();
}

// Rank 0 does both: with rank 1, which is silent, and with rank 2.
template <typename Begin, typename Part>
void toward_silent(Begin&& begin, Part&& part) {
  mk::devices();
  mk::clear_flags();
  if (job().rank == 1) {
    CHECK(mk::silent_until(kThrough));
  } else if (job().rank == 0) {
    std::vector<gex_Event_t> events = begin();
    part();
    mk::flag(kThrough).store(1);
    for (const gex_Event_t e : events) gex_Event_Wait(e);
  } else if (job().rank == 2) {
    CHECK(mk::polling_until(kThrough));
  }
  spec::barrier();
}

// Two and a few: as many transfers as there are buffers at least.
constexpr unsigned kTransfers = 5;
constexpr size_t kPiece = 64 << 10;

std::vector<gex_Event_t> many_gets(gex_Rank_t from) {
  std::vector<gex_Event_t> out;
  for (unsigned i = 0; i < kTransfers; ++i) {
    out.push_back(gex_RMA_GetNB(pair(1, 0), at(0, 1, i * kPiece), from, at(from, 0), kPiece, 0));
  }
  return out;
}
std::vector<gex_Event_t> many_puts(gex_Rank_t to) {
  std::vector<gex_Event_t> out;
  for (unsigned i = 0; i < kTransfers; ++i) {
    out.push_back(gex_RMA_PutNB(pair(1, 0), to, at(to, 0, (1 + i) * kPiece), at(0, 1, i * kPiece),
                                kPiece, GEX_EVENT_DEFER, 0));
  }
  return out;
}

constexpr size_t kOwn = 6 * kPiece;  // in every segment: of rank 2's part

void put_to_2() {
  CHECK_EQ(gex_RMA_PutBlocking(pair(1, 0), 2, at(2, 0, kOwn), at(0, 1, kOwn), kPiece, 0), 0);
}
void get_from_2() {
  CHECK_EQ(gex_RMA_GetBlocking(pair(1, 0), at(0, 1, kOwn), 2, at(2, 0, kOwn), kPiece, 0), 0);
}

}  // namespace

// Catches buffers of an owner's that stay with whom they were granted to.
SPEC_CASE(mk_attention, silent_putter, 3) {
  std::vector<std::byte> source(kMany), other(kFew);
  spec::fill(source.data(), kMany, 1);
  spec::fill(other.data(), kFew, 2);
  beside_silent(
      [&] {
        return gex_RMA_PutNB(pair(0, 1), 0, at(0, 1), source.data(), kMany, GEX_EVENT_DEFER, 0);
      },
      [&] {
        CHECK_EQ(gex_RMA_PutBlocking(pair(0, 1), 0, at(0, 1, kMany), other.data(), kFew, 0), 0);
      });
  if (job().rank == 0) {
    CHECK_PLACE(1, 0, kMany, 1);
    CHECK_PLACE(1, kMany, kFew, 2);
  }
}

SPEC_CASE(mk_attention, silent_getter, 3) {
  mk::devices();
  std::vector<std::byte> all(kMany), some(kFew);
  if (job().rank == 0) {
    mk::fill(1, 0, kMany, 3);
    mk::fill(1, kMany, kFew, 4);
  }
  beside_silent([&] { return gex_RMA_GetNB(pair(0, 1), all.data(), 0, at(0, 1), kMany, 0); },
                [&] {
                  CHECK_EQ(
                      gex_RMA_GetBlocking(pair(0, 1), some.data(), 0, at(0, 1, kMany), kFew, 0), 0);
                });
  if (job().rank == 1) CHECK_PATTERN(all.data(), kMany, 3);
  if (job().rank == 2) CHECK_PATTERN(some.data(), kFew, 4);
}

// Catches a queue of waiting transfers that serves several peers, or both directions, and buffers
// that stay with transfers to one peer.
SPEC_CASE(mk_attention, put_beside_gets, 3) {
  toward_silent([] { return many_gets(1); }, put_to_2);
}
SPEC_CASE(mk_attention, put_beside_puts, 3) {
  toward_silent([] { return many_puts(1); }, put_to_2);
}
SPEC_CASE(mk_attention, get_beside_gets, 3) {
  toward_silent([] { return many_gets(1); }, get_from_2);
}
