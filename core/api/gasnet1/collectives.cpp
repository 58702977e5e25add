// gasnet_coll_*: who sends which block to whom.
#include <gasnet.h>
#include <gasnet_coll.h>

#include "am/send.h"
#include "api/export.h"
#include "api/gasnet1/blocks.h"
#include "api/gasnet1/legacy.h"
#include "base/fatal.h"
#include "object/team.h"

namespace causeway {
namespace {

Team& team_of(const char* call, gex_TM_t tm) {
  require_client_context(call, thread_state());
  if (tm == GEX_TM_INVALID) fatal(call, "the team is GEX_TM_INVALID");
  Team& team = *Team::of(tm);
  if (team.is_pair()) fatal(call, "a TM-pair is not a team");
  return team;
}

void require_image(const char* call, const Team& team, gasnet_image_t image) {
  if (image >= team.size())
    fatal(call, "image {} does not exist in a team of {} members", image, team.size());
}

BlockTransfer described(void* dst, size_t nbytes, int flags) {
  BlockTransfer t;
  t.bytes = nbytes;
  t.destination = static_cast<char*>(dst);
  t.enter_together = (flags & GASNET_COLL_IN_ALLSYNC) != 0;
  t.leave_together = (flags & GASNET_COLL_OUT_ALLSYNC) != 0;
  return t;
}

const char* block(const void* base, uint32_t index, size_t nbytes) {
  return static_cast<const char*>(base) + index * nbytes;
}

// The caller's own block, which is data as the others' are: not touched here.
void keep_own(BlockTransfer& t, void* dst, const void* src) {
  if (t.bytes == 0) return;
  t.own = src;
  t.own_place = static_cast<char*>(dst);
}

template <typename DataFor>
void send_to_others(BlockTransfer& t, const Team& team, DataFor&& data_for) {
  // Each member begins with its neighbor, so that not all send to one at once.
  for (uint32_t distance = 1; distance < team.size(); ++distance) {
    const uint32_t to = (team.rank() + distance) % team.size();
    t.outgoing.push_back({to, data_for(to)});
  }
}

// From the root, whose blocks for the members lie `stride` bytes apart.
gex_Event_t from_root(Team& team, BlockTransfer t, gasnet_image_t root, void* dst, const void* src,
                      size_t stride) {
  if (team.rank() == root) {
    send_to_others(t, team, [&](uint32_t to) { return block(src, to, stride); });
    keep_own(t, dst, block(src, root, stride));
  } else {
    t.incoming = 1;
  }
  return start_blocks(team, std::move(t));
}

// From everybody to everybody, likewise.
gex_Event_t among_all(const char* call, gex_TM_t tm, void* dst, const void* src, size_t nbytes,
                      size_t stride, int flags) {
  Team& team = team_of(call, tm);
  BlockTransfer t = described(dst, nbytes, flags);
  t.by_sender = true;
  t.incoming = team.size() - 1;
  send_to_others(t, team, [&](uint32_t to) { return block(src, to, stride); });
  keep_own(t, t.destination + team.rank() * nbytes, block(src, team.rank(), stride));
  return start_blocks(team, std::move(t));
}

gex_Event_t broadcast(const char* call, gex_TM_t tm, void* dst, gasnet_image_t root,
                      const void* src, size_t nbytes, int flags) {
  Team& team = team_of(call, tm);
  require_image(call, team, root);
  BlockTransfer t = described(dst, nbytes, flags);
  if (!t.enter_together && !t.leave_together)
    return gex_Coll_BroadcastNB(tm, root, dst, src, nbytes, 0);
  return from_root(team, std::move(t), root, dst, src, 0);
}

gex_Event_t gather(const char* call, gex_TM_t tm, gasnet_image_t root, void* dst, const void* src,
                   size_t nbytes, int flags) {
  Team& team = team_of(call, tm);
  require_image(call, team, root);
  BlockTransfer t = described(dst, nbytes, flags);
  if (team.rank() == root) {
    t.by_sender = true;
    t.incoming = team.size() - 1;
    keep_own(t, t.destination + team.rank() * nbytes, src);
  } else {
    t.outgoing.push_back({root, src});
  }
  return start_blocks(team, std::move(t));
}

gex_Event_t scatter(const char* call, gex_TM_t tm, void* dst, gasnet_image_t root, const void* src,
                    size_t nbytes, int flags) {
  Team& team = team_of(call, tm);
  require_image(call, team, root);
  return from_root(team, described(dst, nbytes, flags), root, dst, src, nbytes);
}

void require_all(const char* call, gex_TM_t tm) {
  if (tm != gasnet1_team(call).handle()) fatal(call, "the team is not GASNET_TEAM_ALL");
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API gex_TM_t cwy_gasnet1_team_all_v1(void) {
  return gasnet1_team("GASNET_TEAM_ALL").handle();
}

CAUSEWAY_API gex_Event_t gasnet_coll_broadcast_nb(gex_TM_t team, void* dst, gasnet_image_t srcimage,
                                                  const void* src, size_t nbytes, int flags) {
  return broadcast("gasnet_coll_broadcast_nb()", team, dst, srcimage, src, nbytes, flags);
}
CAUSEWAY_API void gasnet_coll_broadcast(gex_TM_t team, void* dst, gasnet_image_t srcimage,
                                        const void* src, size_t nbytes, int flags) {
  gex_Event_Wait(broadcast("gasnet_coll_broadcast()", team, dst, srcimage, src, nbytes, flags));
}
CAUSEWAY_API gex_Event_t gasnet_coll_gather_nb(gex_TM_t team, gasnet_image_t dstimage, void* dst,
                                               const void* src, size_t nbytes, int flags) {
  return gather("gasnet_coll_gather_nb()", team, dstimage, dst, src, nbytes, flags);
}
CAUSEWAY_API void gasnet_coll_gather(gex_TM_t team, gasnet_image_t dstimage, void* dst,
                                     const void* src, size_t nbytes, int flags) {
  gex_Event_Wait(gather("gasnet_coll_gather()", team, dstimage, dst, src, nbytes, flags));
}
CAUSEWAY_API gex_Event_t gasnet_coll_gather_all_nb(gex_TM_t team, void* dst, const void* src,
                                                   size_t nbytes, int flags) {
  return among_all("gasnet_coll_gather_all_nb()", team, dst, src, nbytes, 0, flags);
}
CAUSEWAY_API void gasnet_coll_gather_all(gex_TM_t team, void* dst, const void* src, size_t nbytes,
                                         int flags) {
  gex_Event_Wait(among_all("gasnet_coll_gather_all()", team, dst, src, nbytes, 0, flags));
}
CAUSEWAY_API gex_Event_t gasnet_coll_scatter_nb(gex_TM_t team, void* dst, gasnet_image_t srcimage,
                                                const void* src, size_t nbytes, int flags) {
  return scatter("gasnet_coll_scatter_nb()", team, dst, srcimage, src, nbytes, flags);
}
CAUSEWAY_API void gasnet_coll_scatter(gex_TM_t team, void* dst, gasnet_image_t srcimage,
                                      const void* src, size_t nbytes, int flags) {
  gex_Event_Wait(scatter("gasnet_coll_scatter()", team, dst, srcimage, src, nbytes, flags));
}
CAUSEWAY_API gex_Event_t gasnet_coll_exchange_nb(gex_TM_t team, void* dst, const void* src,
                                                 size_t nbytes, int flags) {
  return among_all("gasnet_coll_exchange_nb()", team, dst, src, nbytes, nbytes, flags);
}
CAUSEWAY_API void gasnet_coll_exchange(gex_TM_t team, void* dst, const void* src, size_t nbytes,
                                       int flags) {
  gex_Event_Wait(among_all("gasnet_coll_exchange()", team, dst, src, nbytes, nbytes, flags));
}

CAUSEWAY_API void gasnet_coll_barrier_notify(gex_TM_t team, int id, int flags) {
  require_all("gasnet_coll_barrier_notify()", team);
  gasnet_barrier_notify(id, flags);
}
CAUSEWAY_API int gasnet_coll_barrier_wait(gex_TM_t team, int id, int flags) {
  require_all("gasnet_coll_barrier_wait()", team);
  return gasnet_barrier_wait(id, flags);
}
CAUSEWAY_API int gasnet_coll_barrier_try(gex_TM_t team, int id, int flags) {
  require_all("gasnet_coll_barrier_try()", team);
  return gasnet_barrier_try(id, flags);
}
CAUSEWAY_API int gasnet_coll_barrier(gex_TM_t team, int id, int flags) {
  require_all("gasnet_coll_barrier()", team);
  return gasnet_barrier(id, flags);
}
CAUSEWAY_API int gasnet_coll_barrier_result(gex_TM_t team, int* id) {
  require_all("gasnet_coll_barrier_result()", team);
  return gasnet_barrier_result(id);
}
