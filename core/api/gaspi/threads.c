/* GASPI_Threads.h: threads counted and numbered. */
#define _GNU_SOURCE
#include <GASPI_Threads.h>
#include <PGASPI.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_came = PTHREAD_COND_INITIALIZER;

/* Under the lock, as all that follows. */
static gaspi_int total = 0, registered = 0;
static unsigned long beginning = 0; /* numbers of threads are those of one beginning */
static gaspi_int came = 0;          /* threads in the synchronization under way */
static unsigned long syncs = 0;     /* how many are over */
static pthread_t* running = NULL;   /* what gaspi_threads_run() has made */
static size_t running_count = 0;
static gaspi_return_t shared_result = GASPI_SUCCESS;

static __thread gaspi_int own_tid = 0;
static __thread unsigned long own_beginning = 0;

gaspi_return_t gaspi_threads_get_num_cores(gaspi_int* cores) {
  cpu_set_t usable;
  if (cores == NULL) return GASPI_ERR_NULLPTR;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return GASPI_ERROR;
  *cores = CPU_COUNT(&usable);
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_init_user(gaspi_uint use_nr_of_threads) {
  gaspi_return_t result = GASPI_ERROR;
  pthread_mutex_lock(&lock);
  if (total == 0 && use_nr_of_threads != 0) {
    total = (gaspi_int)use_nr_of_threads;
    registered = 0;
    ++beginning;
    result = GASPI_SUCCESS;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

gaspi_return_t gaspi_threads_init(gaspi_int* num) {
  const gaspi_return_t counted = gaspi_threads_get_num_cores(num);
  return counted == GASPI_SUCCESS ? gaspi_threads_init_user((gaspi_uint)*num) : counted;
}

gaspi_return_t gaspi_threads_run(void* (*function)(void*), void* arg) {
  gaspi_return_t result = GASPI_ERROR;
  pthread_t* more = NULL;
  pthread_mutex_lock(&lock);
  if (total != 0) more = realloc(running, (running_count + 1) * sizeof *running);
  if (more != NULL) {
    running = more;
    if (pthread_create(&running[running_count], NULL, function, arg) == 0) {
      ++running_count;
      result = GASPI_SUCCESS;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

gaspi_return_t gaspi_threads_term(void) {
  pthread_t* last;
  size_t count, i;
  gaspi_int begun;
  pthread_mutex_lock(&lock);
  begun = total;
  last = running;
  count = running_count;
  running = NULL;
  running_count = 0;
  pthread_mutex_unlock(&lock);
  if (begun == 0) return GASPI_ERROR;
  for (i = 0; i < count; ++i) pthread_join(last[i], NULL);
  free(last);
  pthread_mutex_lock(&lock);
  total = 0;
  pthread_mutex_unlock(&lock);
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_register(gaspi_int* tid) {
  gaspi_return_t result = GASPI_SUCCESS;
  if (tid == NULL) return GASPI_ERR_NULLPTR;
  pthread_mutex_lock(&lock);
  if (total == 0) {
    result = GASPI_ERROR;
  } else if (own_beginning != beginning) {
    if (registered == total) {
      result = GASPI_ERROR;
    } else {
      own_tid = registered++;
      own_beginning = beginning;
    }
  }
  if (result == GASPI_SUCCESS) *tid = own_tid;
  pthread_mutex_unlock(&lock);
  return result;
}

gaspi_return_t gaspi_threads_get_tid(gaspi_int* tid) {
  gaspi_return_t result = GASPI_ERROR;
  if (tid == NULL) return GASPI_ERR_NULLPTR;
  pthread_mutex_lock(&lock);
  if (total != 0 && own_beginning == beginning) {
    *tid = own_tid;
    result = GASPI_SUCCESS;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

gaspi_return_t gaspi_threads_get_total(gaspi_int* num) {
  if (num == NULL) return GASPI_ERR_NULLPTR;
  pthread_mutex_lock(&lock);
  *num = total;
  pthread_mutex_unlock(&lock);
  return GASPI_SUCCESS;
}

/* The last thread to come calls `last`, whose result all return. */
static gaspi_return_t meet(gaspi_return_t (*last)(gaspi_group_t, gaspi_timeout_t),
                           gaspi_group_t group, gaspi_timeout_t timeout) {
  gaspi_return_t result;
  unsigned long this_one;
  pthread_mutex_lock(&lock);
  this_one = syncs;
  if (++came >= total) {
    /* The others wait for this thread alone, and hold no lock. */
    pthread_mutex_unlock(&lock);
    result = last == NULL ? GASPI_SUCCESS : last(group, timeout);
    pthread_mutex_lock(&lock);
    shared_result = result;
    came = 0;
    ++syncs;
    pthread_cond_broadcast(&all_came);
  } else {
    while (syncs == this_one) pthread_cond_wait(&all_came, &lock);
  }
  /* The next synchronization needs this thread too, so it is still of this one. */
  result = shared_result;
  pthread_mutex_unlock(&lock);
  return result;
}

void gaspi_threads_sync(void) {
  meet(NULL, GASPI_GROUP_ALL, GASPI_TEST);
}

gaspi_return_t gaspi_threads_sync_all(gaspi_group_t group, gaspi_timeout_t timeout) {
  return meet(pgaspi_barrier, group, timeout);
}
