/* gasnet_fwd.h alone: no threading mode is asked for, and types and constants are there. */
#include <gasnet_fwd.h>

#ifdef _INCLUDED_GASNETEX_H
#error "gasnet_fwd.h brings in nothing but itself"
#endif

struct mine {
  gex_Rank_t rank;
  gex_EP_Index_t index;
  gex_Addr_t address;
  gex_Event_t event;
  gex_Flags_t flags;
  gex_DT_t type;
  gex_OP_t operation;
  gex_EP_Capabilities_t capabilities;
};

int forward(struct mine* m);
int forward(struct mine* m) {
  m->rank = GEX_RANK_INVALID;
  m->event = GEX_EVENT_INVALID;
  m->flags = GEX_FLAG_IMMEDIATE;
  m->type = GEX_DT_I32;
  m->operation = GEX_OP_ADD;
  m->capabilities = GEX_EP_CAPABILITY_ALL;
  return m->event == GEX_EVENT_NO_OP;
}
