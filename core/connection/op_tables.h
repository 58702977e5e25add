// An endpoint's tables of operations in a conduit: folds over one list (causeway/operations.h).
#pragma once

#include <causeway/conduit.h>

namespace causeway {

struct ConduitEp;

// Sets every NULL entry to its fallback (connection/fallbacks.h).
void fill_with_emulation(cwyc_ops& ops);

// Makes all tables of an endpoint whose `classes` are known: the plugin's own without what the
// configuration forbids, holes filled; for ThreadSanitizer with annotations
// (thread/tsan_annotations.h) around each call whose effect another process may notice; and those
// of aliases (connection/peer.h), whose operations go to the connection that the alias stands for
// and whose messages carry the pair of endpoints.
void make_tables(ConduitEp& cep);

// From now on several threads may enter: each entry of a SERIAL table takes the endpoint's lock and
// calls the inner table, and what is delivered inside of a lock is taken over (connection/taken.h).
// In place: connections point to the tables.
void admit_threads(ConduitEp& cep);

}  // namespace causeway
