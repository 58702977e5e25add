// Vector, indexed and strided puts and gets as the client asks for them.
// "Vector/Indexed/Strided (VIS)" of the GASNet-EX specification.
#pragma once

#include <gasnetex.h>

#include "rma/rma.h"

namespace causeway {

struct VisCall {
  const char* name;  // for diagnostics
  Operation operation;
  gex_TM_t tm;
  gex_Rank_t rank;
  gex_Flags_t flags;
};

struct VectorForm {
  size_t dstcount;
  const gex_Memvec_t* dstlist;
  size_t srccount;
  const gex_Memvec_t* srclist;
};

struct IndexedForm {
  size_t dstcount;
  void* const* dstlist;
  size_t dstlen;
  size_t srccount;
  void* const* srclist;
  size_t srclen;
};

struct StridedForm {
  void* dstaddr;
  const ptrdiff_t* dststrides;
  void* srcaddr;
  const ptrdiff_t* srcstrides;
  size_t elemsz;
  const size_t* count;
  size_t stridelevels;
};

// Form is one of the three above. 0, or 1 for the no-op answer of GEX_FLAG_IMMEDIATE; for vis_nb
// an event, GEX_EVENT_INVALID when all is done, or GEX_EVENT_NO_OP.
template <typename Form>
int vis_blocking(const VisCall& call, const Form& form);
template <typename Form>
int vis_nbi(const VisCall& call, const Form& form);
template <typename Form>
gex_Event_t vis_nb(const VisCall& call, const Form& form);

// gex_VIS_SetPeerCompletionHandler.
void arm_peer_completion(gex_AM_Index_t handler, const void* source, size_t length,
                         gex_Flags_t flags);

}  // namespace causeway
