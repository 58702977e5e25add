// The content of an endpoint's shared object: one header, one slot per sender, two rings per slot.
// Every process that maps it was built from the same version of this file (layout_version).
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace causeway::shm {

inline constexpr uint64_t layout_magic = 0x7979616f6d68732dull;
inline constexpr uint32_t layout_version = 5;
inline constexpr size_t cache_line = 64;
inline constexpr size_t ring_unit = 4096;  // where rings begin; the machine's pages may be larger

// A sender's threads go up to so many ways beside the connection's first one.
inline constexpr uint32_t side_ways_max = 3;

enum Lane : uint32_t { request_lane = 0, reply_lane = 1, lane_count = 2 };
static_assert(CWYC_LANE_REPLY == 1, "the reply flag is used as the lane's index");

constexpr size_t round_up(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

// ---- slots: who may write into which rings ---------------------------------------------------

// A slot's owner is a single word, so that a claim and its owner appear together: a claim whose
// owner died is attributable. 0 is a free slot. Who gives a slot away releases it, and who takes it
// acquires: a claim finds the ring wiped, adopt() the slot written and every record before a closing.
enum class SlotState : uint8_t { free = 0, claimed = 1, open = 2, closing = 3 };

struct SlotOwner {
  SlotState state;
  cwy_peer sender;
};
constexpr uint32_t epoch_mask = 0xffffff;
constexpr uint64_t pack(SlotOwner o) {
  return uint64_t(o.state) << 56 | uint64_t(o.sender.epoch & epoch_mask) << 32 | o.sender.rank;
}
constexpr SlotOwner unpack(uint64_t word) {
  return {SlotState(word >> 56), {uint32_t(word), uint32_t(word >> 32) & epoch_mask}};
}

struct alignas(cache_line) LaneHead {
  // How far the receiver has read, in bytes since the slot was claimed. Published now and then
  // with release; the sender's acquire makes it safe to overwrite what lies before.
  std::atomic<uint64_t> head;
};

struct alignas(cache_line) Slot {
  std::atomic<uint64_t> owner;
  std::atomic<uint32_t> sender_pid;
  std::atomic<uint32_t> sender_has_membarrier;  // its naps may rely on membarrier reaching us
  std::atomic<uint64_t> sender_job;             // of its job's key
  LaneHead lane[lane_count];
};

struct alignas(cache_line) ControlHeader {
  // Constant once the address has been given out.
  uint64_t magic;
  uint32_t version;
  uint32_t slot_count;    // all of them
  uint32_t first_count;   // connections take these; their side ways, those behind
  uint64_t ring_bytes;
  uint64_t nonce;  // also in the address: tells a recycled pid and descriptor from the real owner
  uint64_t total_bytes;
  uint32_t pid;
  uint32_t medium_max;

  // 1 while the owner sleeps or is about to. Senders read it after every message; the line is
  // written twice per sleep and otherwise stays in every sender's cache.
  alignas(cache_line) std::atomic<uint32_t> sleeping;

  // Raised after every change of a slot's owner, so that the receiver polls one word.
  alignas(cache_line) std::atomic<uint32_t> slot_generation;
  std::atomic<uint32_t> closed;  // the owner has left in good order
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

inline constexpr uint32_t slots_max = 65536;

constexpr size_t rings_offset(uint32_t slots) {
  return round_up(sizeof(ControlHeader) + slots * sizeof(Slot), ring_unit);
}
constexpr size_t control_bytes(uint32_t slots, size_t ring_bytes) {
  return rings_offset(slots) + size_t(slots) * lane_count * ring_bytes;
}
inline Slot* slot_at(ControlHeader* control, uint32_t slot) {
  return reinterpret_cast<Slot*>(control + 1) + slot;
}
inline char* ring_at(ControlHeader* control, uint32_t slot, uint32_t lane) {
  return reinterpret_cast<char*>(control) + rings_offset(control->slot_count) +
         (size_t(slot) * lane_count + lane) * control->ring_bytes;
}

// ---- records ---------------------------------------------------------------------------------

// A record starts a cache line with its header word, which is nonzero exactly when the record is
// complete, and fills whole lines: no line is ever worked on by both ends at once.
//   short   header word | core word | args
//   medium  header word | core word | args, padded to 16 | payload
//   long    header word | core word | address | 0 | args
//   skip    header word; the next record stands `length` bytes on, or with 0 at the ring's start
inline constexpr size_t record_unit = cache_line;
inline constexpr size_t record_fixed = 16;

enum class RecordKind : uint8_t { am_short = 1, am_medium = 2, am_long = 3, skip = 4 };

struct RecordHeader {
  RecordKind kind;
  uint8_t nargs;
  uint16_t check;  // record_check: garbage is noticed early
  uint32_t length;
};
inline constexpr uint16_t record_check = 0xc5a3;

constexpr uint64_t pack_header(RecordKind kind, uint32_t nargs, size_t length) {
  return uint64_t(kind) | uint64_t(nargs) << 8 | uint64_t(record_check) << 16 |
         uint64_t(length) << 32;
}
constexpr RecordHeader unpack_header(uint64_t word) {
  return {RecordKind(word & 0xff), uint8_t(word >> 8), uint16_t(word >> 16), uint32_t(word >> 32)};
}
constexpr bool is_skip(uint64_t word) {
  return unpack_header(word).kind == RecordKind::skip;
}
constexpr size_t args_bytes(uint32_t nargs) {
  return (size_t(nargs) * 4 + 15) & ~size_t(15);
}
constexpr size_t short_bytes(uint32_t nargs) {
  return round_up(record_fixed + args_bytes(nargs), record_unit);
}
constexpr size_t long_bytes(uint32_t nargs) {
  return round_up(record_fixed + 16 + args_bytes(nargs), record_unit);
}
constexpr size_t medium_bytes(uint32_t nargs, size_t length) {
  return round_up(record_fixed + args_bytes(nargs) + length, record_unit);
}

// The sender hears of each such part of the ring that has been read: often enough that a sender
// who found the ring full waits less than the core's waiters spin.
inline constexpr size_t tell_parts = 16;

// A record and the skip that it needs at the ring's end, which is shorter, always fit an empty ring
// of which the last part that was read has not been told of yet. (A skip before the end is made only
// where both fit.)
constexpr size_t medium_max_of(size_t ring_bytes) {
  return (ring_bytes - ring_bytes / tell_parts) / 2 - record_fixed - args_bytes(CWYC_AM_MAX_ARGS);
}
inline constexpr size_t least_ring_bytes = ring_unit;

}  // namespace causeway::shm
