/* GASPI_Threads.h - threads as old programs in the field start them. New programs use threads of
 * their language: every procedure of GASPI.h may be called by any thread.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef GASPI_THREADS_H
#define GASPI_THREADS_H

#include <GASPI.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins work with as many threads as there are processors for this one, which it tells, or with a
 * given number of them. GASPI_ERROR when it has begun already, or for none. */
gaspi_return_t gaspi_threads_init(gaspi_int* num);
gaspi_return_t gaspi_threads_init_user(gaspi_uint use_nr_of_threads);
/* Runs `function(arg)` in a new thread. */
gaspi_return_t gaspi_threads_run(void* (*function)(void*), void* arg);
/* Waits for the end of all that was run; another beginning may follow. */
gaspi_return_t gaspi_threads_term(void);

/* Gives the calling thread, whoever made it, a number, from 0 on; always the same one. GASPI_ERROR
 * when all are given. */
gaspi_return_t gaspi_threads_register(gaspi_int* tid);
/* That number; GASPI_ERROR before. */
gaspi_return_t gaspi_threads_get_tid(gaspi_int* tid);
/* How many threads there are to be; 0 before the beginning. */
gaspi_return_t gaspi_threads_get_total(gaspi_int* num);
/* Processors that this process may use. */
gaspi_return_t gaspi_threads_get_num_cores(gaspi_int* cores);

/* Waits until as many threads of this process have called it as there are to be. */
void gaspi_threads_sync(void);
/* The same for all processes of a group: a gaspi_barrier() between two of those. All threads get
 * its result; after GASPI_TIMEOUT all call again. */
gaspi_return_t gaspi_threads_sync_all(gaspi_group_t group, gaspi_timeout_t timeout);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* GASPI_THREADS_H */
