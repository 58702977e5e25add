/* GASPI_Ext.h - what programs in the field use beyond GASPI 17.1. Included by GASPI.h, unless
 * GASPI_SPECIFICATION_ONLY is defined.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef GASPI_EXT_H
#define GASPI_EXT_H

#include <GASPI.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 between gaspi_proc_init() and gaspi_proc_term(), else 0. */
gaspi_return_t gaspi_initialized(gaspi_number_t* initialized);
/* This process among those of its host, and how many those are. */
gaspi_return_t gaspi_proc_local_rank(gaspi_rank_t* local_rank);
gaspi_return_t gaspi_proc_local_num(gaspi_rank_t* local_num);
/* Whether the process answers: GASPI_SUCCESS, or GASPI_TIMEOUT, or GASPI_ERROR when it failed. */
gaspi_return_t gaspi_proc_ping(gaspi_rank_t rank, gaspi_timeout_t timeout);
/* Which process of the rank this one talks to: 1 for the one that the job started with, 2 for the
 * spare that took its place (causeway run --spares), and so on. A program asks for its own rank to
 * learn whether it has to join work that has begun. Local. */
gaspi_return_t gaspi_proc_incarnation(gaspi_rank_t rank, gaspi_number_t* incarnation);

/* The smallest segment id that is not in use here. */
gaspi_return_t gaspi_segment_avail_local(gaspi_segment_id_t* avail_seg_id);
/* Bytes of a segment of `rank` that is registered here. */
gaspi_return_t gaspi_segment_size(gaspi_segment_id_t segment_id, gaspi_rank_t rank,
                                  gaspi_size_t* size);

gaspi_return_t gaspi_rw_list_elem_max(gaspi_number_t* elem_max);
gaspi_return_t gaspi_transfer_size_min(gaspi_size_t* transfer_size_min);
gaspi_return_t gaspi_passive_transfer_size_min(gaspi_size_t* transfer_size_min);

/* MHz of the first processor. */
gaspi_return_t gaspi_cpu_frequency(gaspi_float* cpu_mhz);
/* The socket (package) that the calling thread runs on. */
gaspi_return_t gaspi_numa_socket(gaspi_uchar* socket);
/* Binds the calling thread to the processors of a socket. */
gaspi_return_t gaspi_set_socket_affinity(gaspi_uchar socket);
/* Prints the processors that the calling thread may run on. */
gaspi_return_t gaspi_print_affinity_mask(void);

/* The text of an error code; constant. */
gaspi_string_t gaspi_error_str(gaspi_return_t error_code);

/* What a loop that waits does between two looks: tells the processor so. */
void gaspi_delay(void);

/* printf() behind "[Rank    3]: ", at this process' standard output, or at that of another rank,
 * which need not call anything for it. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void gaspi_printf(const char* format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void gaspi_printf_to(gaspi_rank_t rank, const char* format, ...);
/* gaspi_printf() of a text as it is. Of Fortran's module gaspi_ext, whose gaspi_printf it serves.
 */
void gaspi_print_text(const char* text);

#ifdef __cplusplus
} /* extern "C" */

extern "C++" {
inline gaspi_return_t gaspi_initialized(gaspi_int* initialized) {
  gaspi_number_t value = 0;
  const gaspi_return_t result = gaspi_initialized(&value);
  *initialized = static_cast<gaspi_int>(value);
  return result;
}
} /* extern "C++" */
#endif

#endif /* GASPI_EXT_H */
