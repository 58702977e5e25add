// Puts, gets and fetch-adds of 8 bytes to the neighbour, beside stores, loads and `lock xadd`.

#include <numeric>
#include <random>

#include "../raw/access.h"
#include "neighbor.h"

namespace causeway::bench {
namespace {

constexpr size_t kSlots = 64;  // one per cache line: 4 KiB, well within a first-level cache
constexpr size_t kLine = 64;
constexpr uint64_t kTrial = 64;

// Addresses of the slots in a random order, the same order for both sides.
std::vector<void*> slot_addresses(unsigned char* base) {
  std::vector<size_t> order(kSlots);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  std::vector<void*> addresses(kSlots);
  for (size_t i = 0; i < kSlots; ++i) addresses[i] = base + order[i] * kLine;
  return addresses;
}

// Links the slots of the owner's memory into one ring of that owner's addresses.
void put_chain(const Neighbor& target) {
  const std::vector<void*> slots = slot_addresses(target.owner);
  for (size_t i = 0; i < kSlots; ++i) {
    const uint64_t next = reinterpret_cast<uintptr_t>(slots[(i + 1) % kSlots]);
    gex_RMA_PutBlocking(target.peer.tm, target.peer.rank, slots[i], &next, sizeof next, 0);
  }
}

// The same ring, in this process' addresses, in the lines' second words.
void store_chain(unsigned char* mapped) {
  const std::vector<void*> slots = slot_addresses(mapped + sizeof(void*));
  for (size_t i = 0; i < kSlots; ++i) {
    void* const next = slots[(i + 1) % kSlots];
    memcpy(slots[i], &next, sizeof next);
  }
}

void measure_puts(Session& session, const Neighbor& target) {
  const Peer peer = target.peer;
  const std::vector<void*> ours = slot_addresses(target.owner);
  const std::vector<void*> raw = slot_addresses(target.mapped);
  const std::vector<uint64_t> values(kSlots, 5);
  compare(
      session, target, "put8.same", kTrial, [&](uint64_t n) { put8_same(peer, ours[0], n); },
      [&](uint64_t n) { raw::store_same(raw[0], n); });
  compare(
      session, target, "put8.array", kTrial,
      [&](uint64_t n) { put8_array(peer, ours.data(), values.data(), kSlots - 1, n); },
      [&](uint64_t n) { raw::copy_array(raw.data(), values.data(), kSlots - 1, n); });
  compare(
      session, target, "put8.value", kTrial,
      [&](uint64_t n) { put8_value(peer, ours.data(), kSlots - 1, n); },
      [&](uint64_t n) { raw::store_array(raw.data(), kSlots - 1, n); });
  compare(
      session, target, "put8.nb", kTrial, [&](uint64_t n) { put8_nb_same(peer, ours[0], n); },
      [&](uint64_t n) { put8_same(peer, ours[0], n); });
}

void measure_gets(Session& session, const Neighbor& target) {
  const Peer peer = target.peer;
  const std::vector<void*> ours = slot_addresses(target.owner);
  const std::vector<void*> raw = slot_addresses(target.mapped);
  compare(
      session, target, "get8.same", kTrial, [&](uint64_t n) { get8_same(peer, ours[0], n); },
      [&](uint64_t n) { raw::load_same(raw[0], n); });
  compare(
      session, target, "get8.array", kTrial,
      [&](uint64_t n) { get8_array(peer, ours.data(), kSlots - 1, n); },
      [&](uint64_t n) { raw::load_array(raw.data(), kSlots - 1, n); });
  put_chain(target);
  store_chain(target.mapped);
  compare(
      session, target, "get8.chain", kTrial, [&](uint64_t n) { get8_chain(peer, ours[0], n); },
      [&](uint64_t n) { raw::load_chain(static_cast<unsigned char*>(raw[0]) + sizeof(void*), n); });
}

void measure_atomics(Session& session, const Neighbor& target, gex_AD_t ad) {
  const gex_Rank_t rank = target.peer.rank;
  const std::vector<void*> ours = slot_addresses(target.owner);
  const std::vector<void*> raw = slot_addresses(target.mapped);
  compare(
      session, target, "fadd8.same", kTrial,
      [&](uint64_t n) { fetch_add8_same(ad, rank, ours[0], n); },
      [&](uint64_t n) { raw::fetch_add_same(raw[0], n); });
  compare(
      session, target, "fadd8.array", kTrial,
      [&](uint64_t n) { fetch_add8_array(ad, rank, ours.data(), kSlots - 1, n); },
      [&](uint64_t n) { raw::fetch_add_array(raw.data(), kSlots - 1, n); });
  compare(
      session, target, "fadd8.unknown", kTrial,
      [&](uint64_t n) { fetch_op8_same(ad, rank, ours[0], GEX_OP_FADD, n); },
      [&](uint64_t n) { raw::fetch_add_same(raw[0], n); });
}

}  // namespace

void measure_small_rma(Session& session) {
  Job& job = session.job();
  const Neighbor target(job);
  gex_AD_t ad;
  gex_AD_Create(&ad, job.tm(), GEX_DT_U64, GEX_OP_FADD, 0);
  if (job.is_first() && target.mapped != nullptr) {
    measure_puts(session, target);
    measure_gets(session, target);
    measure_atomics(session, target, ad);
  }
  job.sync();
  gex_AD_Destroy(ad);
}

}  // namespace causeway::bench
