/* causeway/gasnet1_rma.h - one-sided operations of GASNet-1 and their synchronisation, 3.1-3.4.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet.h. The aligned and the bulk forms differ only in when
 * the source of a non-blocking put may be reused: at once, or when the operation is complete.
 */
#ifndef CAUSEWAY_GASNET1_RMA_H
#define CAUSEWAY_GASNET1_RMA_H

/* ---- blocking: 3.2 ---- */
static inline void gasnet_get(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  (void)gex_RMA_GetBlocking(cwy_gasnet1_team("gasnet_get()"), dest, node, src, nbytes, 0);
}
static inline void gasnet_put(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  (void)gex_RMA_PutBlocking(cwy_gasnet1_team("gasnet_put()"), node, dest, src, nbytes, 0);
}
static inline void gasnet_get_bulk(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  (void)gex_RMA_GetBlocking(cwy_gasnet1_team("gasnet_get_bulk()"), dest, node, src, nbytes, 0);
}
static inline void gasnet_put_bulk(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  (void)gex_RMA_PutBlocking(cwy_gasnet1_team("gasnet_put_bulk()"), node, dest, src, nbytes, 0);
}

/* ---- memset: 3.2.3; a peer whose memory is not mapped here does it on request ---- */
extern void cwy_gasnet1_memset_v1(gex_TM_t tm, gex_Rank_t node, void* dest, int val, size_t nbytes);
extern gex_Event_t cwy_gasnet1_memset_nb_v1(gex_TM_t tm, gex_Rank_t node, void* dest, int val,
                                            size_t nbytes);
extern void cwy_gasnet1_memset_nbi_v1(gex_TM_t tm, gex_Rank_t node, void* dest, int val,
                                      size_t nbytes);
static inline void cwy_set_out(void* there, int val, size_t nbytes) {
  memset(there, val, nbytes);
  cwy_direct_done(__ATOMIC_RELEASE);
}
static inline void gasnet_memset(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  gex_TM_t tm = cwy_gasnet1_team("gasnet_memset()");
  const intptr_t delta = cwy_direct_delta(tm, node, 0);
  if (cwy_is_direct(delta))
    cwy_set_out(cwy_translate(dest, delta), val, nbytes);
  else
    cwy_gasnet1_memset_v1(tm, node, dest, val, nbytes);
}
static inline gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void* dest, int val,
                                               size_t nbytes) {
  gex_TM_t tm = cwy_gasnet1_team("gasnet_memset_nb()");
  const intptr_t delta = cwy_direct_delta(tm, node, 0);
  if (!cwy_is_direct(delta)) return cwy_gasnet1_memset_nb_v1(tm, node, dest, val, nbytes);
  cwy_set_out(cwy_translate(dest, delta), val, nbytes);
  return GASNET_INVALID_HANDLE;
}
static inline void gasnet_memset_nbi(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  gex_TM_t tm = cwy_gasnet1_team("gasnet_memset_nbi()");
  const intptr_t delta = cwy_direct_delta(tm, node, 0);
  if (cwy_is_direct(delta))
    cwy_set_out(cwy_translate(dest, delta), val, nbytes);
  else
    cwy_gasnet1_memset_nbi_v1(tm, node, dest, val, nbytes);
}

/* ---- explicit handles: 3.3.2 ---- */
static inline gasnet_handle_t gasnet_get_nb(void* dest, gasnet_node_t node, void* src,
                                            size_t nbytes) {
  return gex_RMA_GetNB(cwy_gasnet1_team("gasnet_get_nb()"), dest, node, src, nbytes, 0);
}
static inline gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void* dest, const void* src,
                                            size_t nbytes) {
  return gex_RMA_PutNB(cwy_gasnet1_team("gasnet_put_nb()"), node, dest, src, nbytes, GEX_EVENT_NOW,
                       0);
}
static inline gasnet_handle_t gasnet_get_nb_bulk(void* dest, gasnet_node_t node, void* src,
                                                 size_t nbytes) {
  return gex_RMA_GetNB(cwy_gasnet1_team("gasnet_get_nb_bulk()"), dest, node, src, nbytes, 0);
}
static inline gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void* dest, const void* src,
                                                 size_t nbytes) {
  return gex_RMA_PutNB(cwy_gasnet1_team("gasnet_put_nb_bulk()"), node, dest, src, nbytes,
                       GEX_EVENT_DEFER, 0);
}

/* ---- their synchronisation: 3.3.3; every try makes progress once before it says no ---- */
static inline void gasnet_wait_syncnb(gasnet_handle_t handle) {
  gex_Event_Wait(handle);
}
static inline int gasnet_try_syncnb(gasnet_handle_t handle) {
  if (gex_Event_Test(handle) == 0) return GASNET_OK;
  gasnet_AMPoll();
  return gex_Event_Test(handle) == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
static inline void gasnet_wait_syncnb_all(gasnet_handle_t* handles, size_t numhandles) {
  gex_Event_WaitAll(handles, numhandles, 0);
}
static inline int gasnet_try_syncnb_all(gasnet_handle_t* handles, size_t numhandles) {
  if (gex_Event_TestAll(handles, numhandles, 0) == 0) return GASNET_OK;
  gasnet_AMPoll();
  return gex_Event_TestAll(handles, numhandles, 0) == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
static inline void gasnet_wait_syncnb_some(gasnet_handle_t* handles, size_t numhandles) {
  gex_Event_WaitSome(handles, numhandles, 0);
}
static inline int gasnet_try_syncnb_some(gasnet_handle_t* handles, size_t numhandles) {
  if (gex_Event_TestSome(handles, numhandles, 0) == 0) return GASNET_OK;
  gasnet_AMPoll();
  return gex_Event_TestSome(handles, numhandles, 0) == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}

/* ---- implicit handles: 3.3.4 ---- */
static inline void gasnet_get_nbi(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  (void)gex_RMA_GetNBI(cwy_gasnet1_team("gasnet_get_nbi()"), dest, node, src, nbytes, 0);
}
static inline void gasnet_put_nbi(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  (void)gex_RMA_PutNBI(cwy_gasnet1_team("gasnet_put_nbi()"), node, dest, src, nbytes, GEX_EVENT_NOW,
                       0);
}
static inline void gasnet_get_nbi_bulk(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  (void)gex_RMA_GetNBI(cwy_gasnet1_team("gasnet_get_nbi_bulk()"), dest, node, src, nbytes, 0);
}
static inline void gasnet_put_nbi_bulk(gasnet_node_t node, void* dest, const void* src,
                                       size_t nbytes) {
  (void)gex_RMA_PutNBI(cwy_gasnet1_team("gasnet_put_nbi_bulk()"), node, dest, src, nbytes,
                       GEX_EVENT_DEFER, 0);
}

/* ---- their synchronisation: 3.3.5 ---- */
static inline void gasnet_wait_syncnbi_gets(void) {
  gex_NBI_Wait(GEX_EC_GET, 0);
}
static inline void gasnet_wait_syncnbi_puts(void) {
  gex_NBI_Wait(GEX_EC_PUT, 0);
}
static inline void gasnet_wait_syncnbi_all(void) {
  gex_NBI_Wait(GEX_EC_GET | GEX_EC_PUT, 0);
}
static inline int cwy_gasnet1_try_syncnbi(gex_EC_t categories) {
  if (gex_NBI_Test(categories, 0) == 0) return GASNET_OK;
  gasnet_AMPoll();
  return gex_NBI_Test(categories, 0) == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
static inline int gasnet_try_syncnbi_gets(void) {
  return cwy_gasnet1_try_syncnbi(GEX_EC_GET);
}
static inline int gasnet_try_syncnbi_puts(void) {
  return cwy_gasnet1_try_syncnbi(GEX_EC_PUT);
}
static inline int gasnet_try_syncnbi_all(void) {
  return cwy_gasnet1_try_syncnbi(GEX_EC_GET | GEX_EC_PUT);
}

/* ---- access regions: 3.3.6 ---- */
static inline void gasnet_begin_nbi_accessregion(void) {
  gex_NBI_BeginAccessRegion(0);
}
static inline gasnet_handle_t gasnet_end_nbi_accessregion(void) {
  return gex_NBI_EndAccessRegion(0);
}

/* ---- values: 3.4; nbytes is 1 to 8 ---- */
static inline void gasnet_put_val(gasnet_node_t node, void* dest, gasnet_register_value_t value,
                                  size_t nbytes) {
  (void)gex_RMA_PutBlockingVal(cwy_gasnet1_team("gasnet_put_val()"), node, dest, value, nbytes, 0);
}
static inline gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void* dest,
                                                gasnet_register_value_t value, size_t nbytes) {
  return gex_RMA_PutNBVal(cwy_gasnet1_team("gasnet_put_nb_val()"), node, dest, value, nbytes, 0);
}
static inline void gasnet_put_nbi_val(gasnet_node_t node, void* dest, gasnet_register_value_t value,
                                      size_t nbytes) {
  (void)gex_RMA_PutNBIVal(cwy_gasnet1_team("gasnet_put_nbi_val()"), node, dest, value, nbytes, 0);
}
static inline gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void* src, size_t nbytes) {
  return gex_RMA_GetBlockingVal(cwy_gasnet1_team("gasnet_get_val()"), node, src, nbytes, 0);
}

/* A value on its way; its own type, so that a compiler refuses to mix it with gasnet_handle_t. */
typedef struct cwy_valget* gasnet_valget_handle_t;
extern gasnet_valget_handle_t cwy_gasnet1_get_nb_val_v1(gex_TM_t tm, gex_Rank_t node, void* src,
                                                        size_t nbytes);
static inline gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void* src,
                                                       size_t nbytes) {
  return cwy_gasnet1_get_nb_val_v1(cwy_gasnet1_team("gasnet_get_nb_val()"), node, src, nbytes);
}
/* By the thread that started it, once. */
extern gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle);

#endif
