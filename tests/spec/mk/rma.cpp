// Puts and gets between host memory and device memory, in every combination of places, to every
// rank, the own one included.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "devices.h"

using mk::at;
using mk::kPlaces;
using mk::pair;
using spec::job;

namespace {

// The upper half of the host segment and of device memory receives, one slot per sender; the lower
// half sends.
constexpr size_t kHalf = mk::kBytes / 2;
size_t slot_bytes() {
  return kHalf / job().size / 4096 * 4096;
}
size_t slot(gex_Rank_t sender) {
  return kHalf + sender * slot_bytes();
}

uint64_t seed_of(gex_Rank_t rank, unsigned from, unsigned to, size_t bytes) {
  return ((rank * uint64_t{kPlaces} + from) * kPlaces + to) * 1000003 + bytes;
}

const std::vector<size_t>& sizes() {
  // Around the staging buffers of the configurations that are run (64 KiB, 1 MiB).
  static const std::vector<size_t> all = [] {
    std::vector<size_t> out;
    for (const size_t n : {size_t{0}, size_t{1}, size_t{8}, size_t{63}, size_t{4096}, size_t{65535},
                           size_t{65537}, size_t{200000}}) {
      if (n <= slot_bytes()) out.push_back(n);
    }
    return out;
  }();
  return all;
}

}  // namespace

// Catches bytes lost or put elsewhere on any of the paths, and host code that touches device
// memory.
SPEC_CASE(mk_rma, put_blocking) {
  mk::devices();
  for (unsigned from = 0; from < kPlaces; ++from) {
    for (unsigned to = 0; to < kPlaces; ++to) {
      if (from == 0 && to == 0) continue;
      for (const size_t n : sizes()) {
        for (gex_Rank_t d = 0; d < job().size; ++d) {
          const gex_Rank_t peer = job().peer(d);
          mk::fill(from, 0, n, seed_of(job().rank, from, to, n));
          CHECK_EQ(gex_RMA_PutBlocking(pair(from, to), peer, at(peer, to, slot(job().rank)),
                                       at(job().rank, from), n, 0),
                   0);
        }
        spec::barrier();
        for (gex_Rank_t r = 0; r < job().size; ++r) {
          CHECK_PLACE(to, slot(r), n, seed_of(r, from, to, n));
        }
        spec::barrier();
      }
    }
  }
}

SPEC_CASE(mk_rma, get_blocking) {
  mk::devices();
  for (unsigned from = 0; from < kPlaces; ++from) {
    for (unsigned to = 0; to < kPlaces; ++to) {
      if (from == 0 && to == 0) continue;
      for (const size_t n : sizes()) {
        mk::fill(from, 0, n, seed_of(job().rank, from, to, n));
        spec::barrier();
        for (gex_Rank_t d = 0; d < job().size; ++d) {
          const gex_Rank_t peer = job().peer(d);
          CHECK_EQ(gex_RMA_GetBlocking(pair(to, from), at(job().rank, to, slot(peer)), peer,
                                       at(peer, from), n, 0),
                   0);
          CHECK_PLACE(to, slot(peer), n, seed_of(peer, from, to, n));
        }
        spec::barrier();
      }
    }
  }
}

// Catches completion that is reported before the bytes are there, or a source that is read after it
// was given back. Many at once, more than there are staging buffers.
SPEC_CASE(mk_rma, nonblocking) {
  mk::devices();
  constexpr unsigned kMany = 20;
  const size_t kPiece = std::min<size_t>(3000, slot_bytes() / kMany);
  for (unsigned from = 0; from < kPlaces; ++from) {
    for (unsigned to = 0; to < kPlaces; ++to) {
      if (from == 0 && to == 0) continue;
      const gex_Rank_t peer = job().peer();
      const size_t there = slot(job().rank);
      std::vector<gex_Event_t> events, locals(kMany);
      for (unsigned i = 0; i < kMany; ++i) {
        mk::fill(from, i * kPiece, kPiece, seed_of(job().rank, from, to, i));
        events.push_back(gex_RMA_PutNB(pair(from, to), peer, at(peer, to, there + i * kPiece),
                                       at(job().rank, from, i * kPiece), kPiece, &locals[i], 0));
      }
      for (unsigned i = 0; i < kMany; ++i) {
        gex_Event_Wait(locals[i]);
        mk::fill(from, i * kPiece, kPiece, 77);  // the source is ours again
      }
      for (const gex_Event_t e : events) gex_Event_Wait(e);
      spec::barrier();
      const gex_Rank_t writer = job().behind();
      const size_t here = slot(writer);
      for (unsigned i = 0; i < kMany; ++i) {
        CHECK_PLACE(to, here + i * kPiece, kPiece, seed_of(writer, from, to, i));
      }
      spec::barrier();
      for (unsigned i = 0; i < kMany; ++i) {
        CHECK_EQ(gex_RMA_GetNBI(pair(from, to), at(job().rank, from, i * kPiece), peer,
                                at(peer, to, there + i * kPiece), kPiece, 0),
                 0);
      }
      gex_NBI_Wait(GEX_EC_GET, 0);
      for (unsigned i = 0; i < kMany; ++i) {
        CHECK_PLACE(from, i * kPiece, kPiece, seed_of(job().rank, from, to, i));
      }
      spec::barrier();
    }
  }
}

// Both directions at once through the same buffers.
SPEC_CASE(mk_rma, both_directions) {
  mk::devices();
  const size_t n = std::min(slot_bytes(), kHalf / 2);
  const gex_Rank_t peer = job().peer();
  mk::fill(1, 0, n, job().rank);
  mk::fill(2, 0, n, 1000 + job().rank);
  spec::barrier();
  const gex_Event_t put = gex_RMA_PutNB(pair(1, 2), peer, at(peer, 2, slot(job().rank)),
                                        at(job().rank, 1), n, GEX_EVENT_DEFER, 0);
  const gex_Event_t get =
      gex_RMA_GetNB(pair(1, 2), at(job().rank, 1, slot(job().rank)), peer, at(peer, 2), n, 0);
  gex_Event_Wait(get);
  gex_Event_Wait(put);
  CHECK_PLACE(1, slot(job().rank), n, 1000 + peer);
  spec::barrier();
  CHECK_PLACE(2, slot(job().behind()), n, job().behind());
}

// The bytes of the program's own plain copy are there for a transfer that begins when it returns.
// Catches transfers that take no notice of what the driver does in its own time.
SPEC_CASE(mk_rma, after_plain_copy) {
  const mk::Devices& d = mk::devices();
  constexpr size_t kSome = 100000, kSource = 256 << 10;
  const gex_Rank_t peer = job().peer();
  std::vector<std::byte> in(kSome);
  for (unsigned place = 1; place < kPlaces; ++place) {
    mk::fill(place, 0, kSome, 1);
    mk::fill(place, kSource, kSome, place + job().rank);
    mk::access().copy_plainly(d.device[place - 1], at(job().rank, place),
                              at(job().rank, place, kSource), kSome);
    CHECK_EQ(gex_RMA_PutBlocking(pair(place, 0), peer, at(peer, 0, kHalf), at(job().rank, place),
                                 kSome, 0),
             0);
    spec::barrier();
    CHECK_PLACE(0, kHalf, kSome, place + job().behind());
    mk::fill(place, 0, kSome, 1);
    mk::access().copy_plainly(d.device[place - 1], at(job().rank, place),
                              at(job().rank, place, kSource), kSome);
    spec::barrier();
    CHECK_EQ(gex_RMA_GetBlocking(pair(0, place), in.data(), peer, at(peer, place), kSome, 0), 0);
    CHECK_PATTERN(in.data(), kSome, place + peer);
    spec::barrier();
  }
}

// A driver that keeps an error for each thread has none of the library's to tell the program.
SPEC_CASE(mk_rma, no_error_left) {
  mk::devices();
  mk::access().last_error();
  std::vector<std::byte> host(200000);
  const gex_Rank_t peer = job().peer();
  CHECK_EQ(gex_RMA_PutBlocking(pair(0, 1), peer, at(peer, 1), host.data(), host.size(), 0), 0);
  CHECK_EQ(gex_RMA_GetBlocking(pair(1, 0), at(job().rank, 1), peer, at(peer, 0), 4096, 0), 0);
  CHECK_EQ(mk::access().last_error(), 0);
  spec::barrier();
}

// Sizes that the compiler knows: the client's inline half must not touch device memory.
SPEC_CASE(mk_rma, known_sizes) {
  mk::devices();
  const gex_Rank_t peer = job().peer();
  uint64_t value = 0x1122334455667788u + job().rank;
  mk::write(1, 0, &value, 8);
  std::byte* const source = at(job().rank, 1);
  CHECK_EQ(gex_RMA_PutBlocking(pair(1, 1), peer, at(peer, 1, 64), source, 8, 0), 0);
  spec::barrier();
  uint64_t seen = 0;
  mk::read(1, 64, &seen, 8);
  CHECK_EQ(seen, 0x1122334455667788u + job().behind());
  std::byte* const target = at(job().rank, 1, 128);
  CHECK_EQ(gex_RMA_GetBlocking(pair(1, 1), target, peer, at(peer, 1, 0), 4, 0), 0);
  uint32_t low = 0;
  mk::read(1, 128, &low, 4);
  CHECK_EQ(low, static_cast<uint32_t>(0x55667788u + peer));
  // From and into variables of the host.
  const uint64_t host = 42 + job().rank;
  CHECK_EQ(gex_RMA_PutBlocking(pair(0, 2), peer, at(peer, 2, 192), &host, 8, 0), 0);
  spec::barrier();
  uint64_t back = 0;
  CHECK_EQ(gex_RMA_GetBlocking(pair(0, 2), &back, peer, at(peer, 2, 192), 8, 0), 0);
  CHECK_EQ(back, 42 + job().rank);
  spec::barrier();
}

SPEC_CASE(mk_rma, values) {
  mk::devices();
  for (unsigned from = 0; from < kPlaces; ++from) {
    for (unsigned to = 1; to < kPlaces; ++to) {
      const gex_Rank_t peer = job().peer();
      for (size_t n = 1; n <= 8; n *= 2) {
        const gex_RMA_Value_t value = 0x0102030405060708u * (job().rank + 1);
        std::byte* const place = at(peer, to, kHalf + 16 * n);
        CHECK_EQ(gex_RMA_PutBlockingVal(pair(from, to), peer, place, value, n, 0), 0);
        CHECK_EQ(gex_RMA_PutNBIVal(pair(from, to), peer, place + 1024, value, n, 0), 0);
        const gex_Event_t e = gex_RMA_PutNBVal(pair(from, to), peer, place + 2048, value, n, 0);
        gex_NBI_Wait(GEX_EC_PUT, 0);
        gex_Event_Wait(e);
        const gex_RMA_Value_t expected = n == 8 ? value : value & ((uint64_t{1} << 8 * n) - 1);
        for (const size_t more : {0, 1024, 2048}) {
          CHECK_EQ(gex_RMA_GetBlockingVal(pair(from, to), peer, place + more, n, 0), expected);
        }
      }
      spec::barrier();
    }
  }
}

// Addresses as offsets into the bound segments.
SPEC_CASE(mk_rma, offsets) {
  mk::devices();
  constexpr size_t kSome = 5000;
  const gex_Rank_t peer = job().peer();
  mk::fill(1, 128, kSome, 9 + job().rank);
  CHECK_EQ(gex_RMA_PutBlocking(pair(1, 2), peer, reinterpret_cast<void*>(kHalf),
                               reinterpret_cast<void*>(128), kSome,
                               GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET),
           0);
  spec::barrier();
  CHECK_PLACE(2, kHalf, kSome, 9 + job().behind());
  spec::barrier();
}

// A team of endpoints that are bound to device memory.
SPEC_CASE(mk_rma, team_of_devices) {
  const mk::Devices& d = mk::devices();
  std::vector<gex_EP_Location_t> members;
  for (gex_Rank_t r = 0; r < job().size; ++r) {
    members.push_back({r, gex_EP_QueryIndex(d.ep[1])});
  }
  gex_TM_t team = GEX_TM_INVALID;
  CHECK_EQ(gex_TM_Create(&team, 1, job().tm, members.data(), members.size(), nullptr, 0,
                         GEX_FLAG_TM_NO_SCRATCH),
           0u);
  constexpr size_t kSome = 70000;
  const gex_Rank_t peer = job().peer();
  mk::fill(1, 0, kSome, 5 + job().rank);
  CHECK_EQ(gex_RMA_PutBlocking(team, peer, at(peer, 1, kHalf), at(job().rank, 1), kSome, 0), 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  CHECK_PLACE(1, kHalf, kSome, 5 + job().behind());
  spec::barrier();
  gex_TM_Destroy(team, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
}

// Host memory at addresses where a published segment was before, which its peers still have mapped:
// what is in no segment now is named by the library alone. Would catch an owner that copies for a
// peer to or from the memory of the segment that is gone.
SPEC_CASE(mk_rma, where_a_segment_was) {
  mk::devices();
  static gex_EP_t ep = GEX_EP_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_RMA, 0), GASNET_OK);
  CHECK_EQ(gex_Segment_Create(&segment, job().client, nullptr, mk::kBytes, GEX_MK_HOST, 0),
           GASNET_OK);
  CHECK_EQ(gex_EP_BindSegment(ep, segment, 0), GASNET_OK);
  gex_EP_t eps[] = {ep};
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, eps, 1, 0), GASNET_OK);
  void* const there = gex_Segment_QueryAddr(segment);
  spec::barrier();
  gex_Segment_Destroy(segment, 0);
  spec::barrier();
  void* const again = mmap(there, mk::kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  CHECK(again == there);  // nothing else was mapped meanwhile
  auto* const memory = static_cast<std::byte*>(again);
  const gex_Rank_t peer = job().peer();
  const size_t n = slot_bytes();
  mk::fill(1, 0, n, 300 + job().rank);
  spec::fill(memory + n, n, 400 + job().rank);
  spec::barrier();
  CHECK_EQ(gex_RMA_GetBlocking(pair(0, 1), memory, peer, at(peer, 1), n, 0), 0);
  CHECK_PATTERN(memory, n, 300 + peer);
  CHECK_EQ(gex_RMA_PutBlocking(pair(0, 1), peer, at(peer, 1, slot(job().rank)), memory + n, n, 0),
           0);
  spec::barrier();
  CHECK_PLACE(1, slot(job().behind()), n, 400 + job().behind());
  spec::barrier();
  munmap(again, mk::kBytes);
}
