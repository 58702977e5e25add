// The checks of `checks: full` in a vector, indexed or strided call. Each function ends the job
// with one line when the call breaks a rule of the specification.
#pragma once

#include "vis/side.h"
#include "vis/vis.h"

namespace causeway {

struct Peer;

void check_flags(const VisCall& call, bool blocking);
void check_arrays(const VisCall& call, const VectorForm& form);
void check_arrays(const VisCall& call, const IndexedForm& form);
void check_arrays(const VisCall& call, const StridedForm& form);
// Both ends have equally many bytes.
void check_totals(const VisCall& call, const Side& dst, const Side& src);
// Addresses: the remote end in the peer's segment, no local one NULL, no destination byte twice,
// none that is a source too.
void check_places(const VisCall& call, const Peer& peer, const Side& dst, const Side& src);

}  // namespace causeway
