#include "part.h"

namespace hier {
namespace {

Part& of(cwyl_team* team) {
  return *reinterpret_cast<Part*>(team);
}

const cwyl_team_info* info(cwyl_team* t) {
  return &of(t).info;
}
cwy_status put_signal(cwyl_team* t, cwyl_seq seq, uint32_t rank, const void* src, uint64_t length,
                      uint64_t offset, uint32_t signal) {
  Part& p = of(t);
  if (rank >= p.info.size || signal >= p.info.signals || offset > p.scratch_bytes ||
      length > p.scratch_bytes - offset)
    return CWY_ERR_INVALID;
  return p.services->put_signal(p.whole, seq, p.ranks[rank], src, length, p.scratch_at + offset,
                                p.signal_at + signal);
}
uint64_t signal(cwyl_team* t, cwyl_seq seq, uint32_t which) {
  return of(t).services->signal(of(t).whole, seq, of(t).signal_at + which);
}
void* scratch(cwyl_team* t, cwyl_seq seq, uint64_t* length) {
  uint64_t whole = 0;
  auto* const base = static_cast<uint8_t*>(of(t).services->scratch(of(t).whole, seq, &whole));
  *length = of(t).scratch_bytes;
  return base + of(t).scratch_at;
}
cwy_status expose(cwyl_team* t, cwyl_seq seq, void* addr, uint64_t length, cwyl_region* out) {
  return of(t).services->expose(of(t).whole, seq, addr, length, out);
}
void* direct(cwyl_team* t, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
             uint64_t offset) {
  if (rank >= of(t).info.size) return nullptr;
  return of(t).services->direct(of(t).whole, seq, of(t).ranks[rank], region, offset);
}
cwy_status put_region(cwyl_team* t, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                      uint64_t offset, const void* src, uint64_t length, uint32_t* done) {
  if (rank >= of(t).info.size) return CWY_ERR_INVALID;
  return of(t).services->put_region(of(t).whole, seq, of(t).ranks[rank], region, offset, src,
                                    length, done);
}
cwy_status get_region(cwyl_team* t, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                      uint64_t offset, void* dst, uint64_t length, uint32_t* done) {
  if (rank >= of(t).info.size) return CWY_ERR_INVALID;
  return of(t).services->get_region(of(t).whole, seq, of(t).ranks[rank], region, offset, dst,
                                    length, done);
}
cwy_status put_region_signal(cwyl_team* t, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                             uint64_t offset, const void* src, uint64_t length, uint32_t signal,
                             uint32_t* done) {
  if (rank >= of(t).info.size || signal >= of(t).info.signals) return CWY_ERR_INVALID;
  return of(t).services->put_region_signal(of(t).whole, seq, of(t).ranks[rank], region, offset, src,
                                           length, of(t).signal_at + signal, done);
}
void reduce(cwyl_team* t, cwyl_seq seq, const void* left, void* inout, uint64_t count) {
  of(t).services->reduce(of(t).whole, seq, left, inout, count);
}
void copy(cwyl_team* t, cwyl_seq seq, void* dst, const void* src, uint64_t length) {
  of(t).services->copy(of(t).whole, seq, dst, src, length);
}
void reduce_into(cwyl_team* t, cwyl_seq seq, const void* left, const void* right, void* out,
                 uint64_t count) {
  of(t).services->reduce_into(of(t).whole, seq, left, right, out, count);
}
void* memory(cwyl_team* t, cwyl_seq seq, uint64_t length) {
  return of(t).services->memory(of(t).whole, seq, length);
}
// Posts belong to the whole run: parts have none.
cwy_status post(cwyl_team*, cwyl_seq, uint32_t, const void*, uint64_t) {
  return CWY_ERR_INVALID;
}
cwy_status posted(cwyl_team*, cwyl_seq, uint32_t, uint32_t, void*, uint64_t) {
  return CWY_ERR_INVALID;
}

}  // namespace

const cwyl_team_services part_services = {CWY_HEAD(cwyl_team_services),
                                          info,
                                          put_signal,
                                          signal,
                                          scratch,
                                          expose,
                                          direct,
                                          put_region,
                                          get_region,
                                          reduce,
                                          copy,
                                          reduce_into,
                                          memory,
                                          post,
                                          posted,
                                          put_region_signal};

void make_part(Part* part, const Run& run, const uint32_t* ranks, uint32_t count, uint32_t own,
               bool neighbors, const uint32_t* identity, const Share& share) {
  const cwyl_team_info& whole = *run.info;
  cwyl_team_info& i = part->info;
  i = whole;
  i.head = CWY_HEAD(cwyl_team_info);
  i.size = count;
  i.rank = own;
  i.nbrhd_count = neighbors ? 1 : count;
  i.nbrhd_index = neighbors ? 0 : own;
  i.nbrhd_of = neighbors ? nullptr : identity;
  i.nbrhd_size = neighbors ? count : 1;
  i.nbrhd_rank = neighbors ? own : 0;
  i.nbrhd_ranks = neighbors ? identity : identity + own;
  i.scratch_bytes = share.scratch_bytes;
  i.signals = share.signals;
  i.posts = 0;
  i.domain_of = i.nbrhd_of;
  i.domain_count = i.nbrhd_count;
  i.domain_most = i.nbrhd_size;
  part->whole = run.team;
  part->services = run.s;
  part->ranks = ranks;
  part->scratch_at = share.scratch_at;
  part->scratch_bytes = share.scratch_bytes;
  part->signal_at = share.signal_at;
}

}  // namespace hier
