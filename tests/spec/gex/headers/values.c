/* Sizes and numbers that clients assert when they are compiled, and the forms in which they use
 * constants: as case labels, by token pasting, and in tables of handlers without casts. Pointers
 * are no constant expressions, so c_client.c looks at theirs when it runs. */
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>

#ifndef gasnett_fatalerror_nopos
#error "clients ask the preprocessor for gasnett_fatalerror_nopos"
#endif
#ifdef gasnet_max_segsize
#error "clients have a variable of the name gasnet_max_segsize"
#endif

#define HOLDS(name, condition) typedef char holds_##name[(condition) ? 1 : -1]
#define SIZE(type, bytes) HOLDS(size_##type, sizeof(type) == (bytes))

SIZE(gex_Client_t, sizeof(void*));
SIZE(gex_EP_t, sizeof(void*));
SIZE(gex_TM_t, sizeof(void*));
SIZE(gex_Segment_t, sizeof(void*));
SIZE(gex_MK_t, sizeof(void*));
SIZE(gex_AD_t, sizeof(void*));
SIZE(gex_Event_t, sizeof(void*));
SIZE(gex_AM_SrcDesc_t, sizeof(void*));
SIZE(gex_Addr_t, sizeof(void*));
SIZE(gex_AM_Fn_t, sizeof(void (*)(void)));
SIZE(gex_Flags_t, 4);
SIZE(gex_Rank_t, 4);
SIZE(gex_DT_t, 4);
SIZE(gex_OP_t, 4);
SIZE(gex_AM_Arg_t, 4);
SIZE(gex_EP_Capabilities_t, 4);
SIZE(gex_EP_Index_t, 2);

HOLDS(ok, GASNET_OK == 0);
HOLDS(not_ready, GASNET_ERR_NOT_READY == 10004);
HOLDS(dt_u64, GEX_DT_U64 == 1 << 3);
HOLDS(op_add, GEX_OP_ADD == 1 << 3);
HOLDS(capability_rma, GEX_EP_CAPABILITY_RMA == 1 << 0);
HOLDS(immediate, GEX_FLAG_IMMEDIATE == 1 << 0);
HOLDS(least_client, GEX_FLAG_AM_PREPARE_LEAST_CLIENT == 1 << 11);
HOLDS(least_alloc, GEX_FLAG_AM_PREPARE_LEAST_ALLOC == 1 << 12);

/* Families are sets of bits without an overlap: a sum of all is their union. */
#define TEN(prefix)                                                                               \
  (uint64_t) prefix##ADD + prefix##SUB + prefix##MULT + prefix##MIN + prefix##MAX + prefix##INC + \
      prefix##DEC + prefix##AND + prefix##OR + prefix##XOR
HOLDS(operations_are_disjoint, TEN(GEX_OP_) + TEN(GEX_OP_F) + GEX_OP_SET + GEX_OP_CAS +
                                       GEX_OP_SWAP + GEX_OP_GET + GEX_OP_FCAS + GEX_OP_USER +
                                       GEX_OP_USER_NC ==
                                   (UINT64_C(1) << 27) - 1);
HOLDS(types_are_disjoint, (uint64_t)GEX_DT_I32 + GEX_DT_U32 + GEX_DT_I64 + GEX_DT_U64 + GEX_DT_FLT +
                                  GEX_DT_DBL + GEX_DT_USER ==
                              (UINT64_C(1) << 7) - 1);

/* Case labels: integer constant expressions, all different. */
int as_labels(gex_OP_t op, gex_DT_t dt);
int as_labels(gex_OP_t op, gex_DT_t dt) {
  switch (dt) {
    case GEX_DT_I32:
      return 4;
    case GEX_DT_U32:
      return 4;
    case GEX_DT_I64:
      return 8;
    case GEX_DT_U64:
      return 8;
    case GEX_DT_FLT:
      return 4;
    case GEX_DT_DBL:
      return 8;
    case GEX_DT_USER:
      return 0;
    default:
      break;
  }
#define LABEL(o)   \
  case GEX_OP_##o: \
    return (int)GEX_OP_##o;
  switch (op) {
    LABEL(ADD)
    LABEL(SUB) LABEL(MULT) LABEL(MIN) LABEL(MAX) LABEL(INC) LABEL(DEC) LABEL(AND) LABEL(OR)
        LABEL(XOR) LABEL(FADD) LABEL(FSUB) LABEL(FMULT) LABEL(FMIN) LABEL(FMAX) LABEL(FINC)
            LABEL(FDEC) LABEL(FAND) LABEL(FOR) LABEL(FXOR) LABEL(SET) LABEL(CAS) LABEL(SWAP)
                LABEL(GET) LABEL(FCAS) LABEL(USER) LABEL(USER_NC) default : return -1;
  }
}

/* Token pasting. */
#define LIMIT(x) gex_AM_Max##x(tm, 0, GEX_EVENT_NOW, 0, 0)
size_t limits(gex_TM_t tm);
size_t limits(gex_TM_t tm) {
  return LIMIT(RequestMedium) + LIMIT(ReplyMedium) + LIMIT(RequestLong) + LIMIT(ReplyLong);
}
#define OPERATION(t, o) gex_Event_Wait(gex_AD_OpNB_##t(ad, result, 0, word, GEX_OP_##o, 1, 1, 0))
void operate(gex_AD_t ad, uint64_t* result, void* word);
void operate(gex_AD_t ad, uint64_t* result, void* word) {
  OPERATION(U64, FADD);
  OPERATION(U64, ADD);
  OPERATION(U64, FCAS);
}

/* Handlers in a table by position, in C without a cast. C++ knows no function type without a
 * prototype, so there the cast is the client's. */
extern void on_short(gex_Token_t token, gex_AM_Arg_t value);
extern void on_medium(gex_Token_t token, void* buffer, size_t bytes);
extern gex_AM_Entry_t handlers[];
#ifdef __cplusplus
#define HANDLER(function) (gex_AM_Fn_t) function
#else
#define HANDLER(function) function
#endif
gex_AM_Entry_t handlers[] = {
    {0, HANDLER(on_short), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 1, NULL, "short"},
    {200, HANDLER(on_medium), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, NULL},
};
void on_short(gex_Token_t token, gex_AM_Arg_t value) {
  (void)token;
  (void)value;
}
void on_medium(gex_Token_t token, void* buffer, size_t bytes) {
  (void)token;
  (void)buffer;
  (void)bytes;
}

/* A variable of this name is the client's. */
size_t own_variable(void);
size_t own_variable(void) {
  size_t gasnet_max_segsize = 1;
  return gasnet_max_segsize;
}

/* The name of a constant that differs from the number that clients compare it with, or NULL. */
const char* wrong_value(void);
const char* wrong_value(void) {
#define POINTER(constant, value) \
  if ((uintptr_t)(constant) != (value)) return #constant
  POINTER(GEX_EVENT_INVALID, 0);
  POINTER(GEX_EVENT_NO_OP, 1);
  POINTER(GEX_EVENT_NOW, 1);
  POINTER(GEX_EVENT_DEFER, 2);
  POINTER(GEX_EVENT_GROUP, 3);
  POINTER(GEX_MK_INVALID, 0);
  POINTER(GEX_MK_HOST, 1);
  return NULL;
}
