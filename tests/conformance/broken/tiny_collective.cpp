// Textbook algorithms, to try the collective suite on, and faults to prove that it can fail:
// BROKEN_FAULT = none, early_barrier, order_lost, root_zero, moody_score,
// retry_is_error, late_signal, early_root, result_at_zero, odd_name.
#include <causeway/collective.h>

#include <cstdlib>
#include <cstring>
#include <string>

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: collective\n"
    "name: tiny\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "license: BSD-3-Clause\n"
    "summary: textbook algorithms for testing the suite\n"
    "options: {}\n");

namespace {

std::string g_fault;

struct State {
  uint32_t round;
  uint32_t sent;
  uint64_t offset;
  uint32_t told;
};

bool retry(cwy_status& status) {
  if (status == CWY_RETRY && g_fault == "retry_is_error") status = CWY_ERR_DEVICE_FAILED;
  return status == CWY_RETRY;
}

// Dissemination: in round k a signal to the member 2^k further on, one signal slot per round.
cwy_status barrier_step(cwyl_team* team, const cwyl_team_services* s, cwyl_seq seq,
                        const cwyl_args*, void* memory) {
  auto* st = static_cast<State*>(memory);
  const cwyl_team_info* info = s->info(team);
  const uint32_t skip = g_fault == "early_barrier" ? 2 : 1;  // every second round is left out
  while ((1ull << st->round) < info->size) {
    if (st->sent == 0) {
      const auto to = static_cast<uint32_t>((info->rank + (1ull << st->round)) % info->size);
      cwy_status status = s->put_signal(team, seq, to, nullptr, 0, 0, st->round);
      if (retry(status)) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
      st->sent = 1;
    }
    if (s->signal(team, seq, st->round) == 0) return CWY_INPROGRESS;
    st->sent = 0;
    st->round += skip;
  }
  return CWY_OK;
}

// early_root: the root says where its source is too, and members copy from there what they reach,
// but it does not hear of them before it ends. Where the region lies in the scratch, and its
// signal.
constexpr uint64_t kPlaceAt = 4096;
constexpr uint32_t kPlace = 2;

cwy_status tell_place(cwyl_team* team, const cwyl_team_services* s, cwyl_seq seq,
                      const cwyl_args* a, State* st) {
  const cwyl_team_info* info = s->info(team);
  cwyl_region place{};
  if (s->expose(team, seq, const_cast<void*>(a->src), a->count, &place) != CWY_OK) place = {};
  for (; st->told < info->size; ++st->told) {
    if (st->told == info->rank) continue;
    const cwy_status status =
        s->put_signal(team, seq, st->told, &place, sizeof place, kPlaceAt, kPlace);
    if (status != CWY_OK) return status == CWY_RETRY ? CWY_INPROGRESS : status;
  }
  return CWY_OK;
}

// The root writes to every member in turn, in pieces of the scratch's size; credits come back on
// signal 1.
cwy_status broadcast_step(cwyl_team* team, const cwyl_team_services* s, cwyl_seq seq,
                          const cwyl_args* a, void* memory) {
  auto* st = static_cast<State*>(memory);
  const cwyl_team_info* info = s->info(team);
  uint64_t room = 0;
  const auto* scratch = static_cast<const char*>(s->scratch(team, seq, &room));
  if (room > info->put_max) room = info->put_max;
  const uint64_t bytes = a->element_bytes * a->count;
  const uint32_t root = g_fault == "root_zero" ? 0 : a->root;
  const bool early = g_fault == "early_root" && bytes != 0;
  if (info->rank == root) {
    const cwy_status told = early ? tell_place(team, s, seq, a, st) : CWY_OK;
    if (told != CWY_OK) return told;
    for (; st->offset < bytes; st->offset += room, ++st->round) {
      if (st->round != 0 && s->signal(team, seq, 1) < uint64_t{st->round} * (info->size - 1)) {
        return CWY_INPROGRESS;
      }
      const uint64_t n = bytes - st->offset < room ? bytes - st->offset : room;
      for (; st->sent < info->size; ++st->sent) {
        if (st->sent == info->rank) continue;
        cwy_status status = s->put_signal(team, seq, st->sent,
                                          static_cast<const char*>(a->src) + st->offset, n, 0, 0);
        if (retry(status)) return CWY_INPROGRESS;
        if (status != CWY_OK) return status;
      }
      st->sent = 0;
    }
    s->copy(team, seq, a->dst, a->src, bytes);
    return CWY_OK;
  }
  const void* place = nullptr;
  if (early) {
    if (s->signal(team, seq, kPlace) == 0) return CWY_INPROGRESS;
    cwyl_region region;
    std::memcpy(&region, scratch + kPlaceAt, sizeof region);
    place = s->direct(team, seq, root, &region, 0);
  }
  while (st->offset < bytes) {
    if (st->sent == 0) {
      if (s->signal(team, seq, 0) <= st->round) return CWY_INPROGRESS;
      const uint64_t n = bytes - st->offset < room ? bytes - st->offset : room;
      const char* from = place != nullptr ? static_cast<const char*>(place) + st->offset : scratch;
      s->copy(team, seq, static_cast<char*>(a->dst) + st->offset, from, n);
      st->sent = 1;
    }
    // No credit for the last piece: nobody would wait for it any more.
    if (st->offset + room < bytes || g_fault == "late_signal") {
      cwy_status status = s->put_signal(team, seq, root, nullptr, 0, 0, 1);
      if (retry(status)) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
    }
    st->sent = 0;
    st->offset += room;
    ++st->round;
  }
  return CWY_OK;
}

// A chain: rank r waits for the result of 0..r-1, adds its own, and hands on. The last one tells
// everybody, or the root alone.
cwy_status chain_step(cwyl_team* team, const cwyl_team_services* s, cwyl_seq seq,
                      const cwyl_args* a, void* memory) {
  auto* st = static_cast<State*>(memory);
  const cwyl_team_info* info = s->info(team);
  const uint64_t bytes = a->element_bytes * a->count;
  const bool one = a->operation == CWYL_REDUCE_ONE;
  const uint32_t root = g_fault == "result_at_zero" ? 0 : a->root;
  const bool last = info->rank + 1 == info->size, gets = !one || info->rank == root;
  uint64_t room = 0;
  char* scratch = static_cast<char*>(s->scratch(team, seq, &room));
  void* sum = one ? scratch + room / 4 : a->dst;
  if (st->round == 0) {
    if (info->rank != 0 && s->signal(team, seq, 0) == 0) return CWY_INPROGRESS;
    s->copy(team, seq, sum, a->src, bytes);
    if (info->rank != 0 && g_fault != "order_lost") s->reduce(team, seq, scratch, sum, a->count);
    if (info->rank != 0 && g_fault == "order_lost") {
      s->reduce(team, seq, a->src, scratch, a->count);
      s->copy(team, seq, sum, scratch, bytes);
    }
    st->round = 1;
  }
  if (st->round == 1) {
    if (!last) {
      cwy_status status = s->put_signal(team, seq, info->rank + 1, sum, bytes, 0, 0);
      if (retry(status)) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
    }
    st->round = 2;
  }
  if (last) {
    for (; st->sent + 1 < info->size; ++st->sent) {
      if (one && st->sent != root) continue;
      cwy_status status = s->put_signal(team, seq, st->sent, sum, bytes, room / 2, 1);
      if (retry(status)) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
    }
    if (one && gets) s->copy(team, seq, a->dst, sum, bytes);
    return CWY_OK;
  }
  if (!gets) return CWY_OK;
  if (s->signal(team, seq, 1) == 0) return CWY_INPROGRESS;
  s->copy(team, seq, a->dst, scratch + room / 2, bytes);
  return CWY_OK;
}

int32_t score(const cwyl_shape* shape) {
  static int32_t mood = 0;
  return g_fault == "moody_score" ? ++mood : static_cast<int32_t>(shape->team_size);
}

cwyl_candidate candidate(const char* name, uint32_t operation, uint64_t max_bytes,
                         decltype(&barrier_step) step) {
  cwyl_candidate c{};
  c.head = CWY_HEAD(cwyl_candidate);
  c.name = name;
  c.operation = operation;
  c.keeps_order = 1;
  c.max_bytes = max_bytes;
  c.min_team = 1;
  c.max_team = UINT32_MAX;
  c.state_bytes = sizeof(State);
  c.score = score;
  c.start = step;
  c.step = step;
  return c;
}

const cwyl_candidate g_barrier = candidate("dissemination", CWYL_BARRIER, UINT64_MAX, barrier_step);
const cwyl_candidate g_broadcast = candidate("flat", CWYL_BROADCAST, UINT64_MAX, broadcast_step);
// No more than one put can carry in every team (put_max).
const cwyl_candidate g_reduce = candidate("chain", CWYL_REDUCE_ALL, 512, chain_step);
const cwyl_candidate g_reduce_one = candidate("chain", CWYL_REDUCE_ONE, 512, chain_step);
const cwyl_candidate g_odd = candidate("Chain!", CWYL_REDUCE_ALL, 512, chain_step);
const cwyl_candidate* g_candidates[] = {&g_barrier, &g_broadcast, &g_reduce, &g_reduce_one};
cwyl_module g_module{};

}  // namespace

extern "C" CWY_EXPORT cwy_status CWY_COLLECTIVE_INIT(const cwy_services*,
                                                     const cwyl_module** module, cwy_err*) {
  const char* fault = std::getenv("BROKEN_FAULT");
  g_fault = fault != nullptr ? fault : "none";
  g_module.head = CWY_HEAD(cwyl_module);
  if (g_fault == "odd_name") g_candidates[2] = &g_odd;
  g_module.candidate_count = 4;
  g_module.candidates = g_candidates;
  *module = &g_module;
  return CWY_OK;
}
