// How a peer gets its connections, and what changes them: what its two endpoints are bound to, a
// new process of its rank, its end.
#pragma once

#include <cstdint>

#include "connection/peer.h"

namespace causeway {

// Does the connection stand for a peer that is not connected yet?
bool is_stub(const cwyc_conn* conn);

// Ends everything under way in the connections to the peer's present process. Not with a connect
// mutex held: it enters the conduits, inside of which a handler may wait for that mutex.
void purge_connections(Peer& peer);

// Is one end of the peer's pair of endpoints bound to device memory?
bool has_device_end(const Peer& peer);

// Makes the peer's pointers name its stub. `index` is the remote endpoint's.
void init_peer(Peer& peer, Endpoint* ep, uint32_t rank, uint16_t index);
// The peer that is the same rank seen between the primordial endpoints of the first client.
Peer& base_peer(const Peer& peer);

// Connects if that has not happened. CWY_OK: the pointers name real connections; CWY_RETRY: the
// conduit is still at it. Throws Error when no conduit reaches the peer.
cwy_status connect_peer(Peer& peer);

// The connection of `peer` in `conduit`, whatever the rules say, with the right to the peer's
// segment if there is one; made at the first call. CWY_RETRY while the conduit is at it. Throws
// Error when it cannot be made.
cwy_status connect_peer_in(Peer& peer, Conduit* conduit, Connection** out);

// The memory that connections take is counted from now on, as with `report: true` from the start.
void count_connections();
// This process's growth since the call before goes to the conduit that was named there: from
// connect() until the connection is seen to be up. NULL: none connects. An average over many can
// bear what else a process gets meanwhile. False: nothing is counted. A look costs some 10 us.
// Under the connect mutex.
bool note_growth(ConduitEp* connecting);

// The table that a connection has between host memory, whatever its ends are bound to.
const cwyc_ops& host_table(const Connection& alias);
// Gives the peer's connections the tables that fit what its two endpoints are bound to now.
void refit_connections(Peer& peer);

// Opens the right to the peer's segment on every connection of the peer that can use it.
void open_rights(Peer& peer);
// Forgets the rights: the segment they are for is no more.
void drop_rights(Peer& peer);

// The connection of `peer` in conduit `index`, if there is one.
Connection* connection_in(Peer& peer, const Conduit* conduit);

// The rank has a new process, whose card JobFacts has: the peer is not connected, and what comes
// from the old process is dropped from now on. The old connections have been purged. For primordial
// endpoints of the first client without bound segments: what outlives failures has no other.
void renew_peer(Peer& peer);

void destroy_peer(Peer& peer);

}  // namespace causeway
