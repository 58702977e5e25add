/* The older halves of gasnet_vis.h and of the collectives, without gasnet.h before them and with
 * it after them, as clients have them. */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_vis.h>

gasnet_handle_t use_everything(void* p);
gasnet_handle_t use_everything(void* p) {
  gasnet_memvec_t piece = {p, 8};
  void* list[] = {p};
  const size_t strides[] = {16}, count[] = {8, 2};
  gasnet_putv_bulk(0, 1, &piece, 1, &piece);
  gasnet_getv_nbi_bulk(1, &piece, 0, 1, &piece);
  gasnet_wait_syncnb(gasnet_puti_nb_bulk(0, 1, list, 8, 1, list, 8));
  gasnet_geti_bulk(1, list, 8, 0, 1, list, 8);
  gasnet_puts_nbi_bulk(0, p, strides, p, strides, count, 1);
  gasnet_gets_bulk(p, strides, 0, p, strides, count, 1);
  gasnet_coll_broadcast(GASNET_TEAM_ALL, p, 0, p, 8,
                        GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
  gasnet_coll_wait_sync(gasnet_coll_exchange_nb(GASNET_TEAM_ALL, p, p, 8, 0));
  return gasnet_gets_nb_bulk(p, strides, 0, p, strides, count, 1);
}
