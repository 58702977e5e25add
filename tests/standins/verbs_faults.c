/* Stands in front of libibverbs (LD_PRELOAD) where adapters do not break, as soft-RoCE does not. In
 * rank VERBS_FAULT_RANK one does, as VERBS_FAULT says:
 *
 * device: VERBS_FAULT_AFTER milliseconds after the endpoint was opened the device reports that it
 * is lost. From then on it completes nothing and takes no more work. Who sleeps on its descriptor
 * is woken.
 *
 * small_queue: the endpoint's completion queue has fewer entries than it says, so that it really
 * overruns, and the kernel's driver reports that.
 *
 * tight_queue: the completion queue says that it has no room for work without a completion of its
 * own, and the process ends if such work is posted.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { SMALL_QUEUE = 24, SPARE = 1536 /* the conduit asks for, beyond its other shares */ };

/* Set while the endpoint is opened, used by who is inside it: the conduit's lock orders both. */
static struct ibv_context* g_device;
static int g_timer = -1;

/* libibverbs' own definition: the conduit has loaded it, for itself only. */
static void* real(const char* name) {
  void* const library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* const found = library != NULL ? dlsym(library, name) : NULL;
  if (found == NULL) abort();
  return found;
}

static int asked_for(const char* fault) {
  const char* const wanted = getenv("VERBS_FAULT");
  const char* const victim = getenv("VERBS_FAULT_RANK");
  const char* const rank = getenv("PMIX_RANK");
  return wanted != NULL && victim != NULL && rank != NULL && strcmp(wanted, fault) == 0 &&
         strcmp(victim, rank) == 0;
}

static void announce_loss(struct ibv_context* device) {
  const char* const after = getenv("VERBS_FAULT_AFTER");
  const long ms = after != NULL ? atol(after) : 1000;
  const struct itimerspec when = {.it_value = {ms / 1000, ms % 1000 * 1000000}};
  g_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (g_timer < 0 || timerfd_settime(g_timer, 0, &when, NULL) != 0) abort();
  g_device = device;
}

static int complete_nothing(struct ibv_cq* cq, int entries, struct ibv_wc* wc) {
  (void)cq, (void)entries, (void)wc;
  return 0;
}
static int (*g_post)(struct ibv_qp*, struct ibv_send_wr*, struct ibv_send_wr**);
static int take_signaled(struct ibv_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad) {
  const struct ibv_send_wr* last = wr;
  while (last->next != NULL) last = last->next;
  if ((last->send_flags & IBV_SEND_SIGNALED) == 0) {
    fprintf(stderr, "verbs_faults: the completion queue has no room for this\n");
    abort();
  }
  return g_post(qp, wr, bad);
}
static int take_nothing(struct ibv_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad) {
  (void)qp;
  *bad = wr;
  return EIO;
}

struct ibv_cq* ibv_create_cq(struct ibv_context* device, int cqe, void* cq_context,
                             struct ibv_comp_channel* channel, int vector) {
  typedef struct ibv_cq* create(struct ibv_context*, int, void*, struct ibv_comp_channel*, int);
  create* const next = (create*)real("ibv_create_cq");
  /* Each endpoint's first queue: trials have no channel, and datagrams have a short queue of their
   * own. */
  static int queues = 0;
  const int endpoint = channel != NULL && queues++ % 2 == 0;
  const int small = endpoint && asked_for("small_queue");
  const int tight = endpoint && asked_for("tight_queue") && cqe > SPARE;
  struct ibv_cq* const cq = next(device, small ? SMALL_QUEUE : cqe, cq_context, channel, vector);
  if (cq != NULL && small) cq->cqe = cqe;
  if (cq != NULL && tight) {
    cq->cqe = cqe - SPARE;
    g_post = device->ops.post_send;
    device->ops.post_send = take_signaled;
  }
  if (cq != NULL && endpoint && asked_for("device")) announce_loss(device);
  return cq;
}

int ibv_get_async_event(struct ibv_context* device, struct ibv_async_event* event) {
  typedef int get(struct ibv_context*, struct ibv_async_event*);
  get* const next = (get*)real("ibv_get_async_event");
  uint64_t times;
  if (device != g_device) return next(device, event);
  if (read(g_timer, &times, sizeof times) == sizeof times) {
    fprintf(stderr, "verbs_faults: the device is lost\n");
    device->ops.poll_cq = complete_nothing;
    device->ops.post_send = take_nothing;
    memset(event, 0, sizeof *event);
    event->event_type = IBV_EVENT_DEVICE_FATAL;
    return 0;
  }
  return next(device, event);
}

int epoll_ctl(int epoll, int what, int fd, struct epoll_event* event) {
  typedef int control(int, int, int, struct epoll_event*);
  control* const next = (control*)dlsym(RTLD_NEXT, "epoll_ctl");
  if (what == EPOLL_CTL_ADD && g_device != NULL && fd == g_device->async_fd &&
      next(epoll, what, g_timer, event) != 0)
    abort();
  return next(epoll, what, fd, event);
}
